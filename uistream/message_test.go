package uistream_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/tributary-dev/tributary/uistream"
)

func TestAListOfMessagesIsWhatJSONMakesOfIt(t *testing.T) {
	t.Parallel()
	told, err := uistream.History(seq(wholes(story(t, 3, "a <b> & \"c\"\n\u2028"))), uistream.Options{})
	if err != nil || len(told) == 0 {
		t.Fatalf("a history of %d messages, %v", len(told), err)
	}
	for _, list := range [][]uistream.Message{nil, {}, told, append(told, told...)} {
		marshaled, err := json.Marshal(append([]uistream.Message{}, list...))
		if err != nil {
			t.Fatal(err)
		}
		var got, want any
		if err := json.Unmarshal(uistream.AppendMessages(nil, list), &got); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(marshaled, &want); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%d messages become %v, not %v (%v)", len(list), got, want, err)
		}
	}
}
