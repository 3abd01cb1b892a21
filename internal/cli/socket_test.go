package cli

import (
	"context"
	"encoding/json"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coder/websocket"
)

// A WebSocket is no way around the end of its credential: frames are refused once the
// credential counts no more, and the connection ends within seconds.
func TestASocketEndsWithItsCredential(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	s := startServer(t, data)
	created := command(t, "", "token", "create", "ci", "--role", "admin", "--data", data)
	created.want(t, exitOK, "This is the token of ci")
	if status, body := s.do(http.MethodPost, "/api/chat", chat("s1", "hello")); status != http.StatusOK {
		t.Fatal(status, body)
	}
	open := func(token string) *websocket.Conn {
		t.Helper()
		conn, _, err := websocket.Dial(t.Context(), s.base+"/api/sessions/s1/ws?role=client", &websocket.DialOptions{ //nolint:bodyclose // its documentation: never needed
			Subprotocols: []string{"agent-ops", "bearer." + token},
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.CloseNow() })
		conn.SetReadLimit(1 << 20)
		if _, _, err := conn.Read(t.Context()); err != nil {
			t.Fatal("the first frame:", err)
		}
		return conn
	}
	sockets := map[string]*websocket.Conn{"a revoked token": open(strings.TrimSpace(created.out)), "the token before a reset": open(s.token)}
	command(t, "", "token", "revoke", "ci", "--data", data).want(t, exitOK, "")
	command(t, "", "token", "reset", "--data", data).want(t, exitOK, "This is the new admin token")
	for name, conn := range sockets {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		frame, err := json.Marshal(map[string]string{"type": "prompt", "content": "secret of " + name})
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(name, "reset") { // a revoked token of the store counts for up to 2 s
			if err := conn.Write(ctx, websocket.MessageText, frame); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		for err == nil {
			_, frame, err = conn.Read(ctx)
			if strings.Contains(string(frame), "secret of") {
				t.Errorf("%s: its prompt ran: %s", name, frame)
			}
		}
		if websocket.CloseStatus(err) != websocket.StatusPolicyViolation {
			t.Errorf("%s: the socket ended with %v", name, err)
		}
	}
}
