package acp_test

import (
	"context"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/adapter/acp"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/policy/permission/permissiontest"
	"github.com/tributary-dev/tributary/policy/toolkind"
	"github.com/tributary-dev/tributary/policy/workspace"
	"github.com/tributary-dev/tributary/trace"
)

const sameID = `{"code":-32600,"message":"an earlier request with the same id has no reply yet: use another id"}`

// A request whose id still waits is refused, whatever either is about. The answer to the first is
// for the first alone.
func TestARequestWithTheIDOfOneThatWaitsIsRefused(t *testing.T) {
	t.Parallel()
	d := permissiontest.Workspace(t)
	request := func(id, method string, params object) object {
		params["sessionId"] = "s"
		return object{"jsonrpc": "2.0", "id": id, "method": method, "params": params}
	}
	ask := func(call object) object {
		return request("same", "session/request_permission", object{"toolCall": call, "options": []object{{"optionId": "y", "kind": "allow_once"}, {"optionId": "n", "kind": "reject_once"}}})
	}
	edit := func(name string) object {
		path := d.Path() + "/" + name
		return object{"toolCallId": name, "name": "write_file", "kind": "edit", "locations": []object{{"path": path}}, "rawInput": object{"file_path": path, "content": "x"}}
	}
	write := func(id, name string) object {
		return request(id, "fs/write_text_file", object{"path": d.Path() + "/" + name, "content": "x"})
	}
	run := func(id string) object { return request(id, "terminal/create", object{"command": "touch b"}) }
	covered := func(effects []agent.Effect) bool {
		permit, is := effects[len(effects)-1].(agent.Permit)
		return is && permit.Decided != nil && permit.Decided.Allowed()
	}
	for name, c := range map[string]struct{ second, act object }{
		"another edit":         {ask(edit("b.txt")), write("act", "b.txt")},
		"a command":            {ask(object{"toolCallId": "b", "name": "run_shell_command", "kind": "execute", "rawInput": object{"command": "touch b"}}), run("act")},
		"a write":              {write("same", "b.txt"), write("act", "b.txt")},
		"a terminal":           {run("same"), run("act")},
		"questions":            {request("same", "elicitation/create", object{"mode": "url", "url": "https://example.com", "message": "Log in."}), run("act")},
		"the end of a command": {request("same", "terminal/wait_for_exit", object{"terminalId": "t"}), run("act")},
		"an unknown method":    {request("same", "craft/other", object{}), run("act")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := agenttest.NewRecorder()
			decoder := acp.NewDecoder(acp.Options{Tools: toolkind.Gemini()}.Live(""))
			opens(t, decoder, r.Builder, d.Path())
			decode(t, decoder, r.Builder, ask(edit("a.txt")))
			hand := func(dir agent.Dir, data []byte) []agent.Effect {
				effects, err := decoder.Decode(agent.Message{Dir: dir, Data: data}, agenttest.OneTurn(r.Builder))
				if err != nil {
					t.Fatal(err)
				}
				return effects
			}
			effects := hand(agent.Out, encode(t, c.second))
			sent, is := effects[0].(agent.Send)
			if !is || len(effects) > 1 || string(sent.Data) != `{"error":`+sameID+`,"id":"same","jsonrpc":"2.0"}` {
				t.Fatalf("the request is not refused: %+v", effects)
			}
			hand(agent.In, sent.Data)
			if len(r.Builder.Requests()) != 1 {
				t.Error("the refusal counts as an answer to the first request")
			}
			hand(agent.In, []byte(`{"id":"same","result":{"outcome":{"outcome":"selected","optionId":"y"}}}`))
			if covered(hand(agent.Out, encode(t, c.act))) {
				t.Error("the gateway does what the second request shows, and nobody has allowed that")
			}
			if !covered(hand(agent.Out, encode(t, write("first", "a.txt")))) {
				t.Error("what the first request shows was allowed, and is asked again")
			}
			_ = r.Builder.Finish(trace.Stop{Outcome: trace.OutcomeCompleted})
		})
	}
}

func encode(t *testing.T, v any) []byte {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// An id is taken until its reply is sent, also if its request was withdrawn or its turn has ended.
func TestAnIDIsTakenUntilItsReplyIsSent(t *testing.T) {
	t.Parallel()
	for name, between := range map[string]object{
		"withdrawn":  {"method": "$/cancel_request", "params": object{"requestId": "same"}},
		"turn ended": {"id": 1, "result": object{"stopReason": "end_turn"}},
	} {
		r := agenttest.NewRecorder()
		decoder := acp.NewDecoder(acp.Options{}.Live(""))
		opens(t, decoder, r.Builder, "/w")
		write := object{"id": "same", "method": "fs/write_text_file", "params": object{"sessionId": "s", "path": "/w/a.txt", "content": "x"}}
		effects := decode(t, decoder, r.Builder, write, between)
		again, err := decoder.Decode(agent.Message{Dir: agent.Out, Data: encode(t, write)}, agenttest.OneTurn(r.Builder))
		if err != nil {
			t.Fatal(err)
		}
		if sent, is := again[0].(agent.Send); !is || !strings.Contains(string(sent.Data), sameID) {
			t.Errorf("%s: after %+v the id is free: %+v", name, effects, again)
		}
		_ = r.Builder.Finish(trace.Stop{Outcome: trace.OutcomeCompleted})
	}
}

// Nothing of a refused request is carried out, and its refusal is the only reply to it: a reply of
// the gateway's terminals would count for the request that waits.
func TestAPersonIsAskedAboutAWriteWhoseIDATerminalUses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	files, err := workspace.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer files.Close()
	refused := make(chan struct{})
	host := agenttest.NewHost()
	host.Dir = files
	host.OnPermit = func(ctx context.Context, _ trace.PermissionRequest) trace.PermissionResponse {
		select {
		case <-refused:
		case <-ctx.Done():
		}
		return trace.PermissionResponse{Outcome: trace.Selected, ChosenOption: "deny", By: "ada"}
	}
	s, err := fakeRuntime(t, "plain").Open(t.Context(), host, agent.Config{SessionID: "s", Cwd: dir, Tap: func(m agent.Message) {
		if m.Dir == agent.In && strings.Contains(string(m.Data), sameID) {
			close(refused)
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	st := &stage{t: t, dir: dir, host: host, s: s}
	events, said, _ := st.turn(agenttest.Prompt("twice " + dir + "/a.txt"))
	if _, err := os.Stat(dir + "/a.txt"); err == nil {
		t.Error("the file was written, and a person has denied that")
	}
	answers := agenttest.Each[trace.PermissionResponse](events)
	if len(answers) != 1 || answers[0].By != "ada" {
		t.Errorf("the answers on record are %+v", answers)
	}
	if got := strings.Split(said, "\n"); len(got) != 2 || got[0] != sameID || !slices.Contains(got, `{"code":-32600,"message":"this is not allowed"}`) {
		t.Errorf("the agent got %q", got)
	}
}
