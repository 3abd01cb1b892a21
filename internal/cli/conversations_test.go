package cli

import (
	"strings"
	"testing"
)

// TestTheConversationsOfAnAgent uses a script that speaks the Agent Client Protocol.
func TestTheConversationsOfAnAgent(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	lister := file(t, "lister", `#!/bin/sh
read -r initialize
echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1,"agentCapabilities":{"loadSession":true,"sessionCapabilities":{"list":{}}}}}'
read -r list
echo '{"jsonrpc":"2.0","id":2,"result":{"sessions":[{"sessionId":"s1","cwd":"'"$PWD"'","title":"An old \u001b[31m one"},{"sessionId":"s2","cwd":"'"$PWD"'","title":"A new one","updatedAt":"2026-03-01T10:00:00Z"}]}}'
read -r end
`)
	conf := file(t, "tributary.yaml", `
agents:
  demo:
  mine: {adapter: acp, cwd: `+dir+`, command: `+lister+`}
`)
	r := command(t, "", "agents", "--config", conf, "--conversations", "mine")
	r.want(t, exitOK, "")
	if r.out != "RESUME  UPDATED               TITLE\ns2      2026-03-01T10:00:00Z  A new one\ns1      -                     An old <U+001B>[31m one\n" {
		t.Errorf("the table:\n%s", r.out)
	}
	r = command(t, "", "agents", "--config", conf, "--conversations", "mine", "--json")
	r.want(t, exitOK, "")
	if !strings.HasPrefix(r.out, `[{"resume":"s2","title":"A new one","updated":"2026-03-01T10:00:00Z"},{"resume":"s1",`) {
		t.Errorf("the list: %s", r.out)
	}
	command(t, "", "agents", "--config", conf, "--conversations", "demo").want(t, exitFailed, "this agent does not list its conversations")
	command(t, "", "agents", "--config", conf, "--conversations", "none").want(t, exitUsage, `there is no agent "none"`)
}
