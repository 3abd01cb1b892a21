package opencode_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/tributary-dev/tributary/adapter/opencode"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/policy/permission/permissiontest"
	"github.com/tributary-dev/tributary/policy/toolkind"
	"github.com/tributary-dev/tributary/trace"
)

// say hands an event of the session s to a decoder.
func say(t *testing.T, d *opencode.Decoder, turn agent.Turns, kind string, properties object) []agent.Effect {
	t.Helper()
	properties["sessionID"] = "ses_1"
	var data bytes.Buffer
	enc := json.NewEncoder(&data)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(object{"type": kind, "properties": properties}); err != nil {
		t.Fatal(err)
	}
	effects, err := d.Decode(agent.Message{Dir: agent.Out, Channel: "sse", Data: data.Bytes()}, turn)
	if err != nil {
		t.Fatal(err)
	}
	return effects
}

// begin begins a turn with one call that runs.
func begin(t *testing.T, d *opencode.Decoder, turn agent.Turns, tool string, input any) {
	t.Helper()
	if _, err := d.Decode(agent.Message{Dir: agent.In, Data: []byte(`{"method":"POST","path":"/session/ses_1/prompt_async","body":{"parts":[{"type":"text","text":"go"}]}}`)}, turn); err != nil {
		t.Fatal(err)
	}
	say(t, d, turn, "message.updated", object{"info": object{"id": "msg_1", "role": "user"}})
	say(t, d, turn, "message.updated", object{"info": object{"id": "msg_2", "role": "assistant", "parentID": "msg_1"}})
	runs(t, d, turn, tool, input)
}

// runs shows the call c.
func runs(t *testing.T, d *opencode.Decoder, turn agent.Turns, tool string, input any) {
	t.Helper()
	say(t, d, turn, "message.part.updated", object{"part": object{
		"id": "prt_1", "messageID": "msg_2", "type": "tool", "tool": tool, "callID": "c", "state": object{"status": "running", "input": input},
	}})
}

//evidence:for promise-workspace
func TestAttacks(t *testing.T) {
	t.Parallel()
	d := permissiontest.Workspace(t)
	permissions := map[string]string{"write": "edit"}
	permissiontest.Play(t, d, permissiontest.Dialect{
		permissiontest.Read:   {Name: "read", Keys: map[string]string{"path": "filePath", "second": "path"}},
		permissiontest.Edit:   {Name: "write", Keys: map[string]string{"path": "filePath", "content": "content"}},
		permissiontest.Find:   {Name: "glob", Keys: map[string]string{"path": "path", "pattern": "pattern"}},
		permissiontest.Search: {Name: "grep", Keys: map[string]string{"path": "path", "expression": "pattern", "glob": "include"}},
		permissiontest.Run:    {Name: "bash", Keys: map[string]string{"command": "command"}},
	}, func(t *testing.T, shown, asked permissiontest.Call) bool {
		r := agenttest.NewRecorder(func(c *trace.Config) { c.Decide = permissiontest.Judge(d, toolkind.OpenCode()) })
		decoder, turn := opencode.NewDecoder(opencode.Options{}), agenttest.OneTurn(r.Builder)
		begin(t, decoder, turn, shown.Tool, shown.Input)
		name := asked.Tool
		if other, ok := permissions[name]; ok {
			name = other
		}
		if shown.Tool != asked.Tool || string(asked.Input) == "{}" { // a request has only some of the input: the call says the rest
			runs(t, decoder, turn, asked.Tool, asked.Input)
		}
		say(t, decoder, turn, "permission.asked", object{
			"id": "per_1", "permission": name, "patterns": []string{"*", "*"}, "metadata": asked.Input, "tool": object{"messageID": "msg_2", "callID": "c"},
		})
		if err := r.Builder.Finish(trace.Stop{Outcome: trace.OutcomeCompleted}); err != nil {
			t.Fatal(err)
		}
		calls := agenttest.Each[trace.ToolCall](r.Events())
		if last := calls[len(calls)-1]; string(last.Input) != string(sorted(asked.Input)) && string(last.Input) != string(asked.Input) {
			t.Errorf("asked was %s %s, on record is %s %s", asked.Tool, asked.Input, last.RawName, last.Input)
		}
		answers := agenttest.Each[trace.PermissionResponse](r.Events())
		return len(answers) > 0 && answers[0].Allowed()
	})
}

