package cli

import (
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A script that speaks the Agent Client Protocol remembers one conversation on the machine of the gateway that has started it.
// While that gateway is away, the others refuse the prompts of the session; then they pass them on to it.
//
//evidence:for promise-cluster
func TestAPromptGoesWhereTheMemoryIs(t *testing.T) {
	t.Parallel()
	db, dir := postgres.Database(t), t.TempDir()
	script := file(t, "agent", `#!/bin/sh
read -r initialize
echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1,"agentCapabilities":{"loadSession":true}}}'
read -r session
echo '{"jsonrpc":"2.0","id":2,"result":{"sessionId":"m1"}}'
read -r prompt
echo '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"m1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"by '"$MACHINE"'"}}}}'
echo '{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}'
read -r end
`)
	on := func(data, machine string) *server {
		conf := file(t, "tributary.yaml", "cluster: {listen: \"127.0.0.1:0\"}\nsessions: {agent_idle: 1ms}\nagents: {mine: {adapter: acp, command: "+script+", env: {MACHINE: "+machine+"}, box: {form: off}}}\n")
		return startServer(t, data, "--config", conf, "--db", db, "--agent", "mine")
	}
	first := on(dir, "one")
	if status, stream := first.do("POST", "/api/chat", chat("s", "hello")); status != http.StatusOK || !strings.Contains(stream, "by one") {
		t.Fatalf("%d %s", status, stream)
	}
	first.signals <- syscall.SIGTERM
	first.wait()
	second := on(t.TempDir(), "two")
	if status, text := second.do("PATCH", "/api/sessions/s", `{"title":"taken"}`); status != http.StatusOK {
		t.Errorf("a change that needs no memory: %d %s", status, text)
	}
	status, refused := second.do("POST", "/api/chat", chat("s", "again"))
	if status != http.StatusServiceUnavailable || !strings.HasPrefix(refused, "The agent's memory of this session is on the gateway ") {
		t.Errorf("without its home: %d %s", status, refused)
	}
	on(dir, "one")
	stream := ""
	for deadline := time.Now().Add(patience); status == http.StatusServiceUnavailable && time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		status, stream = second.do("POST", "/api/chat", chat("s", "again")) // until the others know its address, and the second has given the session back
	}
	if status != http.StatusOK || !strings.Contains(stream, "by one") {
		t.Errorf("with its home: %d %s", status, stream)
	}
}
