package runner_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tributary-dev/tributary/adapter/agentops/runner"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/internal/testkit/replay/replaytest"
	"github.com/tributary-dev/tributary/policy/toolkind"
	"github.com/tributary-dev/tributary/trace"
)

// told is what a runner says, as lines of a recording.
func told(frames ...string) string {
	var all []string
	for _, f := range frames {
		dir := "r2d"
		if strings.HasPrefix(f, `{"type":"prompt"`) {
			dir = "d2r"
		}
		all = append(all, `{"t":1,"dir":"`+dir+`","msg":`+f+`}`)
	}
	return strings.Join(all, "\n")
}

func TestUsageIsOfTheTurnOrOfTheSession(t *testing.T) {
	t.Parallel()
	const (
		prompt1, prompt2     = `{"type":"prompt","messageId":"p1","content":"Go"}`, `{"type":"prompt","messageId":"p2","content":"Go"}`
		create1, create2     = `{"type":"message.create","turnId":"t1"}`, `{"type":"message.create","turnId":"t2"}`
		finalize1, finalize2 = `{"type":"message.finalize","turnId":"t1","reason":"end_turn","finalText":"Hi."}`, `{"type":"message.finalize","turnId":"t2","reason":"end_turn","finalText":"Hi."}`
		complete1, complete2 = `{"type":"complete","messageId":"p1"}`, `{"type":"complete","messageId":"p2"}`
		report1              = `{"type":"usage-report","turnId":"t1","entries":[{"model":"acme/m-1","inputTokens":3,"outputTokens":2},{"model":"acme/m-1","inputTokens":4,"outputTokens":1}]}`
		report2              = `{"type":"usage-report","turnId":"t2","entries":[{"model":"acme/m-2","inputTokens":10,"outputTokens":5}]}`
		nothing              = `{"type":"usage-report","turnId":"t1","entries":[]}`
	)
	turn := func(in, out int64, model string) trace.Usage {
		return trace.Usage{Scope: trace.UsageTurn, InputTokens: in, OutputTokens: out, Model: model}
	}
	session := func(in, out int64, model string) trace.Usage {
		return trace.Usage{Scope: trace.UsageSession, InputTokens: in, OutputTokens: out, Model: model}
	}
	type used struct {
		Turn  string
		Usage trace.Usage
	}
	for name, c := range map[string]struct {
		frames []string
		want   []used
	}{
		"before the end":      {[]string{prompt1, create1, finalize1, report1, complete1}, []used{{"turn-1", turn(7, 3, "m-1")}}},
		"after the end":       {[]string{prompt1, create1, finalize1, complete1, report1, nothing}, []used{{"", session(7, 3, "m-1")}}},
		"in the next turn":    {[]string{prompt1, create1, finalize1, complete1, prompt2, create2, report1, finalize2, complete2}, []used{{"", session(7, 3, "m-1")}}},
		"of two turns":        {[]string{prompt1, create1, finalize1, complete1, report1, prompt2, create2, finalize2, complete2, report2}, []used{{"", session(7, 3, "m-1")}, {"", session(17, 8, "")}}},
		"of both kinds":       {[]string{prompt1, create1, finalize1, report1, complete1, prompt2, create2, finalize2, complete2, report2}, []used{{"turn-1", turn(7, 3, "m-1")}, {"", session(17, 8, "")}}},
		"nothing was counted": {[]string{prompt1, create1, finalize1, complete1, nothing}, nil},
	} {
		var got []used
		for _, r := range replaytest.Play(t, runner.NewDecoder(toolkind.OpenCode()), []byte(told(c.frames...))).Records {
			if u, is := r.Payload.(trace.Usage); is {
				got = append(got, used{r.Turn, u})
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestWhichModelARunnerUses(t *testing.T) {
	t.Parallel()
	p := replaytest.Play(t, runner.NewDecoder(toolkind.OpenCode()), []byte(told(
		`{"type":"prompt","messageId":"p","content":"Go","model":"acme/m-1"}`, `{"type":"message.create","turnId":"t1"}`,
		`{"type":"model-switched","messageId":"p","fromModel":"acme/m-1","toModel":"other/m-2","reason":"overloaded"}`,
		`{"type":"message.create","turnId":"t2"}`, `{"type":"message.finalize","turnId":"t2","reason":"end_turn","finalText":"Hi."}`,
		`{"type":"usage-report","turnId":"t2","entries":[{"model":"other/m-2","inputTokens":3,"outputTokens":2},{"model":"word","inputTokens":1,"outputTokens":1}]}`,
		`{"type":"complete","messageId":"p"}`)))
	var models []trace.AgentInfo
	for _, r := range p.Records {
		switch n := r.Payload.(type) { //nolint:gochecksumtype // the others say nothing of models
		case trace.Data:
			if a, is := n.Agent(); is {
				models = append(models, a)
			}
		case trace.Error:
			if n.Level != trace.LevelNotice {
				t.Errorf("another model is no failure: %+v", n)
			}
		}
	}
	if diff := cmp.Diff([]trace.AgentInfo{{Provider: "acme", Model: "m-1"}, {Provider: "other", Model: "m-2"}}, models); diff != "" {
		t.Error(diff)
	}
}

func TestTheFinalOutputIsTheLastTextOfTheRunner(t *testing.T) {
	t.Parallel()
	const prompt, create, complete = `{"type":"prompt","messageId":"p","content":"Go"}`, `{"type":"message.create","turnId":"t1"}`, `{"type":"complete","messageId":"p"}`
	text := func(turn, text string) string {
		return `{"type":"message.part.text-delta","turnId":"` + turn + `","delta":"` + text + `"}`
	}
	call := func(status string) string {
		return `{"type":"message.part.tool-update","turnId":"t1","callId":"c","toolName":"bash","status":"` + status + `","args":{"command":"ls"}}`
	}
	finalize := func(turn, text string) string {
		return `{"type":"message.finalize","turnId":"` + turn + `","reason":"end_turn","finalText":"` + text + `"}`
	}
	for name, c := range map[string]struct {
		frames []string
		want   string
	}{
		"a result comes late":      {[]string{prompt, create, text("t1", "Look."), call("running"), text("t1", "Done."), finalize("t1", "Done."), call("completed"), complete}, "Done."},
		"the runner does not tell": {[]string{prompt, create, text("t1", "Look."), call("completed"), text("t1", "Done."), complete}, "Done."},
		"more text follows":        {[]string{prompt, create, text("t1", "Half."), finalize("t1", "Half."), `{"type":"message.create","turnId":"t2"}`, text("t2", "All."), complete}, "All."},
	} {
		p := replaytest.Play(t, runner.NewDecoder(toolkind.OpenCode()), []byte(told(c.frames...)))
		if stop := agenttest.Each[trace.Stop](replaytest.Events(p.Records)); len(stop) != 1 || stop[0].FinalOutput != c.want {
			t.Errorf("%s: %+v", name, stop)
		}
		replaytest.StepsAreModelCalls(t, name, p.Turns)
	}
}
