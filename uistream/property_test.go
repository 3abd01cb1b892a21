package uistream_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/trace"
	"github.com/tributary-dev/tributary/uistream"
	"pgregory.net/rapid"
)

//evidence:for promise-resume
func TestChunksOfAPrefixAreAPrefix(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		records, o := drawTurn(t), drawOptions(t)
		all := lines(translate(o, records))
		n := rapid.IntRange(0, len(records)).Draw(t, "cut")
		if part := lines(translate(o, records[:n])); !strings.HasPrefix(all, part) {
			t.Fatalf("not a prefix:\n%s\nof:\n%s", part, all)
		}
	})
}

//evidence:for promise-resume
func TestHistoryEqualsTheScreen(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		records, o := drawTurn(t), drawOptions(t)
		chunks := translate(o, records)
		shown := withParts(messages(t, chunks))
		screen := asJSON(shown)
		kept := asJSON(withParts(messages(t, translate(o, durable(records)))))
		if screen != kept {
			t.Fatalf("the screen shows\n%s\nhistory\n%s\nchunks\n%s", screen, kept, lines(chunks))
		}
		history, err := uistream.History(seq(durable(records)), o)
		if err != nil {
			t.Fatal(err)
		}
		if slices.ContainsFunc(history[1:], func(m uistream.Message) bool { return len(m.Parts) == 0 }) {
			t.Fatalf("history has an answer without parts: %s", asJSON(history))
		}
		stop := records[len(records)-1].Payload.(trace.Stop)
		if history[0].Role != "user" || history[0].ID != "u1" {
			t.Fatalf("history begins with %+v", history[0])
		}
		if stop.Outcome == trace.OutcomeCanceled || o.RFC && stop.Outcome == trace.OutcomeFailed { // the page adds why it ended
			last := &history[len(history)-1]
			if n := len(last.Parts) - 1; last.Parts[n].Type != "data-error" || !strings.Contains(string(last.Metadata), string(stop.Outcome)) {
				t.Fatalf("a turn that did not end well does not say so: %s", asJSON(last))
			}
			last.Parts = last.Parts[:len(last.Parts)-1]
			if o.RFC { // whose stream has no metadata
				last.Metadata = nil
			}
		}
		if o.RFC { // whose stream does not end the text of each turn
			screen = strings.ReplaceAll(screen, `"state": "streaming"`, `"state": "done"`)
		}
		history = withParts(history[1:])
		unanswered(t, history, shown, records)
		if page := asJSON(history); page != screen {
			t.Fatalf("the screen shows\n%s\nthe history page\n%s", screen, page)
		}
	})
}

// withParts are the messages of which a screen shows anything, which history has.
func withParts(all []uistream.Message) []uistream.Message {
	return slices.DeleteFunc(all, func(m uistream.Message) bool { return len(m.Parts) == 0 })
}

// unanswered checks the answers in history that no chunk had for the screen, and removes them.
func unanswered(t *rapid.T, history, screen []uistream.Message, records []trace.Record) {
	answers := map[string]trace.PermissionResponse{}
	for _, r := range records {
		if p, ok := r.Payload.(trace.PermissionResponse); ok {
			answers[p.RequestID] = p
		}
	}
	for i := range min(len(history), len(screen)) {
		for j := range min(len(history[i].Parts), len(screen[i].Parts)) {
			kept, shown := history[i].Parts[j].Approval, screen[i].Parts[j].Approval
			accepted(t, history[i].Parts[j])
			if kept == nil && shown != nil { // nobody allowed the call, which has ended, so no client offers an answer
				_, told := answers[shown.ID]
				state := screen[i].Parts[j].State
				if !told || shown.Approved || state != "output-error" && state != "output-available" || history[i].Parts[j].State != state {
					t.Fatalf("history forgets the request %q of a part that is %s", shown.ID, state)
				}
				history[i].Parts[j].Approval = shown
				continue
			}
			if kept == nil || shown == nil || !kept.Answered || shown.Answered {
				continue
			}
			a, ok := answers[kept.ID]
			if !ok || kept.Approved != a.Allowed() || kept.Reason != a.Reason {
				t.Fatalf("history answers %q with %+v, the record with %+v", kept.ID, kept, a)
			}
			kept.Answered, kept.Approved, kept.Reason = false, false, ""
		}
	}
}

// accepted checks what validateUIMessages of 6 and 7 demands of the approval of a call. The
// conformance suite asks the real one.
func accepted(t interface{ Fatalf(string, ...any) }, p uistream.Part) {
	a, fits := p.Approval, false
	switch p.State {
	case "approval-requested":
		fits = a != nil && !a.Answered
	case "approval-responded":
		fits = a != nil && a.Answered
	case "output-denied":
		fits = a != nil && a.Answered && !a.Approved
	case "output-available", "output-error":
		fits = a == nil || a.Answered && a.Approved
	default:
		fits = a == nil
	}
	if !fits {
		t.Fatalf("the clients refuse the part: %s", asJSON(p))
	}
}

//evidence:for promise-known-chunks
func TestEveryChunkIsKnownToItsClient(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		records, o := drawTurn(t), drawOptions(t)
		for _, c := range translate(o, records) {
			frame := uistream.AppendChunk(nil, c)
			if err := o.Profile.Check(frame); err != nil {
				t.Fatalf("%v: %s", err, frame)
			}
		}
	})
}

// A log that no builder wrote may be in any order; the client must survive it.
//
//evidence:for promise-known-chunks
func TestRecordsOutsideTheGrammarAreSurvived(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		records, o := drawTurn(t), drawOptions(t)
		stop := records[len(records)-1]
		records = rapid.Permutation(records[:len(records)-1]).Draw(t, "shuffled")
		records = slices.DeleteFunc(records, func(r trace.Record) bool {
			reply, ok := r.Payload.(trace.Reply)
			return ok && reply.MessageID == "m1" // it may also never have come
		})
		drop := rapid.IntRange(0, len(records)).Draw(t, "drop")
		chunks := translate(o, append(records[drop:], stop))
		for _, m := range messages(t, chunks) {
			for _, p := range m.Parts {
				if p.State == "streaming" && (!o.RFC || p.Type != "text") || !o.RFC && (p.State == "input-streaming" || p.State == "input-available") {
					t.Fatalf("a part was left open: %s\n%s", asJSON(p), lines(chunks))
				}
			}
		}
		for _, c := range chunks {
			frame := uistream.AppendChunk(nil, c)
			if err := o.Profile.Check(frame); err != nil {
				t.Fatalf("%v: %s", err, frame)
			}
		}
	})
}

func asJSON(v any) string {
	b, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return err.Error()
	}
	return string(b)
}
