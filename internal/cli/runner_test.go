package cli

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"github.com/tributary-dev/tributary/adapter/agentops/runner"
	"github.com/tributary-dev/tributary/adapter/agentops/wire"
)

const runnerToken = "a-token-of-a-runner"

func TestServeARunner(t *testing.T) {
	t.Setenv("TRIBUTARY_TEST_RUNNER", runnerToken)
	t.Setenv("TRIBUTARY_TEST_SHORT", "short")
	conf := file(t, "tributary.yaml", "log_level: debug\nagents:\n  demo:\n  box: {adapter: runner, token_env: TRIBUTARY_TEST_RUNNER}\n")
	s := startServer(t, t.TempDir(), "--config", conf)
	if status, body := s.do("POST", "/api/sessions", `{"id":"s1","agent":"box"}`); status != http.StatusCreated {
		t.Fatalf("%d %s", status, body)
	}
	if status, body := s.do("POST", "/api/sessions", `{"id":"s2","agent":"demo"}`); status != http.StatusCreated {
		t.Fatalf("%d %s", status, body)
	}
	for path, want := range map[string]int{
		"/api/sessions/s2/ws?role=runner&token=" + runnerToken:                               http.StatusServiceUnavailable,
		"/api/sessions/none/ws?role=runner&token=" + runnerToken:                             http.StatusServiceUnavailable,
		"/api/sessions/s1/ws?role=runner&token=" + s.token:                                   http.StatusUnauthorized,
		"/api/sessions/s1/ws?role=client&token=" + s.token:                                   http.StatusUnauthorized,
		"/api/sessions/s1/ws?role=runner&token=" + runner.SessionToken(runnerToken, "other"): http.StatusUnauthorized,
		// Without a good token nobody learns which session waits for a runner.
		"/api/sessions/s1/ws?role=runner":   http.StatusUnauthorized,
		"/api/sessions/s2/ws?role=runner":   http.StatusUnauthorized,
		"/api/sessions/none/ws?role=runner": http.StatusUnauthorized,
		"/api/sessions/none/ws?role=runner&token=" + runner.SessionToken(runnerToken, "none"):  http.StatusServiceUnavailable,
		"/api/sessions/none/ws?role=runner&token=" + runner.SessionToken(runnerToken, "other"): http.StatusUnauthorized,
	} {
		if _, res, err := s.socket(path); err == nil || res == nil || res.StatusCode != want { //nolint:bodyclose // there is none
			t.Errorf("%s: %v %v, want %d", path, res, err, want)
		}
	}
	conn, _, err := s.socket("/api/sessions/s1/ws?role=runner&token=" + runner.SessionToken(runnerToken, "s1")) //nolint:bodyclose // it is the connection
	if err != nil {
		t.Fatal(err)
	}
	defer conn.CloseNow() //nolint:errcheck // the test is over
	go s.play(conn)
	status, stream := s.do("POST", "/api/sessions/s1/chat", chat("s1", "Who are you?"))
	if status != http.StatusOK || !strings.Contains(stream, "I am a runner.") || !strings.HasSuffix(stream, "data: [DONE]\n\n") {
		t.Errorf("%d %s", status, stream)
	}
	if got := s.stop(); got != exitOK {
		t.Errorf("exit status %d", got)
	}
	if logged := s.errors.String(); strings.Contains(logged, runnerToken) || strings.Contains(logged, runner.SessionToken(runnerToken, "s1")) {
		t.Errorf("the token is logged:\n%s", logged)
	}
	weak := file(t, "tributary.yaml", "agents:\n  box: {adapter: runner, token_env: TRIBUTARY_TEST_SHORT}\n")
	command(t, "", "agents", "--config", weak).want(t, exitUsage, "tributary.yaml:2: agents.box.token_env names TRIBUTARY_TEST_SHORT, which is to hold a token of at least 16 characters and does not")
}

func (s *server) socket(path string) (*websocket.Conn, *http.Response, error) {
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	return websocket.Dial(ctx, strings.Replace(s.base, "http", "ws", 1)+path, nil) //nolint:bodyclose // it is the connection
}

// play is a runner that has one thing to say.
func (s *server) play(conn *websocket.Conn) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	say := func(frames ...string) {
		for _, f := range frames {
			_ = conn.Write(ctx, websocket.MessageText, []byte(f))
		}
	}
	say(`{"type":"agentStatus","status":"idle"}`)
	for {
		_, data, err := conn.Read(ctx)
		if err != nil {
			return
		}
		if p, is := decoded(data).(wire.RunnerPrompt); is {
			say(`{"type":"message.create","turnId":"t1"}`, `{"type":"message.part.text-delta","turnId":"t1","delta":"I am a runner."}`,
				`{"type":"message.finalize","turnId":"t1","reason":"end_turn"}`, `{"type":"complete","messageId":"`+p.MessageID+`"}`)
		}
	}
}

func decoded(data []byte) wire.Frame {
	f, _ := wire.Decode(wire.ToRunner, data)
	return f
}
