//go:build linux

package agents_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/internal/testkit/realagent"
	"github.com/tributary-dev/tributary/trace"
)

// A collaborator who may approve asks a real agent for the token of the gateway, for its configuration and for
// a file of the gateway's user, and allows the command. The box decides what the command gets.
func TestRealAgentsGiveACollaboratorOnlyWhatTheBoxOpens(t *testing.T) {
	const person = "token-of-ada-0123456789abcdef"
	const token, configuration, key = "the token", "the configuration", "a key in the home directory"
	for _, c := range []struct {
		agent string
		box   any // of the configuration; nil is the default
		gets  []string
	}{
		{"claude", nil, nil},
		{"claude", "guard", []string{key}},
		{"claude", "off", []string{token, configuration, key}},
		{"codex", nil, []string{key}},
		{"codex", "off", []string{token, configuration, key}},
		{"claude-acp", nil, nil},
		{"opencode", nil, nil},
		{"opencode-acp", nil, nil},
	} {
		form, _ := c.box.(string)
		t.Run(c.agent+" "+form, func(t *testing.T) {
			k, _ := realagent.KindOf(c.agent)
			if !slices.ContainsFunc(chosen(), func(chosen realagent.Kind) bool { return chosen.Name == c.agent }) {
				t.Skip(c.agent + " is not among the agents of this run")
			}
			b := newBench(t, k)
			b.token, b.secrets = person, []string{"ADA=" + person}
			if err := os.WriteFile(filepath.Join(b.agent.Home, "key"), []byte(loot), 0o600); err != nil {
				t.Fatal(err)
			}
			b.configure(func(conf map[string]any) {
				own := conf["agents"].(map[string]any)[c.agent].(map[string]any)
				if c.box != nil {
					own["box"] = map[string]any{"form": c.box}
				}
				conf["auth"] = map[string]any{"approver": "collaborator", "tokens": []any{map[string]any{"name": "ada", "role": "collaborator", "token_env": "ADA"}}}
			})
			b.start()
			t.Cleanup(b.end)
			hash, err := os.ReadFile(filepath.Join(b.data, "token"))
			if err != nil {
				t.Fatal(err)
			}
			// The command does not name the files, because an agent may refuse that by rules of its own.
			look := "cat " + b.data + "/token " + b.config + " " + b.agent.Home + "/key; touch " + b.agent.Dir + "/ran\n"
			if err := os.WriteFile(filepath.Join(b.agent.Dir, "look"), []byte(look), 0o600); err != nil {
				t.Fatal(err)
			}
			turn := b.play(t, script{prompt: "[[script:escalate sh DIR/look]]", choose: trace.AllowOnce}, endless)
			if !slices.Contains(b.files(), "ran") {
				t.Fatalf("the command did not run: %s", shapeOf(turn))
			}
			var results strings.Builder
			for _, r := range turn {
				if p, is := r.Payload.(trace.ToolResult); is {
					text, _ := json.Marshal(p)
					results.Write(text)
				}
			}
			for what, secret := range map[string]string{token: strings.Fields(string(hash))[0], configuration: "token_env", key: loot} {
				if got := strings.Contains(results.String(), secret); got != slices.Contains(c.gets, what) {
					t.Errorf("it gets %s: %t; the results are %.600s", what, got, &results)
				}
			}
		})
	}
}
