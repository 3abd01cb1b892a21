package agentops_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/internal/testkit/replay/replaytest"
	"github.com/tributary-dev/tributary/trace"
)

func TestTheFinalOutputIsTheTextAfterTheLastCall(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		frames []string
		want   string
	}{
		"a result answers each call": {[]string{
			chunkFrame("t1", "Look:"), wholeFrame("t1", textPart("Look:"), toolPart("a", "completed", `,"args":{},"result":1`)), chunkFrame("t1", "Done."),
			wholeFrame("t1", textPart("Look:"), toolPart("a", "completed", `,"args":{},"result":1`), textPart("Done."), finishPart("end_turn")),
		}, "Done."},
		"a result comes after the end": {[]string{
			chunkFrame("t1", "Look:"), wholeFrame("t1", textPart("Look:"), toolPart("a", "running", `,"args":{}`)), chunkFrame("t1", "Done."),
			wholeFrame("t1", textPart("Look:"), toolPart("a", "running", `,"args":{}`), textPart("Done."), finishPart("end_turn")),
			wholeFrame("t1", textPart("Look:"), toolPart("a", "completed", `,"args":{},"result":1`), textPart("Done."), finishPart("end_turn")),
		}, "Done."},
		"no text follows the last call": {[]string{
			chunkFrame("t1", "Look:"), wholeFrame("t1", textPart("Look:"), toolPart("a", "completed", `,"args":{},"result":1`), finishPart("end_turn")),
		}, "Look:"},
	} {
		all := lines(toUs(startFrame("t1")))
		for _, f := range c.frames {
			all = append(all, toUs(f))
		}
		p := playBack(t, all)
		if stop := agenttest.Each[trace.Stop](replaytest.Events(p.Records)); len(stop) != 1 || stop[0].FinalOutput != c.want {
			t.Errorf("%s: %+v", name, stop)
		}
		replaytest.StepsAreModelCalls(t, name, p.Turns)
	}
}

func TestWhichModelASessionHas(t *testing.T) {
	t.Parallel()
	const models = `{"type":"models","models":[],"defaultModel":"acme/model-1"}`
	prompt := fromUs(`{"type":"prompt","content":"Go","model":"acme/model-2"}`)
	one, two, three := trace.AgentInfo{Provider: "acme", Model: "model-1"}, trace.AgentInfo{Provider: "acme", Model: "model-2"}, trace.AgentInfo{Provider: "other", Model: "x/model-3"}
	for name, c := range map[string]struct {
		lines []string
		want  []trace.AgentInfo
	}{
		"the server's choice":     {[]string{toUs(models), toUs(models)}, []trace.AgentInfo{one}},
		"the prompt's choice":     {[]string{toUs(models), prompt, toUs(models)}, []trace.AgentInfo{one, two}},
		"another model took over": {[]string{prompt, toUs(`{"type":"model-switched","fromModel":"acme/model-2","toModel":"other/x/model-3"}`)}, []trace.AgentInfo{two, three}},
		"a word names no model":   {[]string{toUs(`{"type":"models","models":[],"defaultModel":"default"}`)}, nil},
	} {
		var got []trace.AgentInfo
		for _, d := range agenttest.Each[trace.Data](replaytest.Events(playBack(t, c.lines).Records)) {
			if a, is := d.Agent(); is {
				got = append(got, a)
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestASessionThatFailsIsNoFailureOfTheAgentsWork(t *testing.T) {
	t.Parallel()
	for name, frames := range map[string][]string{
		"it has ended":             {`{"type":"status","data":{"status":"terminated"}}`},
		"it failed, and says why":  {`{"type":"status","data":{"status":"error"}}`, `{"type":"error","error":"no sandbox"}`},
		"it failed, and says less": {`{"type":"status","data":{"status":"error"}}`},
	} {
		all := lines(toUs(startFrame("t1")), toUs(chunkFrame("t1", "Half")))
		for _, f := range frames {
			all = append(all, toUs(f))
		}
		stop := agenttest.Each[trace.Stop](replaytest.Events(playBack(t, all).Records))
		if len(stop) != 1 || stop[0].Outcome != trace.OutcomeFailed || stop[0].Class != trace.ClassGateway {
			t.Errorf("%s: %+v", name, stop)
		}
	}
}
