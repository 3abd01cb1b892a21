package runner_test

import (
	"maps"
	"path/filepath"
	"slices"
	"testing"

	"github.com/tributary-dev/tributary/adapter/agentops/runner"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/internal/testkit/replay/replaytest"
	"github.com/tributary-dev/tributary/policy/toolkind"
	"github.com/tributary-dev/tributary/trace"
)

// recordings are those of runners alone, and those of Agent Ops that hold a runner's frames.
func recordings(t testing.TB) map[string][]byte {
	t.Helper()
	all := replaytest.Recordings(t, "../../../test/recordings/runner")
	maps.Copy(all, replaytest.Recordings(t, "../../../test/recordings/agentops"))
	return all
}

// A recording of a runner's socket converts without the rest of Agent Ops: the prompts are
// in it, so is each end.
func TestRecordingsOfARunnerConvert(t *testing.T) {
	t.Parallel()
	for name, recording := range recordings(t) {
		p := replaytest.Play(t, runner.NewDecoder(toolkind.OpenCode()), recording)
		if p.Skipped > 0 {
			t.Errorf("%s: %d frames were not understood: %v", name, p.Skipped, p.First)
		}
		replaytest.Golden(t, filepath.Join("testdata", "golden", name+".jsonl"), replaytest.Lines(t, p.Records))
	}
}

func FuzzRecordingOfARunner(f *testing.F) {
	for _, recording := range recordings(f) {
		f.Add(recording)
	}
	f.Add([]byte(`{"t":1,"dir":"d2r","msg":{"type":"prompt","messageId":"p","content":"Go"}}
{"t":2,"dir":"r2d","msg":{"type":"question","questionId":"q","text":"Which?"}}
{"t":3,"dir":"d2r","msg":{"type":"init"}}
{"t":4,"dir":"d2r","msg":{"type":"prompt","messageId":"p","content":"Go"}}
{"t":5,"dir":"d2r","msg":{"type":"abort"}}
{"t":6,"dir":"r2d","msg":{"type":"aborted"}}`))
	f.Fuzz(func(t *testing.T, recording []byte) {
		if err := replaytest.AnyInput(t, runner.NewDecoder(toolkind.OpenCode()), recording); err != nil {
			t.Error(err)
		}
	})
}

// The answer to a question is in a recording, too.
func TestARecordedQuestionHasItsAnswer(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]trace.PermissionOutcome{"red": trace.Selected, "__expired__": trace.Canceled} {
		p := replaytest.Play(t, runner.NewDecoder(toolkind.OpenCode()), []byte(`{"t":1,"dir":"d2r","msg":{"type":"prompt","messageId":"p","content":"Go"}}
{"t":2,"dir":"r2d","msg":{"type":"question","questionId":"q","text":"Which?","options":["red","blue"],"messageId":"p"}}
{"t":3,"dir":"d2r","msg":{"type":"answer","questionId":"q","answer":"`+answer+`"}}
{"t":4,"dir":"r2d","msg":{"type":"complete","messageId":"p"}}`))
		answers := agenttest.Each[trace.Answer](replaytest.Events(p.Records))
		if len(answers) != 1 || answers[0].Outcome != want || want == trace.Selected && !slices.Equal(answers[0].Values, []string{answer}) {
			t.Errorf("%s: %+v", answer, answers)
		}
	}
}

func TestAStepIsOneCallOfTheModel(t *testing.T) {
	t.Parallel()
	for name, recording := range recordings(t) {
		replaytest.StepsAreModelCalls(t, name, replaytest.Play(t, runner.NewDecoder(toolkind.OpenCode()), recording).Turns)
	}
}
