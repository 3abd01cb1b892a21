package agenttest

import (
	"slices"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/trace"
)

// dieAtEveryPoint plays a rich turn to its end, and then once for each point of it. A
// point is behind a message of the agent, or in the middle of it.
func dieAtEveryPoint(t *testing.T, s Suite) {
	if s.Cut == nil {
		t.Fatal("the suite has a prompt for rich, and no Cut")
	}
	c := &Cut{dir: t.TempDir()}
	st := newTestSession(t, s.with(c), allowing())
	before := len(c.said())
	whole := st.play(t, s.Prompts[Rich])
	rich(t, s, whole)
	said := c.said()
	if len(said) == before {
		t.Fatal("the agent's messages do not pass through the Cut")
	}
	t.Logf("the turn has %d messages", len(said)-before)
	for message := before + 1; message <= len(said); message++ {
		for _, half := range []bool{true, false} {
			p := point{message, half}
			t.Run(p.String(), func(t *testing.T) {
				t.Parallel()
				t.Log(said[message-1])
				last := message == len(said) && !half && !s.EndsByExit
				diesAt(t, s, p, whole, last)
			})
		}
	}
}

// with returns the suite of an agent that the Cut ends.
func (s Suite) with(c *Cut) Suite {
	s.Open = func(t testing.TB) agent.Runtime { return s.Cut(t, c) }
	return s
}

func allowing() *Host {
	host := NewHost()
	host.OnPermit = Choose(trace.AllowOnce)
	return host
}

// rich checks that the turn has all that can be cut.
func rich(t *testing.T, s Suite, events []trace.Event) {
	t.Helper()
	if strings.TrimSpace(Said(events)) == "" {
		t.Fatal("the turn of rich has no text")
	}
	if s.EndsByExit { // it has text only
		return
	}
	if len(Each[trace.Thought](events)) == 0 || len(Each[trace.PermissionResponse](events)) == 0 || !slices.Contains(callStatuses(events), trace.ToolCompleted) {
		t.Fatal("the turn of rich needs reasoning and a tool call that permission is asked for")
	}
}

// diesAt plays a turn in which the agent dies. The turn ends soon and once, as failed and
// with a sentence. A turn that ends as completed has lost nothing: the agent had told the
// end, or the prompt was sent again. After that the agent answers.
func diesAt(t *testing.T, s Suite, p point, whole []trace.Event, last bool) {
	c := &Cut{dir: t.TempDir()}
	if err := c.set(p); err != nil {
		t.Fatal(err)
	}
	st := newTestSession(t, s.with(c), allowing())
	events, err := st.end(t, st.start(t.Context(), s.Prompts[Rich]))
	stops := Each[trace.Stop](events)
	if len(stops) != 1 {
		t.Fatalf("the turn has %d ends", len(stops))
	}
	t.Logf("the turn ended as %s: %s", stops[0].Outcome, stops[0].Error)
	switch stop := stops[0]; {
	case stop.Outcome == trace.OutcomeCompleted:
		if Said(events) != Said(whole) || !slices.Equal(callStatuses(events), callStatuses(whole)) {
			t.Errorf("the agent died and its turn ended as completed, though something is lost:\n%s", st.happened())
		}
	case last:
		t.Errorf("the agent died after the last message of the turn, which ended as %s: %s", stop.Outcome, stop.Error)
	case stop.Outcome != trace.OutcomeFailed:
		t.Errorf("the agent died, and its turn ended as %s", stop.Outcome)
	case strings.TrimSpace(stop.Error) == "" || strings.Contains(stop.Error, "\n"):
		t.Errorf("the agent died, and the turn's error is %q (%v), want a sentence", stop.Error, err)
	}
	st.stillWorks(t)
}

// callStatuses are the ends of a turn's calls.
func callStatuses(events []trace.Event) (all []trace.ToolStatus) {
	for _, r := range Each[trace.ToolResult](events) {
		all = append(all, r.Status)
	}
	return all
}
