package uiendpoint_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/adapter/uiendpoint"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/internal/testkit/installed"
	"github.com/tributary-dev/tributary/trace"
)

// releases are those that the endpoints of the real server run.
var releases = []string{"5.0.277", "6.0.323", "7.0.173"}

// realServer starts endpoints of the AI SDK on a mock model and returns their address.
func realServer(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("real endpoints take some seconds")
	}
	node, err := exec.LookPath("node")
	installed.Needed(t, err == nil && exists("node_modules/ai-7.0.173"), "the AI SDK or node is not installed: make uiendpoint")
	return started(t, node, "uiendpoint/server.mjs")
}

// conformance is the folder of the servers.
const conformance = "../../test/conformance"

func exists(name string) bool {
	_, err := os.Stat(filepath.Join(conformance, name))
	return err == nil
}

// started starts a server that prints its port and ends with its standard input.
func started(t *testing.T, program, script string) string {
	t.Helper()
	cmd := exec.Command(program, script)
	cmd.Dir, cmd.Stderr = conformance, os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = in.Close(); _ = cmd.Wait() })
	port, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return "http://127.0.0.1:" + strings.TrimSpace(port)
}

func TestPydanticAI(t *testing.T) {
	t.Parallel()
	python := "uiendpoint/venv/bin/python"
	installed.Needed(t, exists("uiendpoint/venv/installed"), "pydantic-ai is not installed: make uiendpoint")
	path, err := filepath.Abs(filepath.Join(conformance, python))
	if err != nil {
		t.Fatal(err)
	}
	server := started(t, path, "uiendpoint/pydantic_server.py")
	for _, major := range []string{"5", "6", "7"} {
		c := newConversation(t, server+"/"+major+"/api/chat", uiendpoint.Settings{})
		option := "allow"
		c.host.OnPermit = func(context.Context, trace.PermissionRequest) trace.PermissionResponse {
			return trace.PermissionResponse{Outcome: trace.Selected, ChosenOption: option}
		}
		turns := [][2]string{{"hello", "You said: hello"}, {"think", "Thought."}, {"weather", "'sun': 1.5"}}
		if major != "5" {
			turns = append(turns, [2]string{"pay", "paid 5"})
		}
		for _, turn := range append(turns, [2]string{"recall", "sealed"}) {
			events, stop := c.plays(turn[0])
			if said := agenttest.Said(events); !strings.Contains(said, turn[1]) || stop.Outcome != trace.OutcomeCompleted {
				t.Errorf("%s, %s: the turn said %q and ended with %+v", major, turn[0], said, stop)
			}
		}
		if option = "deny"; major != "5" {
			events, stop := c.plays("pay again")
			if r := agenttest.Each[trace.ToolResult](events); len(r) != 1 || r[0].Status != trace.ToolDenied || stop.Outcome != trace.OutcomeCompleted {
				t.Errorf("%s: a denied call ended as %+v, and the turn as %+v", major, r, stop)
			}
		}
	}
}

