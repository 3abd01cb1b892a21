package uistream_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/trace"
	"github.com/tributary-dev/tributary/uistream"
)

func TestTheMetadataOfAMessageListsItsParticipants(t *testing.T) {
	t.Parallel()
	tr := uistream.NewTranslator(uistream.Options{})
	data := func(id, value string) trace.Record {
		return trace.Record{Turn: "t", Event: trace.Event{Payload: trace.Data{Name: "participant", ID: id, Value: json.RawMessage(value)}}}
	}
	for _, r := range []trace.Record{
		data("1", `{"participant":"alice"}`), data("2", `{"participant":"bob"}`), data("1", `{"participant":"alice","state":"done"}`), data("3", `[]`), data("", `{"participant":"eve"}`),
	} {
		tr.Translate(r)
	}
	var last string
	for _, c := range tr.Translate(trace.Record{Turn: "t", Event: trace.Event{Payload: trace.Stop{Reason: "stop", Outcome: trace.OutcomeCompleted}}}) {
		last = string(uistream.AppendChunk(nil, c))
	}
	if !strings.Contains(last, `"messageMetadata":{"participants":["alice","bob"]}`) {
		t.Error(last)
	}
}