// sorted is JSON with its keys in order.
func sorted(data json.RawMessage) json.RawMessage {
	var v any
	if json.Unmarshal(data, &v) != nil {
		return data
	}
	out, _ := json.Marshal(v)
	return out
}

func TestRequestsBesideTheCallAreAlwaysAsked(t *testing.T) {
	t.Parallel()
	d := permissiontest.Workspace(t)
	for name, r := range map[string]object{
		"a directory outside":      {"permission": "external_directory", "patterns": []string{"/etc/*"}, "metadata": object{"filepath": "/etc/passwd"}},
		"a loop":                   {"permission": "doom_loop", "patterns": []string{"read"}, "metadata": object{}},
		"another file":             {"permission": "read", "patterns": []string{"etc/passwd"}, "metadata": object{}},
		"a call that nobody knows": {"permission": "bash", "patterns": []string{"ls"}, "metadata": object{"command": "ls"}, "tool": object{"messageID": "msg_9", "callID": "other"}},
	} {
		rec := agenttest.NewRecorder(func(c *trace.Config) { c.Decide = permissiontest.Judge(d, toolkind.OpenCode()) })
		decoder, turn := opencode.NewDecoder(opencode.Options{}), agenttest.OneTurn(rec.Builder)
		begin(t, decoder, turn, "read", object{"filePath": d.Path() + "/a.txt"})
		r["id"] = "per_1"
		if r["tool"] == nil {
			r["tool"] = object{"messageID": "msg_2", "callID": "c"}
		}
		effects := say(t, decoder, turn, "permission.asked", r)
		if permit, ok := effects[0].(agent.Permit); !ok || permit.Decided != nil {
			t.Errorf("%s: the effect is %+v", name, effects[0])
		}
		if err := rec.Builder.Finish(trace.Stop{Outcome: trace.OutcomeCompleted}); err != nil {
			t.Fatal(err)
		}
	}
}

func TestReplies(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer trace.PermissionResponse
		want   string
	}{
		"once":              {trace.PermissionResponse{Outcome: trace.Selected, OptionKind: trace.AllowOnce}, `{"reply":"once"}`},
		"always":            {trace.PermissionResponse{Outcome: trace.Selected, OptionKind: trace.AllowAlways}, `{"reply":"once"}`},
		"a no has a reason": {trace.PermissionResponse{Outcome: trace.Selected, OptionKind: trace.RejectOnce, Reason: "not now"}, `{"reply":"reject","message":"not now"}`},
		"a no without a reason does not end the turn": {
			trace.PermissionResponse{Outcome: trace.Selected, OptionKind: trace.RejectOnce}, `{"reply":"reject","message":"it was denied"}`,
		},
		"a no that ends the turn": {trace.PermissionResponse{Outcome: trace.Selected, OptionKind: trace.RejectOnce, Interrupt: true}, `{"reply":"reject"}`},
		"nobody answers":          {trace.PermissionResponse{Outcome: trace.Expired}, `{"reply":"reject","message":"nobody answered in time"}`},
		"another input is not run as it was": {
			trace.PermissionResponse{Outcome: trace.Selected, OptionKind: trace.AllowOnce, UpdatedInput: []byte(`{"command":"ls"}`)},
			`{"reply":"reject","message":"The user wants another input: {\"command\":\"ls\"}"}`,
		},
	} {
		r := agenttest.NewRecorder()
		decoder, turn := opencode.NewDecoder(opencode.Options{}), agenttest.OneTurn(r.Builder)
		begin(t, decoder, turn, "bash", object{"command": "rm x"})
		effects := say(t, decoder, turn, "permission.asked", object{
			"id": "per_1", "permission": "bash", "patterns": []string{"rm x"}, "always": []string{"rm *"}, "metadata": object{"command": "rm x"},
			"tool": object{"messageID": "msg_2", "callID": "c"},
		})
		permit, _ := effects[0].(agent.Permit)
		if got, want := string(permit.Reply(c.answer)), `{"method":"POST","path":"/permission/per_1/reply","body":`+c.want+`}`; got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
		if err := r.Builder.Finish(trace.Stop{Outcome: trace.OutcomeCompleted}); err != nil {
			t.Fatal(err)
		}
	}
}
