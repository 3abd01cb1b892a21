package agenttest

import (
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/agent"
)

// rewind opens sessions with tokens that are older than a prompt which the agent
// has taken. A runtime that is no Rewinder has promised nothing, and is not tested.
func rewind(t *testing.T, s Suite) {
	st := newTestSession(t, s, NewHost())
	rewinder, ok := st.runtime.(agent.Rewinder)
	if !ok {
		t.Skip("not tested: the runtime is no agent.Rewinder")
	}
	st.play(t, s.Prompts[Text])
	before := st.host.Token()
	st.play(t, s.Prompts[Tell])
	for i, token := range []string{before, ""} {
		if !rewinder.Rewinds(token) {
			t.Errorf("the resume token %q names no moment, according to the runtime", token)
		}
		st.close(t)
		st.host.rewind(1 - i)
		st.open(t, token)
		if said := Said(st.play(t, s.Prompts[Recall])); strings.Contains(said, s.Word) {
			t.Errorf("opened with the earlier token %q, the agent knows %q and answers: %s", token, s.Word, said)
		}
		st.play(t, s.Prompts[Tell])
		st.close(t)
		st.open(t, st.host.Token())
		if said := Said(st.play(t, s.Prompts[Recall])); !strings.Contains(said, s.Word) {
			t.Errorf("after a rewind and a second prompt the agent does not know %q and answers: %s", s.Word, said)
		}
	}
}
