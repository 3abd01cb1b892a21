package uistream_test

import (
	"errors"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/trace"
	"github.com/tributary-dev/tributary/uistream"
)

// session writes turns one after another into one log.
type session struct {
	log
	t *testing.T
}

func (s *session) turn(id, user, reply string, stop trace.Stop, before ...trace.Payload) {
	b := s.builder(id, nil)
	for _, p := range before {
		b.Emit(p)
	}
	b.Emit(trace.Prompt{Message: trace.UserMessage{ID: user, Parts: []trace.InputPart{
		{Type: trace.InputText, Text: "ask"}, {Type: trace.InputFile, URL: "data:,x", MediaType: "text/plain", Filename: "x.txt"},
	}}})
	if reply != "" {
		b.Emit(trace.Reply{MessageID: reply, Cause: trace.CausePrompt})
		b.Message("a", "answer "+reply)
	}
	if err := b.Finish(stop); err != nil {
		s.t.Fatal(err)
	}
}

func (s *session) shows(want string) []uistream.Message {
	s.t.Helper()
	all, err := uistream.History(seq(s.records), uistream.Options{})
	if err != nil {
		s.t.Fatal(err)
	}
	got := ""
	for _, m := range all {
		got += m.ID + " "
	}
	if got != want {
		s.t.Errorf("got %q, want %q", got, want)
	}
	return all
}

func TestHistoryOfRewinds(t *testing.T) {
	t.Parallel()
	s := session{t: t}
	s.turn("t1", "u1", "m1", stopped)
	s.turn("t2", "u2", "m2", stopped)
	s.shows("u1 m1 u2 m2 ")
	s.turn("t3", "u2b", "m3", stopped, trace.Rewind{To: "u2"}) // edit that renames
	s.shows("u1 m1 u2b m3 ")
	s.turn("t4", "u1", "m4", stopped, trace.Rewind{To: "u1"}) // edit that keeps the id
	s.shows("u1 m4 ")
	s.records = append(s.records, trace.Record{Seq: 1 << 20, Event: trace.Event{Payload: trace.Rewind{To: "m4"}}}) // regenerate, outside the turn
	s.shows("u1 ")
	s.records = append(s.records, trace.Record{Seq: 1 << 20, Event: trace.Event{Payload: trace.Rewind{To: "nobody"}}})
	s.shows("u1 ")
	s.turn("t5", "u5", "m5", stopped)
	s.shows("u1 u5 m5 ")
}

func TestHistoryOfInterleavedTurns(t *testing.T) {
	t.Parallel()
	s := session{t: t}
	s.turn("t1", "u1", "m1", stopped)
	one := s.records
	s.records = nil
	s.turn("t2", "u2", "m2", trace.Stop{Outcome: trace.OutcomeCanceled, Reason: "stopped"})
	two := s.records
	s.records = nil
	for i := range max(len(one), len(two)) {
		if i < len(one) {
			s.records = append(s.records, one[i])
		}
		if i < len(two) {
			s.records = append(s.records, two[i])
		}
	}
	all := s.shows("u1 m1 u2 m2 ")
	if m := all[1]; m.Metadata != nil || len(m.Parts) != 2 {
		t.Errorf("a completed turn: %s", asJSON(m))
	}
	const want = `{"id":"m2","role":"assistant","metadata":{"outcome":"canceled"},"parts":[{"type":"step-start"},` +
		`{"type":"text","text":"answer m2","state":"done"},{"type":"data-error","data":{"message":"The turn was stopped.","reason":"stopped"}}]}`
	if got := string(all[3].AppendJSON(nil)); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	const user = `{"id":"u1","role":"user","parts":[{"type":"text","text":"ask"},{"type":"file","mediaType":"text/plain","url":"data:,x","filename":"x.txt"}]}`
	if got := string(all[0].AppendJSON(nil)); got != user {
		t.Errorf("got  %s\nwant %s", got, user)
	}
}

// A turn that never ran stays in history, and says so.
func TestHistoryOfATurnThatNeverRan(t *testing.T) {
	t.Parallel()
	s := session{t: t}
	s.turn("t1", "u1", "", trace.Stop{Outcome: trace.OutcomeCanceled, Reason: "disconnected", Error: "Not run: the client left the queue."})
	all := s.shows("u1 t1 ")
	if n := len(all[1].Parts); n != 1 || all[1].Parts[0].Type != "data-error" {
		t.Errorf("got %s", asJSON(all[1]))
	}
}

