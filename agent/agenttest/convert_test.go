package agenttest_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/trace"
)

// parrot is a decoder: a message to the agent begins a turn, a message from the
// agent is text.
type parrot struct{ twice bool }

func (p *parrot) Decode(m agent.Message, t agent.Turns) ([]agent.Effect, error) {
	var text string
	if err := json.Unmarshal(m.Data, &text); err != nil {
		return nil, err
	}
	if m.Dir == agent.In {
		t.Prompted(trace.Prompt{Message: trace.UserMessage{ID: "u", Parts: []trace.InputPart{{Type: trace.InputText, Text: text}}}})
		return nil, nil
	}
	if p.twice {
		text += text
	}
	t.Current().Message("m", text)
	t.Current().End(trace.Stop{Reason: "end_turn", Outcome: trace.OutcomeCompleted})
	return nil, nil
}

// failing is a testing.TB that notes what would fail.
type failing struct {
	testing.TB
	errors int
}

func (f *failing) Helper()               {}
func (f *failing) Errorf(string, ...any) { f.errors++ }

func TestConvertComparesWithAGoldenFile(t *testing.T) {
	dir := t.TempDir()
	recording, golden := filepath.Join(dir, "r.jsonl"), filepath.Join(dir, "golden", "r.jsonl")
	if err := os.WriteFile(recording, []byte(`{"t":1,"dir":"in","msg":"hello"}`+"\n"+`{"t":2,"dir":"out","msg":"hi"}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv(agenttest.UpdateEnv, "1")
	agenttest.Convert(t, &parrot{}, recording, golden)
	t.Setenv(agenttest.UpdateEnv, "")
	records := agenttest.Convert(t, &parrot{}, recording, golden)
	var events []trace.Event
	for _, r := range records {
		events = append(events, r.Event)
	}
	if said := agenttest.Said(events); said != "hi\n" {
		t.Errorf("the agent said %q", said)
	}
	f := &failing{TB: t}
	if agenttest.Convert(f, &parrot{twice: true}, recording, golden); f.errors == 0 {
		t.Error("a decoder that says something else passes")
	}
}

// suite runs TestBroken in a process of its own, as the suite of an agent that a test
// runs by its name.
func suite(t *testing.T, run string, env ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run="+run, "-test.v")
	cmd.Env = append(os.Environ(), env...)
	out, _ := cmd.CombinedOutput()
	return string(out)
}

// A test that did not run says so: green would say too much.
func TestAnAbilityWithoutAPromptIsSkippedInASentence(t *testing.T) {
	t.Parallel()
	out := suite(t, "^TestBroken$", brokenEnv+"="+textOnly)
	for _, want := range []string{"--- SKIP: TestBroken/permission_denied", "the suite has no prompt for permission", "the suite has no prompt for die", "--- PASS: TestBroken/one_turn"} {
		if !strings.Contains(out, want) {
			t.Errorf("the output lacks %q:\n%s", want, out)
		}
	}
}

// A suite that times out shows where the adapter stands and what it has done.
func TestAHangingTestShowsItsStackAndItsEvents(t *testing.T) {
	t.Parallel()
	for flaw, run := range map[string]string{"waits for its own id": "permission_allowed", "hangs when its process dies": "die", "closes slowly": "close_during_prompt"} {
		out := suite(t, "^TestBroken$/^"+run+"$", brokenEnv+"="+flaw)
		for _, want := range []string{"did not return within", "It hangs here:", "agenttest_test.(*session).", "The newest events:", "reply"} {
			if !strings.Contains(out, want) {
				t.Errorf("%s: the output lacks %q:\n%s", flaw, want, out)
			}
		}
	}
}
