package thread_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tributary-dev/tributary/session/thread"
	"github.com/tributary-dev/tributary/trace"
)

// fold makes a thread of records. The record "p t1 u1" is a prompt of the turn t1 with the
// message u1. The record "r t1 a1" is a reply. The record "- u1" is a rewind.
func fold(records ...string) *thread.Thread {
	var t thread.Thread
	for i, r := range records {
		f := strings.Fields(r)
		seq := uint64(i + 1)
		switch f[0] {
		case "p":
			t.Observe(trace.KindPrompt, f[1], f[2], "ada", seq)
		case "r":
			t.Observe(trace.KindReply, f[1], f[2], "", seq)
		case "-":
			t.Observe(trace.KindRewind, "", f[1], "", seq)
		}
	}
	return &t
}

func show(t *thread.Thread) string {
	var all []string
	for _, m := range t.Messages {
		all = append(all, m.ID)
	}
	return strings.Join(all, " ")
}

func TestMessagesStandWithTheirTurn(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		records []string
		want    string
		spans   string
	}{
		"one after another":             {[]string{"p 1 u1", "r 1 a1", "p 2 u2", "r 2 a2"}, "u1 a1 u2 a2", "1@0 2@2"},
		"a queued prompt":               {[]string{"p 1 u1", "p 2 u2", "r 1 a1", "r 2 a2"}, "u1 a1 u2 a2", "1@0 2@1"},
		"a typed answer":                {[]string{"p 1 u1", "r 1 a1", "p 2 u2", "p 1 u3", "r 1 a3"}, "u1 a1 u3 a3 u2", "1@0 2@2"},
		"an edit":                       {[]string{"p 1 u1", "r 1 a1", "- u1", "p 2 u1", "r 2 a2"}, "u1 a2", "2@3"},
		"a removed turn says more":      {[]string{"p 1 u1", "- u1", "r 1 a1"}, "", ""},
		"the rest of a turn is removed": {[]string{"p 1 u1", "r 1 a1", "p 1 u2", "r 1 a2", "- u2"}, "u1 a1", "1@0 to u2"},
		"an unknown message":            {[]string{"p 1 u1", "- none"}, "u1", "1@0"},
	} {
		th := fold(c.records...)
		var spans []string
		for _, s := range th.Spans() {
			span := fmt.Sprintf("%s@%d", s.Turn, s.After)
			if s.To != "" {
				span += " to " + s.To
			}
			spans = append(spans, span)
		}
		if got := show(th); got != c.want || strings.Join(spans, " ") != c.spans {
			t.Errorf("%s: %q in %q, want %q in %q", name, got, spans, c.want, c.spans)
		}
	}
}

func TestARegenerationRunsTheMessageBeforeAnAnswerAgain(t *testing.T) {
	t.Parallel()
	th := fold("p 1 u1", "r 1 a1", "p 2 u2", "r 2 a2")
	for of, want := range map[string]string{"": "u2", "a1": "u1", "u1": "u1", "a2": "u2", "none": ""} {
		if m, ok := th.Target(of); m.ID != want || ok != (want != "") {
			t.Errorf("of %q: %q %v, want %q", of, m.ID, ok, want)
		}
	}
}

func TestTheAgentGoesBackToWhereTheFirstRemovedAnswerBegan(t *testing.T) {
	t.Parallel()
	th := fold("p 1 u1", "p 2 u2", "r 2 a2", "r 1 a1") // the second prompt overtook the first
	th.Learn("a1", "place 1")
	th.Learn("a2", "place 2")
	for _, c := range []struct {
		from        int
		first       string
		kept, later bool
	}{{0, "a2", false, false}, {2, "a2", true, true}} {
		first, ok := th.FirstAnswer(c.from)
		kept, later := th.Remains(c.from, first)
		if !ok || first.ID != c.first || first.Resume != "place 2" || kept != c.kept || later != c.later {
			t.Errorf("from %d: %+v, kept %v, later %v", c.from, first, kept, later)
		}
	}
	if _, ok := fold("p 1 u1").FirstAnswer(0); ok {
		t.Error("a thread without an answer has a first one")
	}
}

