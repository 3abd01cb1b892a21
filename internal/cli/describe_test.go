package cli

import (
	"reflect"
	"testing"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/session/agentset"
)

// A Runtime that a program makes itself tells all that its adapter says, so that an agent of the library
// has what the same agent of the program has.
func TestARuntimeTellsWhatItsAdapterSays(t *testing.T) {
	t.Setenv("A_RUNNERS_TOKEN", "a-token-of-a-runner-0123456789")
	for _, kind := range builtIn() {
		for _, preset := range append([]agent.Preset{{}}, kind.Presets...) {
			if kind.Name == "command" && preset.Name != "" {
				continue // the presets of the program's own
			}
			said := agent.Settings{Name: "it", Preset: preset.Name, Model: "m"}
			switch kind.Needs {
			case "url":
				said.URL = "http://127.0.0.1:1"
			case "command", "url or command":
				said.Command = "a-program"
			}
			if kind.Name == "langgraph" {
				said.Options = []byte(`{"assistant":"a"}`)
			}
			g := agentset.Gateway{}
			a := agentset.Agent{Kind: kind, Settings: said, Cwd: t.TempDir(), AllowBypass: true}
			want, settled, err := g.Make(a, []string{"PATH=/bin", "OPENAI_X=1"})
			if err != nil {
				t.Errorf("%s %s: %v", kind.Name, preset.Name, err)
				continue
			}
			if preset.AsksNobody {
				continue // is refused
			}
			got, known, err := g.Adopt("it", session.Agent{Runtime: want.Runtime, Cwd: a.Cwd, Model: "m", Policy: want.Policy, Options: want.Options}, nil)
			if err != nil {
				t.Errorf("%s %s: %v", kind.Name, preset.Name, err)
			}
			if opencode := preset.Name == "kilo-serve"; !opencode && !reflect.DeepEqual(got, want) {
				t.Errorf("%s %s: the agent of a library is\n%+v, and that of the program\n%+v", kind.Name, preset.Name, got, want)
			}
			if k, s := known.Kind, settled.Kind; k.Harmless != s.Harmless || k.KeepsClosed != s.KeepsClosed || len(k.Environ) != len(s.Environ) || len(k.Bypass) != len(s.Bypass) {
				t.Errorf("%s %s: the kind is %+v, and should be %+v", kind.Name, preset.Name, k, s)
			}
			if _, starts := want.Runtime.(agent.ProcessStarter); starts != (kind.Environ != nil || kind.Needs == "command" || kind.Needs == "url or command" || kind.Name == "openai") {
				t.Errorf("%s %s starts processes: %v", kind.Name, preset.Name, starts)
			}
		}
	}
}
