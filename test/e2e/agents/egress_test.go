//go:build linux

package agents_test

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"github.com/tributary-dev/tributary/trace"
)

// TestRealAgentsReachOnlyTheirModel: with egress an agent works with its model, on the loopback device of this machine, and its
// commands reach the model and not the gateway.
//
//evidence:for promise-egress
func TestRealAgentsReachOnlyTheirModel(t *testing.T) {
	for _, k := range chosen() {
		t.Run(k.Name, func(t *testing.T) {
			b := newBench(t, k)
			if b.agent.Path == "" {
				t.Skip("it runs in the gateway")
			}
			model, err := url.Parse(b.agent.Model.URL)
			if err != nil {
				t.Fatal(err)
			}
			b.configure(func(c map[string]any) {
				c["agents"].(map[string]any)[k.Name].(map[string]any)["egress"] = []string{model.Host}
			})
			b.start()
			own, err := url.Parse(b.server.Base())
			if err != nil {
				t.Fatal(err)
			}
			probe := fmt.Sprintf("(exec 3<>/dev/tcp/127.0.0.1/%s) && touch model\n(exec 3<>/dev/tcp/127.0.0.1/%s) && touch gateway\ntouch probed\n", model.Port(), own.Port())
			if err := os.WriteFile(filepath.Join(b.agent.Dir, "probe.sh"), []byte(probe), 0o600); err != nil {
				t.Fatal(err)
			}
			for _, s := range []script{
				{name: "tool", prompt: "[[script:read DIR/hello.txt]]", text: "hello from a file"},
				{name: "network", prompt: "[[script:escalate cd DIR && bash DIR/probe.sh]]", choose: trace.AllowOnce, made: "probed", missing: "gateway"},
				{name: "model", prompt: "[[script:plain]]", made: "model"},
			} {
				t.Run(s.name, func(t *testing.T) { b.checkTurn(t, s, b.play(t, s, patience)) })
			}
			b.end()
		})
	}
}
