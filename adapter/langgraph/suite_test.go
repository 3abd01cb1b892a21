package langgraph_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/adapter/langgraph"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/trace"
)

func TestSuite(t *testing.T) {
	f := newFake(t)
	agenttest.Run(t, agenttest.Suite{
		AsWritten: true,
		Open: func(t testing.TB) agent.Runtime {
			r := langgraph.Runtime{URL: f.URL}
			r.Assistant = "agent"
			return r
		},
		Prompts: map[agenttest.Ability]string{
			agenttest.Text: "hello", agenttest.Slow: "slow", agenttest.Permission: "permit", agenttest.Question: "question",
			agenttest.Tell: "My river is the Rhine.", agenttest.Recall: "recall",
			agenttest.Die: "error", agenttest.Half: "half", agenttest.Garbage: "garbage", agenttest.Huge: "huge",
			agenttest.Rich: "rich",
		},
		Cut: func(t testing.TB, c *agenttest.Cut) agent.Runtime {
			r := langgraph.Runtime{URL: newCutFake(t, c).URL}
			r.Assistant = "agent"
			return r
		},
		Runs:    agenttest.Tells("touched", `{"path":"x"}`),
		Decoder: func() agent.Decoder { return langgraph.NewDecoder(langgraph.Options{}) },
		Word:    "the Rhine",
		Turns:   []string{"cut", "gone", "timeout"},
		Bound:   90 * time.Second,
	})
}

func TestRefusalsAreOneSentenceEach(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	for prompt, want := range map[string]string{
		"busy":    "LangGraph did not take the prompt: Thread is already running a task.",
		"page":    "the answer is text/html and no stream of events: is the address right?",
		"moved":   "the server redirects to https://elsewhere.test/: use the final address",
		"timeout": "The run took longer than the server allows.",
		"error":   "The graph failed, and the server does not say why.",
		"gone":    "LangGraph did not go on: ",
	} {
		got := newStage(t, f.URL, "agent").says(prompt)
		if last := got[len(got)-1]; !strings.HasPrefix(last, "failed") || !strings.Contains(last, want) || strings.Contains(last, "\n") {
			t.Errorf("%s: %q", prompt, got)
		}
	}
	if got := newStage(t, f.URL, "nobody").says("hello"); !strings.Contains(got[0], `No assistant found for "nobody".`) {
		t.Errorf("%q", got)
	}
	s := newStage(t, f.URL, "agent")
	s.says("busy elsewhere")
	if got := s.says("hello"); !strings.Contains(got[0], "is busy with a run that was begun elsewhere") {
		t.Errorf("%q", got)
	}
}

func TestAStreamThatBreaksOffGoesOnBehindItsLastEvent(t *testing.T) {
	t.Parallel()
	for prompt, want := range map[string]string{"cut": "So far, so good.", "lost": "All the same.", "doubled": "So far, so good. Yes."} {
		f := newFake(t)
		if got := newStage(t, f.URL, "agent").says(prompt); !slices.Equal(got, []string{want, "completed stop"}) {
			t.Errorf("%s: %q", prompt, got)
		}
	}
}

// TestTheStateCompletesAStreamThatEndedTooEarly: a proxy may end a stream as if it were over.
func TestTheStateCompletesAStreamThatEndedTooEarly(t *testing.T) {
	t.Parallel()
	s := newStage(t, newFake(t).URL, "agent")
	want := []string{"So far, so good.", `touch{"path":"x"}`, `completed:"touched"`, "It is there.", "completed stop"}
	for range 2 { // the second turn's state has the first one's messages, too
		if got := s.says("short"); !slices.Equal(got, want) {
			t.Errorf("%q", got)
		}
	}
}

func TestTheServerThatIsNone(t *testing.T) {
	t.Parallel()
	r := langgraph.Runtime{URL: nobody}
	r.Assistant = "agent"
	if _, err := r.Open(t.Context(), agenttest.NewHost(), agent.Config{}); err == nil || !strings.HasPrefix(err.Error(), "no LangGraph server answers: ") {
		t.Error(err)
	}
	if version, err := (langgraph.Runtime{URL: newFake(t).URL}).Probe(t.Context()); version != "0 (JavaScript)" || err != nil {
		t.Error(version, err)
	}
}

func TestTokens(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	newStage(t, f.URL, "agent", func(r *langgraph.Runtime) { r.Key = "the-key" }).says("hello")
	f.hidden = true
	newStage(t, f.URL, "agent", func(r *langgraph.Runtime) { r.PassToken = true }).says("hello")
	if !slices.Contains(f.calls, "run the-key") || !slices.Contains(f.calls, "run Bearer anns-token") || !slices.Contains(f.calls, "POST /threads Bearer anns-token") {
		t.Errorf("%q", f.calls)
	}
}

func TestAStopWhileAPersonIsAskedEndsTheTurn(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	s := newStage(t, f.URL, "agent")
	ctx, stop := cancelable(t)
	s.host.OnAsk = waitForEver
	r, done := s.begin(ctx, "question")
	s.await(r, func(e trace.Event) bool { return e.Payload.Kind() == trace.KindQuestion })
	stop()
	if got := lines(s.end(r, done)); !strings.HasPrefix(got[len(got)-1], "canceled") {
		t.Errorf("%q", got)
	}
}

func TestAGraphThatWasAnsweredElsewhereIsNotAskedAgain(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	s := newStage(t, f.URL, "agent")
	s.host.OnAsk = waitForEver
	ctx, leave := context.WithCancelCause(t.Context())
	r, done := s.begin(ctx, "question")
	s.await(r, func(e trace.Event) bool { return e.Payload.Kind() == trace.KindQuestion })
	got := lines(s.end(s.restart(r, done, leave))) // the state of the fake has no interrupt
	if last := got[len(got)-1]; last != "failed failed The graph does not wait any more: it was answered on the server while the gateway was away." {
		t.Errorf("%q", got)
	}
}
