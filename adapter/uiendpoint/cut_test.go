package uiendpoint_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/tributary-dev/tributary/adapter/uiendpoint"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/trace"
)

// The message is the same wherever the stream breaks off or the gateway is restarted: nothing
// is lost, and nothing is there twice.
func TestAMessageIsTheSameWhereverItIsCut(t *testing.T) {
	t.Parallel()
	recordings := []string{"ai5-weather", "ai6-think", "ai7-weather", "ai7-fail", "ai7-unknown", "everything"}
	for _, name := range recordings {
		chunks := chunksOf(t, name)
		whole := shown(t, records(t, body(chunks...)))
		for at := 1; at < len(chunks); at++ {
			for _, restart := range []bool{false, true} {
				if got := cutAt(t, chunks, at, restart); got != whole {
					t.Errorf("%s, cut before chunk %d (restart: %v):\n%s\nwant\n%s", name, at, restart, got, whole)
				}
			}
		}
	}
}

// shown are the parts of the one message of a trace, as the endpoint gets them back.
func shown(t *testing.T, all []trace.Record) string {
	t.Helper()
	messages := history(t, all)
	raw, err := json.Marshal(messages[len(messages)-1]["parts"])
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// cutAt plays a stream that breaks off, or whose gateway is restarted, before a chunk.
func cutAt(t *testing.T, chunks []string, at int, restart bool) string {
	t.Helper()
	const mark = `{"type":"data-mark","data":1,"transient":true}`
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		switch {
		case r.Method == http.MethodGet:
			send(w, chunks...)
		case restart:
			send(w, slices.Concat(chunks[:at], []string{mark})...)
			<-r.Context().Done()
		default:
			send(w, chunks[:at]...)
			panic(http.ErrAbortHandler)
		}
	}))
	defer server.Close()
	c := newConversation(t, server.URL, uiendpoint.Settings{Resume: true})
	var events []trace.Event
	if restart {
		old := playUntilDetach(t, c, "x", func(e trace.Event) bool {
			d, is := e.Payload.(trace.Data)
			return is && d.Name == "mark"
		})
		events, _ = takenUp(t, newConversation(t, server.URL, uiendpoint.Settings{Resume: true}), old)
	} else {
		events, _ = c.plays("x")
	}
	if stop := agenttest.Each[trace.Stop](events)[0]; stop.Outcome != trace.OutcomeCompleted {
		return fmt.Sprintf("%+v", stop)
	}
	return shown(t, recorded(events))
}