func TestAThreadThatIsReadAgainKeepsWhatIsNotOnRecordYet(t *testing.T) {
	t.Parallel()
	th := fold("p 1 u1", "r 1 a1", "p 2 u2", "r 2 a2")
	th.CatchUp(thread.Unrecorded{
		Cuts:     []thread.Cut{{Turn: "3", To: "u2"}},
		Messages: []thread.Message{{ID: "u2", Turn: "3", User: true}, {ID: "a1", Turn: "1"}, {ID: "a3", Turn: "3"}},
	})
	if got := show(th); got != "u1 a1 u2 a3" || !th.Removed("2") {
		t.Errorf("the thread has %q", got)
	}
}

func TestAnEditedMessageHasSeveralPrompts(t *testing.T) {
	t.Parallel()
	old := fold("p 1 u1", "r 1 a1", "- u1", "p 2 u1")
	old.Begin("3")
	old.Take("3", 5, trace.Prompt{Message: trace.UserMessage{ID: "u1"}})
	again := fold("p 1 u1", "r 1 a1", "- u1", "p 2 u1")
	again.Keep(old)
	if got := fmt.Sprint(again.Prompts("u1"), again.Prompts("none")); got != "[{1 1} {4 2} {5 3}] []" {
		t.Errorf("the prompts are %s", got)
	}
	if _, known := again.Layout("3"); !known {
		t.Error("the layout of an open turn is gone")
	}
}

func TestTheLayoutOfATurn(t *testing.T) {
	t.Parallel()
	steps := []struct {
		payload    trace.Payload
		past, upto uint64
		waits      bool // a request of the newest pause has no answer
	}{
		{payload: trace.Reply{MessageID: "a1", Resume: "place"}},
		{payload: trace.Pause{Requests: []string{"q1", "q2"}}, waits: true},
		{trace.Answer{QuestionID: "q1"}, 0, 3, true},
		{trace.PermissionResponse{RequestID: "q2", Outcome: trace.Selected, OptionKind: trace.AllowOnce}, 2, 0, false},
		{trace.Pause{Requests: []string{"q3"}}, 2, 0, true},
		{trace.PermissionResponse{RequestID: "q3", Outcome: trace.Selected, OptionKind: trace.RejectOnce}, 5, 0, false},
		{trace.Reply{MessageID: "a2"}, 5, 0, false},
		{trace.Stop{Reason: "end_turn"}, 5, 0, false},
	}
	var th thread.Thread
	th.Begin("1")
	th.Take("another", 1, trace.Reply{MessageID: "x"})
	for i, s := range steps {
		th.Take("1", uint64(i+1), s.payload)
		l, ok := th.Layout("1")
		at, asked := l.PauseOf([]string{"q3", "q2", "q1"})
		if waits := asked && !l.Answered(at); !ok || l.Past() != s.past || l.Upto() != s.upto || waits != s.waits {
			t.Errorf("after %d records: past %d, up to %d, waits %v", i+1, l.Past(), l.Upto(), waits)
		}
	}
	l, _ := th.Layout("1")
	if len(l.Replies) != 2 || l.Replies[0] != (thread.Reply{Seq: 1, ID: "a1", Resume: "place"}) || !l.Finished || l.Rewound || !l.Pauses() {
		t.Errorf("the layout is %+v", l)
	}
	if got := l.Allowed(); len(got) != 2 || !got["q2"] || got["q3"] {
		t.Errorf("allowed %v", got)
	}
	first, _ := l.PauseOf([]string{"q1"})
	if !first.Within([]string{"q2", "q1"}) || first.Within([]string{"q1"}) {
		t.Error("the first pause asks q1 and q2")
	}
	if _, known := th.Layout("another"); known {
		t.Error("a turn that was not begun has a layout")
	}
}

