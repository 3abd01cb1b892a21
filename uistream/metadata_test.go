package uistream_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/uistream"
)

// Metadata is merged as the client merges it: objects key by key, and everything else replaces
// what is there. Objects in more than 32 levels are replaced as well.
func TestMetadataIsMergedAsTheClientDoes(t *testing.T) {
	t.Parallel()
	deep := func(levels int, inner string) string {
		return strings.Repeat(`{"a":`, levels) + inner + strings.Repeat("}", levels)
	}
	for want, parts := range map[string][]string{
		`{"a":1.50,"b":{"c":1,"d":"<"}}`: {`{"a":1.50,"b":{"c":1}}`, `{"b":{"d":"<"}}`},
		`{"a":null,"b":[3]}`:             {`{"a":{"x":1},"b":[1,2]}`, `null`, `{"a":null,"b":[3]}`},
		`{"a":{"y":2}}`:                  {`{"a":{"x":1}}`, `{"a":0}`, `{"a":{"y":2}}`},
		`{"z":{"q":1,"b":2},"a":1}`:      {`{"z":{"q":1,"b":2},"a":1}`},
		`"words"`:                        {`{"a":1}`, `"words"`},
		`{"b":2}`:                        {`"words"`, `{"b":2}`},
		deep(32, `{"c":2}`):              {deep(32, `{"b":1}`), deep(32, `{"c":2}`)},
		deep(31, `{"b":1,"c":2}`):        {deep(31, `{"b":1}`), deep(31, `{"c":2}`)},
		deep(5000, "1"):                  {deep(5000, "0"), deep(5000, "1")},
	} {
		var r uistream.Reducer
		for _, part := range parts {
			if err := r.Add(uistream.Finish{Metadata: json.RawMessage(part)}); err != nil {
				t.Fatal(err)
			}
			_ = r.Message()
		}
		if got := string(r.Message().Metadata); got != want {
			t.Errorf("%.100q become %.100s, want %.100s", parts, got, want)
		}
	}
}
