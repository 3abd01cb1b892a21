package main

import (
	"encoding/json"
	"io"
	"testing"
)

func TestTools(t *testing.T) {
	tools := newShop().tools()
	status, cancel := tools[0], tools[1]
	check := func(got json.RawMessage, err error) func(output, fault string) {
		return func(output, fault string) {
			t.Helper()
			if string(got) != output || err != nil && err.Error() != fault || err == nil && fault != "" {
				t.Errorf("got %s, %v; want %s, %s", got, err, output, fault)
			}
		}
	}
	check(status.Run(t.Context(), []byte(`{"order":"A-17"}`), io.Discard))(`"The order is packed."`, "")
	check(status.Run(t.Context(), []byte(`{"order":"B-1"}`), io.Discard))("", `there is no order "B-1"`)
	check(cancel.Run(t.Context(), []byte(`{"order":"A-17"}`), io.Discard))(`"Order A-17 is canceled."`, "")
	check(cancel.Run(t.Context(), []byte(`{"order":"A-18"}`), io.Discard))("", "order A-18 is sent already")
	check(status.Run(t.Context(), []byte(`{"order":"A-17"}`), io.Discard))(`"The order is canceled."`, "")
}
