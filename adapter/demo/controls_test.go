package demo_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/adapter/demo"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/trace"
)

func controls(t *testing.T, s agent.Session) agent.Controls {
	t.Helper()
	c, ok := s.(agent.Controllable)
	if !ok {
		t.Fatal("the demo has no controls")
	}
	return c.Controls()
}

func TestTheDemoListsItsModesModelsAndCommands(t *testing.T) {
	t.Parallel()
	host := desk()
	open(t, host, 0, "")
	var names []string
	for _, note := range host.Notes() {
		if d, ok := note.(trace.Data); ok {
			names = append(names, d.Name)
		}
	}
	if got := strings.Join(names, " "); got != "modes models agent commands" {
		t.Errorf("the demo lists %s", got)
	}
}

func TestTheDemoTellsTheModeAndTheModelThatWereChosen(t *testing.T) {
	t.Parallel()
	host := desk()
	session, err := demo.Runtime{}.Open(t.Context(), host, agent.Config{Mode: "plan"})
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	says := func(want string) {
		t.Helper()
		if said := agenttest.Said(play(t, session, host, "about")); !strings.Contains(said, want) {
			t.Errorf("the demo said %q, want %q", said, want)
		}
	}
	says("in the mode plan with the model demo.")
	if err := controls(t, session).SetMode(t.Context(), "auto"); err != nil {
		t.Error(err)
	}
	if err := controls(t, session).SetModel(t.Context(), "demo-mini"); err != nil {
		t.Error(err)
	}
	says("in the mode auto with the model demo-mini.")
	if err := controls(t, session).SetMode(t.Context(), "wild"); err == nil || !strings.Contains(err.Error(), "use ask, plan or auto") {
		t.Errorf("an unknown mode gives %v", err)
	}
	if err := controls(t, session).SetModel(t.Context(), "wild"); err == nil || !strings.Contains(err.Error(), "use demo or demo-mini") {
		t.Errorf("an unknown model gives %v", err)
	}
	says("in the mode auto with the model demo-mini.")
	if _, err := (demo.Runtime{}).Open(t.Context(), host, agent.Config{Model: "wild"}); err == nil {
		t.Error("the demo opens with an unknown model")
	}
}

func TestTheDemoTakesAMessageInTheMiddleOfATurn(t *testing.T) {
	t.Parallel()
	host := desk()
	session := open(t, host, 0, "")
	steer := controls(t, session).Steer
	if err := steer(t.Context(), ask("too early")); err == nil {
		t.Error("a message is taken while no script plays")
	}
	host.OnPermit = func(ctx context.Context, _ trace.PermissionRequest) trace.PermissionResponse {
		if err := steer(ctx, ask("in French, please")); err != nil {
			t.Error(err)
		}
		return choice("allow")
	}
	if said := agenttest.Said(play(t, session, host, "approve")); !strings.Contains(said, "Meanwhile you said: in French, please") {
		t.Errorf("the demo said %q", said)
	}
}

func TestTheUserMayChangeTheTextOfAnEdit(t *testing.T) {
	t.Parallel()
	host := desk()
	host.OnPermit = func(context.Context, trace.PermissionRequest) trace.PermissionResponse {
		answer := choice("allow")
		answer.UpdatedInput = json.RawMessage(`{"file_path":"src/river.go","new_string":"\treturn 42\n"}`)
		return answer
	}
	changes := agenttest.Each[trace.FileChange](play(t, open(t, host, 0, ""), host, "change"))
	if len(changes) != 1 || !strings.Contains(changes[0].Diff, "+\treturn 42\n") {
		t.Errorf("the changes are %+v", changes)
	}
}

// Options reach as far as those of real agents, and each is a choice of its own.
func TestAPermissionOffersSeveralScopes(t *testing.T) {
	t.Parallel()
	for option, want := range map[string]trace.ToolStatus{
		"once": trace.ToolCompleted, "session": trace.ToolCompleted, "forever": trace.ToolCompleted, "no": trace.ToolDenied, "never": trace.ToolDenied,
	} {
		host := desk()
		host.OnPermit = func(context.Context, trace.PermissionRequest) trace.PermissionResponse { return choice(option) }
		events := play(t, open(t, host, 0, ""), host, "scopes")
		if got := agenttest.Each[trace.ToolResult](events)[0].Status; got != want {
			t.Errorf("%s: the call is %s, want %s", option, got, want)
		}
		if r := agenttest.Each[trace.PermissionRequest](events)[0]; !strings.Contains(r.Title, "go test -race") {
			t.Errorf("the request shows %q, which is not the whole script", r.Title)
		}
	}
}

// The option "Always deny" holds for the command, as long as the session is open.
func TestAScriptThatIsAlwaysDeniedIsNotAskedAgain(t *testing.T) {
	t.Parallel()
	host, asked := desk(), 0
	host.OnPermit = func(context.Context, trace.PermissionRequest) trace.PermissionResponse {
		asked++
		return choice("never")
	}
	session := open(t, host, 0, "")
	play(t, session, host, "scopes")
	events := play(t, session, host, "scopes")
	if r := agenttest.Each[trace.ToolResult](events)[0]; asked != 1 || r.Status != trace.ToolDenied || !strings.HasSuffix(agenttest.Said(events), ": You have told me never to run it.\n") {
		t.Errorf("asked %d times; the second call is %s: %s", asked, r.Status, agenttest.Said(events))
	}
	host.OnPermit = func(context.Context, trace.PermissionRequest) trace.PermissionResponse {
		asked++
		return choice("allow")
	}
	if play(t, session, host, "approve"); asked != 2 {
		t.Error("another command was not asked about")
	}
}

func TestHugeHasAsManyMegabytesAsThePromptSays(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it counts megabytes")
	}
	for prompt, want := range map[string]int{"huge": 5, "/huge 2": 2} {
		var output string
		if err := json.Unmarshal(agenttest.Each[trace.ToolResult](once(t, prompt))[0].Output, &output); err != nil {
			t.Fatal(err)
		}
		if len(output) != want<<20 {
			t.Errorf("%q has an output of %d bytes", prompt, len(output))
		}
	}
}