func TestRealEndpoints(t *testing.T) {
	t.Parallel()
	server := realServer(t)
	for _, release := range releases {
		at := server + "/" + release + "/api/chat"
		t.Run(release, func(t *testing.T) {
			c := newConversation(t, at, uiendpoint.Settings{})
			c.host.OnAsk = func(context.Context, trace.Question) trace.Answer {
				return trace.Answer{Outcome: trace.Selected, Values: []string{`{"lat":1}`}}
			}
			c.host.OnPermit = func(_ context.Context, r trace.PermissionRequest) trace.PermissionResponse {
				option := "allow"
				if strings.HasSuffix(c.host.RequestSuffix, "no") {
					option = "deny"
				}
				return trace.PermissionResponse{Outcome: trace.Selected, ChosenOption: option, Reason: "because"}
			}
			for _, turn := range []struct{ prompt, says string }{
				{"hello", "You said: hello"},
				{"think", "Thought."},
				{"weather", `"city":"Paris","sun":1.5`},
				{"fail", "The tools say"},
				{"where", `"lat":1`},
				{"unknown", "The tools say"},
				{"pay", "paid 5"},
			} {
				events, stop := c.plays(turn.prompt)
				if said := agenttest.Said(events); !strings.Contains(said, turn.says) || stop.Outcome != trace.OutcomeCompleted {
					t.Errorf("%s: the turn said %q and ended with %+v", turn.prompt, said, stop)
				}
			}
			if release[0] != '5' {
				c.host.RequestSuffix = "-no"
				events, stop := c.plays("pay again")
				if r := agenttest.Each[trace.ToolResult](events); len(r) != 1 || r[0].Status != trace.ToolDenied || stop.Outcome != trace.OutcomeCompleted {
					t.Errorf("a denied call ended as %+v, and the turn as %+v", r, stop)
				}
			}
			events, _ := c.plays("recall") // the whole conversation, as the model has it now
			back := agenttest.Said(events)
			for _, want := range []string{
				"You said: hello", `"signature":"sealed"`, `"toolName":"weather"`, `"call":"w2"`, `"sun":1.5`, `"lat":1`, "paid 5", `"type":"reasoning"`,
			} {
				if !strings.Contains(back, want) {
					t.Errorf("the model no longer knows %s: %s", want, back)
				}
			}
			if _, stop := c.plays("error"); stop.Outcome != trace.OutcomeFailed || stop.Error != "The model is overloaded." {
				t.Errorf("an error ended with %+v", stop)
			}
			if _, stop := c.plays("hello"); stop.Outcome != trace.OutcomeCompleted {
				t.Errorf("after an error a turn ended with %+v", stop)
			}
		})
	}
}

// The connection of each run breaks after five pieces. The endpoint resumes as the AI SDK's
// documentation has it.
func TestARealEndpointThatResumesIsJoined(t *testing.T) {
	t.Parallel()
	server := realServer(t)
	for _, release := range releases {
		c := newConversation(t, server+"/"+release+"/resumable", uiendpoint.Settings{Resume: true})
		for _, turn := range [][2]string{{"hello you there, this is a long one", "You said: hello you there, this is a long one"}, {"weather", `"city":"Rome","sun":1.5`}} {
			events, stop := c.plays(turn[0])
			if said := agenttest.Said(events); strings.Count(said, turn[1]) != 1 || stop.Outcome != trace.OutcomeCompleted {
				t.Errorf("ai %s: the turn said %q and ended with %+v", release, said, stop)
			}
		}
	}
}

func TestAStopReachesTheModelOfARealEndpoint(t *testing.T) {
	t.Parallel()
	server := realServer(t)
	for n, release := range releases {
		c := newConversation(t, server+"/"+release+"/api/chat", uiendpoint.Settings{})
		r, done := c.host.Turn(prompt("slow")), make(chan error, 1)
		ctx, stop := context.WithCancel(t.Context())
		go func() { done <- c.session.Prompt(ctx, prompt("slow"), r.Builder) }()
		if _, err := r.Await(t.Context(), func(e trace.Event) bool { return e.Payload.Kind() == trace.KindMessageDelta }); err != nil {
			t.Fatal(err)
		}
		stop()
		if _, end := c.finished(r, <-done); end.Outcome != trace.OutcomeCanceled {
			t.Errorf("the turn ended with %+v", end)
		}
		want := "[" + strings.TrimSuffix(strings.Repeat("true,", n+1), ",") + "]"
		for got, deadline := "", time.Now().Add(5*time.Second); got != want; time.Sleep(50 * time.Millisecond) {
			if got = stops(t, server); time.Now().After(deadline) {
				t.Fatalf("ai %s: the models were stopped: %s, want %s", release, got, want)
			}
		}
	}
}

func stops(t *testing.T, server string) string {
	t.Helper()
	res, err := http.Get(server + "/stops")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	defer http.DefaultClient.CloseIdleConnections()
	got, err := io.ReadAll(res.Body)
	return strings.TrimSpace(fmt.Sprint(string(got), map[bool]string{true: fmt.Sprint(err)}[err != nil]))
}
