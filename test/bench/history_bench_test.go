package main_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/adapter/echo"
	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/eventlog/sqllog"
	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/trace"
)

// BenchmarkHistory is what a client waits for that opens a session: a page of
// 100 turns from the hub. The first page after a start, or after the session was
// let go, reads what all of its messages are; the later ones do not.
func BenchmarkHistory(b *testing.B) {
	for _, turns := range []int{100, 1_000, 10_000} {
		b.Run(fmt.Sprint(turns), func(b *testing.B) { historyOf(b, turns) })
	}
}

func historyOf(b *testing.B, turns int) {
	store, err := sqllog.Open(b.Context(), sqllog.Options{Dir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	log := eventlog.New(store)
	defer log.Close()
	fillSession(b, log, turns)
	var first, later []time.Duration
	for b.Loop() {
		h, err := session.New(b.Context(), session.Options{Log: log, Default: "echo", Agents: map[string]session.Agent{"echo": {Runtime: echo.Runtime{}}}})
		if err != nil {
			b.Fatal(err)
		}
		first, later = append(first, page(b, h)), append(later, page(b, h))
		_ = h.Close(b.Context())
	}
	b.ReportMetric(mean(first), "first-ms")
	b.ReportMetric(mean(later), "later-ms")
}

func page(b *testing.B, h *session.Hub) time.Duration {
	began := time.Now()
	p, err := h.History(b.Context(), "s", "", 100)
	if err != nil {
		b.Fatal(err)
	}
	n := 0
	for _, err := range p.Records {
		if err != nil {
			b.Fatal(err)
		}
		n++
	}
	if n < 700 {
		b.Fatalf("%d records in a page", n)
	}
	return time.Since(began)
}

func mean(all []time.Duration) float64 {
	var sum time.Duration
	for _, d := range all {
		sum += d
	}
	return float64(sum.Microseconds()) / 1000 / float64(len(all))
}

func fillSession(b *testing.B, log *eventlog.Log, turns int) {
	doc, err := json.Marshal(session.Info{ID: "s", Agent: "echo"})
	if err == nil {
		err = log.Put(b.Context(), eventlog.Entry{Session: "s", Doc: doc})
	}
	if err != nil {
		b.Fatal(err)
	}
	for i := range turns {
		turn := fmt.Sprintf("turn_%06d", i)
		var events []trace.Event
		for n, p := range []trace.Payload{
			trace.Prompt{Message: text(fmt.Sprint("u", i), "What is in this directory?")},
			trace.Reply{MessageID: fmt.Sprint("m", i), Cause: trace.CausePrompt},
			trace.Step{Phase: trace.PhaseStart},
			trace.MessageStart{Part: "text-1", Role: trace.RoleAssistant},
			trace.Message{Part: "text-1", Role: trace.RoleAssistant, Text: "There are three files in it, and a folder."},
			trace.Step{Phase: trace.PhaseEnd},
			trace.Stop{Reason: "end_turn", Outcome: trace.OutcomeCompleted},
		} {
			events = append(events, trace.Event{ID: fmt.Sprintf("%s.%d", turn, n), Time: time.Now(), Actor: trace.Agent, Payload: p})
		}
		if _, err := log.Append(b.Context(), "s", turn, events); err != nil {
			b.Fatal(err)
		}
	}
}

func text(id, words string) trace.UserMessage {
	return trace.UserMessage{ID: id, Parts: []trace.InputPart{{Type: trace.InputText, Text: words}}}
}
