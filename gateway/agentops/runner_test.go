package agentops_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"github.com/tributary-dev/tributary/adapter/agentops/runner"
	"github.com/tributary-dev/tributary/adapter/agentops/wire"
	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/gateway"
	"github.com/tributary-dev/tributary/gateway/agentops"
	"github.com/tributary-dev/tributary/policy/permission"
	"github.com/tributary-dev/tributary/session"
)

const runnerToken = "runner-0123456789"

// admitting wires a runtime for runners, as the program does.
type admitting struct{ runtime *runner.Runtime }

func (a admitting) Admit(_ context.Context, id, token string) (func(context.Context, agentkit.Socket), error) {
	if !strings.HasPrefix(id, "r") {
		return nil, agentops.ErrNoRunner
	}
	serve, err := a.runtime.Admit(id, token)
	if errors.Is(err, runner.ErrToken) {
		return nil, agentops.ErrRunnerToken
	}
	return serve, err
}

// runnerStand is a gateway with sessions that runners drive.
func runnerStand(t *testing.T, adapt ...func(*gateway.Options)) stand {
	t.Helper()
	runtime := runner.New(runner.Options{Token: runnerToken})
	s := newStand(t, func(o *session.Options) {
		o.Agents["runner"] = session.Agent{Runtime: runtime, Cwd: t.TempDir(), Policy: permission.Default(), InProcess: true}
	}, append(adapt, func(o *gateway.Options) { o.Runners = admitting{runtime} })...)
	if status, _, body := s.do("POST", "/api/sessions", `{"id":"r1","agent":"runner"}`); status != 201 {
		t.Fatalf("%d %s", status, body)
	}
	return s
}

// runnerClient is a program that speaks the frames of an Agent Ops runner. The real runner
// needs a sandbox with OpenCode.
type runnerClient struct {
	t    *testing.T
	conn *websocket.Conn
}

func (s stand) runner(t *testing.T) runnerClient {
	t.Helper()
	conn, _, err := s.socket("/api/sessions/r1/ws?role=runner&token="+runnerToken, nil) //nolint:bodyclose // it is the connection
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.CloseNow() })
	r := runnerClient{t, conn}
	for _, want := range []string{"init", "opencode-config", "plugin-content", "repo-config"} {
		if f := r.next(); f.Type() != want {
			t.Errorf("the runner gets %+v, want %s", f, want)
		}
	}
	return r
}

func (r runnerClient) say(frames ...wire.Frame) {
	r.t.Helper()
	for _, f := range frames {
		data, err := wire.Encode(f)
		if err != nil {
			r.t.Fatal(err)
		}
		r.raw(string(data))
	}
}

func (r runnerClient) raw(data string) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), within)
	defer cancel()
	if err := r.conn.Write(ctx, websocket.MessageText, []byte(data)); err != nil {
		r.t.Fatal(err)
	}
}

func (r runnerClient) next() wire.Frame {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), within)
	defer cancel()
	_, data, err := r.conn.Read(ctx)
	if err != nil {
		r.t.Fatal(err)
	}
	f, err := wire.Decode(wire.ToRunner, data)
	if err != nil {
		r.t.Fatalf("%s: %v", data, err)
	}
	return f
}

func TestARunnerDrivesASession(t *testing.T) {
	s := runnerStand(t)
	c := s.join("/api/sessions/r1/ws?role=client")
	c.prompt("hello") // before there is a runner
	if st := frame(c, func(f wire.AgentStatus) bool { return f.Detail != "" }); !strings.Contains(st.Detail, "Waiting") {
		t.Errorf("status %+v", st)
	}
	r := s.runner(t)
	r.say(wire.AgentStatus{Status: wire.StatusIdle})
	prompt, is := r.next().(wire.RunnerPrompt)
	if !is || prompt.Content != "hello" || prompt.AuthorID != "ada" {
		t.Fatalf("prompt %+v", prompt)
	}
	r.say(wire.MessageCreate{TurnID: "t1"})
	const deltas = 1500
	var said strings.Builder
	for i := range deltas {
		r.raw(fmt.Sprintf(`{"type":"message.part.text-delta","turnId":"t1","delta":"word %d "}`, i))
		fmt.Fprintf(&said, "word %d ", i)
	}
	r.raw(`{"type":"message.part.tool-update","turnId":"t1","callId":"c1","toolName":"bash","status":"running","args":{"command":"make"}}`)
	r.raw(`{"type":"list-personas","requestId":"q1"}`)
	if answer, is := r.next().(wire.Other); !is || answer.Name != "list-personas-result" || !strings.Contains(string(answer.Raw), `"error"`) {
		t.Errorf("answer %+v", answer)
	}
	r.raw(`{"type":"question","questionId":"que_1","text":"Which?","options":["red","blue"],"messageId":"` + prompt.MessageID + `"}`)
	ask := frame[wire.InteractivePrompt](c, nil)
	c.send(`{"type":"answer","questionId":"` + ask.Prompt.ID + `","answer":"blue"}`)
	if answer, is := r.next().(wire.Answer); !is || answer.QuestionID != "que_1" || answer.Answer.Text != "blue" {
		t.Errorf("answer %+v", answer)
	}
	r.raw(`{"type":"message.part.tool-update","turnId":"t1","callId":"c1","toolName":"bash","status":"completed","args":{"command":"make"},"result":"ok"}`)
	r.say(wire.Finalize{TurnID: "t1", Reason: wire.ReasonEndTurn}, wire.Complete{MessageID: prompt.MessageID})
	end := frame(c, finished)
	if c.chunks(end.Data.ID) != said.String() || texts(end.Data) != said.String() {
		t.Error("text was lost between the runner and the browser")
	}
	if tool := partOf(end.Data, wire.PartToolCall); tool.Status != wire.ToolCompleted || string(tool.Result) != `"ok"` {
		t.Errorf("tool %+v", tool)
	}
	if _, _, body := s.do("GET", "/api/sessions/r1/messages", ""); !strings.Contains(body, "word 1499") || !strings.Contains(body, "output-available") {
		t.Errorf("history %s", body)
	}
}