func TestATurnThatWasRemovedWhileItRan(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		payloads []trace.Payload
		want     bool
	}{
		"an edit in front of it": {[]trace.Payload{trace.Rewind{To: "u0"}, trace.Reply{}, trace.Stop{}}, false},
		"a rewind in it":         {[]trace.Payload{trace.Reply{}, trace.Rewind{To: "u1"}, trace.Stop{}}, true},
		"replaced in the queue":  {[]trace.Payload{trace.Stop{Reason: thread.Superseded}}, true},
	} {
		var l thread.Layout
		for i, p := range c.payloads {
			l.Take(uint64(i+1), p)
		}
		if l.Rewound != c.want {
			t.Errorf("%s: %v", name, l.Rewound)
		}
	}
}

func TestANameOfTheAgentBelongsToOneTurn(t *testing.T) {
	t.Parallel()
	var n thread.Names
	n.Note("1", "run")
	for _, c := range []struct{ turn, name, want string }{
		{"1", "run", "run"}, {"2", "run", "run~2"}, {"3", "run", "run~3"}, {"2", "run", "run~2"}, {"2", "more", "more"},
	} {
		if got := n.Give(c.turn, c.name); got != c.want {
			t.Errorf("%s of turn %s is %s, want %s", c.name, c.turn, got, c.want)
		}
		if got := thread.Own(c.want); got != c.name {
			t.Errorf("the agent's name of %s is %s", c.want, got)
		}
	}
	for name, want := range map[string]string{"run": "1", "run~2": "2", "run~3": "3", "more": "", "none": ""} {
		if turn, ok := n.TurnOf(name); ok != (want != "") || ok && turn != want {
			t.Errorf("%s is the message of turn %q, %v", name, turn, ok)
		}
	}
	for i := range 20_000 {
		n.Note(fmt.Sprint("t", i), fmt.Sprint("n", i))
	}
	if _, ok := n.TurnOf("run"); ok {
		t.Error("the oldest name was not dropped")
	}
	if _, ok := n.TurnOf("n19999"); !ok {
		t.Error("the newest name was dropped")
	}
}

// A session of many turns is loaded in linear time: a fraction of a second, where a search through the messages for
// each turn would take minutes.
func TestAThreadIsFoldedInLinearTime(t *testing.T) {
	t.Parallel()
	const turns = 100_000
	var th thread.Thread
	deadline := time.Now().Add(time.Minute)
	for i := range turns {
		turn := fmt.Sprintf("turn_%08d", i)
		th.Observe(trace.KindPrompt, turn, fmt.Sprintf("user_%08d", i), "ada", uint64(4*i+1))
		th.Observe(trace.KindReply, turn, fmt.Sprintf("msg_%08d", i), "", uint64(4*i+2))
		if i%1000 == 0 && time.Now().After(deadline) {
			t.Fatalf("after a minute %d of %d turns are there", i, turns)
		}
	}
}

// Find finds what a search through the messages finds.
func TestFindIsASearch(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var th thread.Thread
		for seq := range uint64(rapid.IntRange(1, 60).Draw(t, "records")) { //nolint:gosec // small
			kind := rapid.SampledFrom([]trace.Kind{trace.KindPrompt, trace.KindReply, trace.KindPrompt, trace.KindReply, trace.KindRewind}).Draw(t, "kind")
			turn, id := fmt.Sprint(rapid.IntRange(1, 9).Draw(t, "turn")), fmt.Sprint("m", rapid.IntRange(1, 12).Draw(t, "message"))
			th.Observe(kind, turn, id, "ada", seq+1)
			for n := range 13 {
				id := fmt.Sprint("m", n)
				if got, want := th.Find(id), slices.IndexFunc(th.Messages, func(m thread.Message) bool { return m.ID == id }); got != want {
					t.Fatalf("Find(%s) is %d, and the message stands at %d of %v", id, got, want, th.Messages)
				}
			}
		}
	})
}
