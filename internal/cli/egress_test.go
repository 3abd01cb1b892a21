package cli

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/policy/box"
)

func TestEgressThatCannotBeMeantIsRefused(t *testing.T) {
	t.Parallel()
	for agent, want := range map[string]string{
		"demo: {egress: [example.com]}":                                   "agents.demo.egress limits what processes reach that the gateway starts, and this agent has none: remove it",
		`far: {adapter: opencode, url: "http://127.0.0.1:1", egress: []}`: "agents.far.egress limits what processes reach",
		`claude: {egress: ["http://example.com"]}`:                        `agents.claude.egress has "http://example.com", which is a URL: write a host such as`,
		"claude: {egress: [127.0.0.1]}":                                   `agents.claude.egress has "127.0.0.1", which is this machine: name one address and its port`,
		"claude: {egress_ask: true}":                                      "agents.claude.egress_ask means something only with egress: write egress, if only []",
	} {
		for _, args := range [][]string{{"config", "check"}, {"serve", "--listen", "127.0.0.1:0", "--data", t.TempDir(), "--cwd", t.TempDir()}} {
			r := command(t, "", append(args, "--config", file(t, "tributary.yaml", "agents: {"+agent+"}"))...)
			r.want(t, exitUsage, "tributary.yaml:1: "+want)
		}
	}
	r := command(t, "", "serve", "--listen", "127.0.0.1:0", "--data", t.TempDir(), "--cwd", t.TempDir(), "--config", file(t, "tributary.yaml", "agents: {claude: {egress: [], box: {form: off}}}"))
	if r.status == 0 || !strings.Contains(r.errors, "the agent claude cannot be offered: egress needs a box, and the agent has none: its box is off. Correct that, or remove egress") {
		t.Errorf("exit status %d: %s", r.status, r.errors)
	}
}

// A list without hosts is not the same as no list.
func TestAnEmptyEgressClosesTheNetwork(t *testing.T) {
	t.Parallel()
	if err := box.NetworkAvailable(); err != nil {
		t.Skip("no network of its own can be had here: ", err)
	}
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("bash is not installed")
	}
	devices, err := exec.CommandContext(t.Context(), "bash", "-c", "tail -n +3 /proc/net/dev | wc -l").Output()
	if err != nil {
		t.Fatal(err)
	}
	for setting, want := range map[string]string{"": strings.TrimSpace(string(devices)) + " devices", ", egress: []": "1 devices by http://127.0.0.1:"} {
		conf := file(t, "tributary.yaml", `agents: {sh: {adapter: command, command: bash, args: [-c, "cat >/dev/null; echo $(tail -n +3 /proc/net/dev | wc -l) devices by $HTTPS_PROXY"]`+setting+`}}`)
		r := command(t, "", "run", "--config", conf, "--cwd", t.TempDir(), "--agent", "sh", "hello")
		if r.status != 0 || !strings.Contains(r.out, want) {
			t.Errorf("%q: it says %q %s, want %q", setting, r.out, r.errors, want)
		}
	}
}