// A call that is being written is left out: clients show it twice after a resume.
func TestHistoryOfARunningTurn(t *testing.T) {
	t.Parallel()
	all, err := uistream.History(seq(rec(trace.Agent, trace.Prompt{Message: trace.UserMessage{ID: "u1"}}, trace.Reply{MessageID: "m1"},
		trace.Message{Part: "p", Text: "hm"}, trace.ToolCall{ToolCallID: "c"}, trace.ToolCallStart{ToolCallID: "d"})), uistream.Options{})
	if err != nil || len(all) != 2 || len(all[1].Parts) != 3 || all[1].Parts[2].State != "input-available" {
		t.Errorf("err %v, got %s", err, asJSON(all))
	}
	all, err = uistream.History(seq(rec(trace.Agent, trace.Prompt{Message: trace.UserMessage{ID: "u1"}})), uistream.Options{})
	if err != nil || len(all) != 1 {
		t.Errorf("err %v, got %s", err, asJSON(all))
	}
	// Of an answer that has begun there is nothing to show, and ai 6.0.0 and 7.0.0 refuse a history that has it.
	all, err = uistream.History(seq(rec(trace.Agent, trace.Prompt{Message: trace.UserMessage{ID: "u1"}}, trace.Reply{MessageID: "m1"})), uistream.Options{})
	if err != nil || len(all) != 1 {
		t.Errorf("err %v, got %s", err, asJSON(all))
	}
}

func TestHistoryPassesErrorsOn(t *testing.T) {
	t.Parallel()
	broken := errors.New("disk on fire")
	var records iter.Seq2[trace.Record, error] = func(yield func(trace.Record, error) bool) { yield(trace.Record{}, broken) }
	if _, err := uistream.History(records, uistream.Options{}); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

// A client only answers requests in the last step. So text that an agent writes while a request is
// open stays hidden until all requests have answers, or the turn is over.
func TestHistoryOfATurnThatWaits(t *testing.T) {
	t.Parallel()
	records := write(t, completed(), func(b *trace.Builder) {
		b.Message("a", "Before.")
		b.Question(trace.Question{QuestionID: "q", Text: "Which?"})
		b.StepStart(trace.Step{})
		b.Message("b", "Meanwhile.")
		b.ToolCall(trace.ToolCall{ToolCallID: "c", RawName: "bash"})
		for _, id := range []string{"p1", "p2"} {
			b.PermissionRequest(trace.PermissionRequest{RequestID: id, Title: "Run?", Options: []trace.PermissionOption{{ID: "y", OptionKind: trace.AllowOnce}}}, trace.ToolCall{})
		}
		b.Answer(trace.Answer{QuestionID: "q", Outcome: trace.Selected, Values: []string{"this"}, By: "me"})
		b.StepStart(trace.Step{})
		b.Message("d", "Later.")
		for _, id := range []string{"p2", "p1"} {
			b.PermissionResponse(trace.PermissionResponse{RequestID: id, Outcome: trace.Selected, ChosenOption: "y", By: "me"})
		}
		b.Message("e", "After.")
	})
	texts := func(last uint64, o uistream.Options) string {
		t.Helper()
		n := slices.IndexFunc(records, func(r trace.Record) bool { return r.Seq > last })
		if n < 0 {
			n = len(records)
		}
		messages, err := uistream.History(seq(records[:n]), o)
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, m := range messages {
			for _, p := range m.Parts {
				if m.Role == "assistant" && p.Type == "text" && !strings.HasSuffix(p.Text, "?") && !strings.HasPrefix(p.Text, "Permission") {
					all = append(all, p.Text)
				}
			}
		}
		return strings.Join(all, " ")
	}
	answer := seqOf(t, records, trace.KindAnswer, 1)
	one, two := seqOf(t, records, trace.KindPermissionResponse, 1), seqOf(t, records, trace.KindPermissionResponse, 2)
	for _, c := range []struct {
		last uint64
		want string
	}{
		{answer - 1, "Before."},
		{answer, "Before. Meanwhile."},
		{one - 1, "Before. Meanwhile."},
		{one, "Before. Meanwhile."},
		{two, "Before. Meanwhile. Later."},
		{1 << 60, "Before. Meanwhile. Later. After."},
	} {
		if got := texts(c.last, uistream.Options{Profile: profile(t, "")}); got != c.want {
			t.Errorf("up to record %d: %s, want %s", c.last, got, c.want)
		}
	}
	if got := texts(one, uistream.Options{Profile: profile(t, ""), RFC: true}); got != "Before.Meanwhile. Later." {
		t.Errorf("by the RFC, without pauses and with one text: %s", got)
	}
}

// A request that nobody answered leaves no approval behind: validateUIMessages of 6 and 7
// would refuse the whole conversation.
func TestHistoryOfACallThatWasStoppedWhileItAsked(t *testing.T) {
	t.Parallel()
	for client, o := range clients(t) {
		for _, rfc := range []bool{false, true} {
			o.RFC = rfc
			records := write(t, trace.Stop{Reason: "stopped", Outcome: trace.OutcomeCanceled}, func(b *trace.Builder) {
				b.ToolCall(trace.ToolCall{ToolCallID: "c", RawName: "bash", Input: input(`{}`)})
				b.PermissionRequest(requests("p", "c"), trace.ToolCall{})
			})
			all, err := uistream.History(seq(records), o)
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range all[1].Parts {
				accepted(t, p)
				if p.Approval != nil && !rfc {
					t.Errorf("client %q: %s", client, asJSON(p))
				}
			}
		}
	}
}