func TestH18_AbortReachesTheRunner(t *testing.T) {
	s := runnerStand(t)
	c := s.join("/api/sessions/r1/ws?role=client")
	r := s.runner(t)
	r.say(wire.AgentStatus{Status: wire.StatusIdle})
	c.prompt("hello")
	r.next()
	r.raw(`{"type":"message.part.text-delta","turnId":"t1","delta":"Half"}`)
	frame[wire.Chunk](c, nil)
	c.send(`{"type":"abort"}`)
	if _, is := r.next().(wire.Abort); !is {
		t.Error("the runner is not told to abort")
	}
	r.raw(`{"type":"message.part.text-delta","turnId":"t1","delta":" and more"}`)
	r.say(wire.Aborted{}, wire.AgentStatus{Status: wire.StatusIdle})
	if end := frame(c, finished); texts(end.Data) != "Half" {
		t.Errorf("end %+v", end)
	}
	c.prompt("again")
	prompt, is := r.next().(wire.RunnerPrompt)
	if !is || prompt.Content != "again" {
		t.Fatalf("prompt %+v", prompt)
	}
	r.say(wire.Complete{MessageID: prompt.MessageID})
	frame(c, finished)
}

func TestRunnersAtTheDoor(t *testing.T) {
	s := runnerStand(t)
	for path, want := range map[string]int{
		"/api/sessions/r1/ws?role=runner":                                                      401,
		"/api/sessions/r1/ws?role=runner&token=guess":                                          401,
		"/api/sessions/r1/ws?role=runner&token=" + runner.SessionToken(runnerToken, "another"): 401,
		"/api/sessions/none/ws?role=runner&token=" + runnerToken:                               503,
	} {
		if _, res, err := s.socket(path, nil); err == nil || res == nil || res.StatusCode != want { //nolint:bodyclose // there is none
			t.Errorf("%s: %v %v, want %d", path, res, err, want)
		}
	}
	one := s.runner(t)
	two := s.runner(t)
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	_, _, err := one.conn.Read(ctx)
	var closed websocket.CloseError
	if !errors.As(err, &closed) || closed.Code != websocket.StatusNormalClosure || closed.Reason != "Replaced by new runner connection" {
		t.Errorf("the first runner's connection ends with %v", err)
	}
	two.say(wire.Ping{})
	if _, is := two.next().(wire.Pong); !is {
		t.Error("the second runner is not heard")
	}
}

func TestRunnersEndWithTheGateway(t *testing.T) {
	runtime := runner.New(runner.Options{Token: runnerToken})
	handler, closeAll := newHandler(t, func(o *session.Options) {
		o.Agents["runner"] = session.Agent{Runtime: runtime, Cwd: t.TempDir(), InProcess: true}
	}, func(o *gateway.Options) { o.Runners = admitting{runtime} })
	s := serveStand(t, handler, func() {})
	s.do("POST", "/api/sessions", `{"id":"r1","agent":"runner"}`)
	r := s.runner(t)
	ended := make(chan error, 1)
	go func() {
		_, _, err := r.conn.Read(context.Background())
		ended <- err
	}()
	closeAll()
	if err := <-ended; websocket.CloseStatus(err) != websocket.StatusGoingAway {
		t.Errorf("the runner's connection ends with %v", err)
	}
}

// The limits of a runner are its own. A user with the name of a runner does not share them.
func TestARunnersShareIsItsOwn(t *testing.T) {
	s := runnerStand(t, func(o *gateway.Options) { o.Limits.Streams = 1 })
	s.join("/api/sessions/r1/ws?role=client", "X-Test-Principal", "runner of r1")
	s.runner(t)
}

func TestARunnerLeavesWithItsSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		runtime := runner.New(runner.Options{Token: runnerToken})
		p, end := newPipes(t, func(o *session.Options) {
			o.Agents["runner"] = session.Agent{Runtime: runtime, Cwd: t.TempDir(), InProcess: true}
		}, func(o *gateway.Options) { o.Runners = admitting{runtime} })
		defer end()
		p.ask(post("/api/sessions", `{"id":"r1","agent":"runner"}`))
		r := p.join("/api/sessions/r1/ws?role=runner&token=" + runnerToken)
		p.ask("DELETE /api/sessions/r1 HTTP/1.1\r\nHost: x\r\n\r\n")
		from := time.Now()
		for {
			if _, _, err := r.conn.Read(t.Context()); err != nil {
				if websocket.CloseStatus(err) != websocket.StatusNormalClosure || time.Since(from) > 30*time.Second {
					t.Errorf("after %v the connection ends with %v", time.Since(from), err)
				}
				return
			}
		}
	})
}
