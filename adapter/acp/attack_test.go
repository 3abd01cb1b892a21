package acp_test

import (
	"encoding/json"
	"testing"

	"github.com/tributary-dev/tributary/adapter/acp"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/permission/permissiontest"
	"github.com/tributary-dev/tributary/toolkind"
	"github.com/tributary-dev/tributary/trace"
)

// oneTurn gives a Decoder one turn.
type oneTurn struct{ b *trace.Builder }

func (t oneTurn) Prompted(trace.Prompt) *trace.Builder { return t.b }
func (t oneTurn) Begin(agent.TurnInfo) *trace.Builder  { return t.b }
func (t oneTurn) Current() *trace.Builder              { return t.b }
func (t oneTurn) Note(trace.Payload)                   {}

// decode hands messages of the agent to a Decoder whose prompt was sent.
func decode(t *testing.T, d *acp.Decoder, b *trace.Builder, messages ...any) []agent.Effect {
	t.Helper()
	var all []agent.Effect
	hand := func(dir agent.Dir, message any) {
		data, err := json.Marshal(message)
		if err != nil {
			t.Fatal(err)
		}
		effects, err := d.Decode(agent.Message{Dir: dir, Data: data}, oneTurn{b})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, effects...)
	}
	hand(agent.In, map[string]any{"id": 1, "method": "session/prompt", "params": map[string]any{"sessionId": "s", "prompt": []any{}}})
	all = nil
	for _, m := range messages {
		hand(agent.Out, m)
	}
	return all
}

type object = map[string]any

func toolUpdate(fields object) object {
	return object{"method": "session/update", "params": object{"sessionId": "s", "update": fields}}
}

// TestAttacks plays the attacks on the policy: no path that an agent would expand is
// taken for one in the workspace, the policy judges what is asked, and what is asked is
// on record.
func TestAttacks(t *testing.T) {
	t.Parallel()
	d := permissiontest.Workspace(t)
	kinds := map[string]string{"read_file": "read", "write_file": "edit", "glob": "search", "search_file_content": "search", "run_shell_command": "execute"}
	permissiontest.Play(t, d, permissiontest.Dialect{
		permissiontest.Read:   {Name: "read_file", Keys: map[string]string{"path": "absolute_path", "second": "path"}},
		permissiontest.Edit:   {Name: "write_file", Keys: map[string]string{"path": "file_path", "content": "content"}},
		permissiontest.Find:   {Name: "glob", Keys: map[string]string{"path": "path", "pattern": "pattern"}},
		permissiontest.Search: {Name: "search_file_content", Keys: map[string]string{"path": "path", "expression": "pattern", "glob": "include"}},
		permissiontest.Run:    {Name: "run_shell_command", Keys: map[string]string{"command": "command"}},
	}, func(t *testing.T, shown, asked permissiontest.Call) bool {
		r := agenttest.NewRecorder(func(c *trace.Config) { c.Judge = permissiontest.Judge(d, toolkind.Gemini()) })
		decode(t, acp.NewDecoder(acp.Options{Tools: toolkind.Gemini()}), r.Builder,
			toolUpdate(object{"sessionUpdate": "tool_call", "toolCallId": "c", "name": shown.Tool, "kind": kinds[shown.Tool], "status": "pending", "rawInput": shown.Input}),
			object{"id": "r", "method": "session/request_permission", "params": object{
				"sessionId": "s", "toolCall": object{"toolCallId": "c", "name": asked.Tool, "kind": kinds[asked.Tool], "rawInput": asked.Input},
				"options": []object{{"optionId": "y", "name": "Yes", "kind": "allow_once"}, {"optionId": "n", "name": "No", "kind": "reject_once"}},
			}})
		if err := r.Builder.Finish(trace.Stop{Outcome: trace.OutcomeCompleted}); err != nil {
			t.Fatal(err)
		}
		calls := agenttest.Each[trace.ToolCall](r.Events())
		if last := calls[len(calls)-1]; last.RawName != asked.Tool || !equalJSON(last.Input, asked.Input) {
			t.Errorf("asked was %s %s, on record is %s %s", asked.Tool, asked.Input, last.RawName, last.Input)
		}
		answers := agenttest.Each[trace.PermissionResponse](r.Events())
		return len(answers) > 0 && answers[0].Allowed()
	})
}

// equalJSON compares but for space.
func equalJSON(a, b json.RawMessage) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && string(x) == string(y)
}

// TestThePolicyJudgesAllThatAnAgentSaysOfACall plays calls whose places and input
// disagree, or whose input is missing.
func TestThePolicyJudgesAllThatAnAgentSaysOfACall(t *testing.T) {
	t.Parallel()
	d := permissiontest.Workspace(t)
	in := func(path string) string { return d.Path() + "/" + path }
	diff := func(path string) []object {
		return []object{{"type": "diff", "path": path, "oldText": "a", "newText": "it's $HOME/x"}}
	}
	at := func(path string) []object { return []object{{"path": path}} }
	for name, c := range map[string]struct {
		shown, asked object
		allowed      bool
	}{
		"a diff inside":                        {nil, object{"content": diff(in("a.txt")), "locations": at(in("a.txt"))}, true},
		"a diff outside":                       {nil, object{"content": diff("/etc/passwd"), "locations": at(in("a.txt"))}, false},
		"a place outside":                      {nil, object{"content": diff(in("a.txt")), "locations": at("/etc/passwd")}, false},
		"an input outside, a place inside":     {nil, object{"rawInput": object{"file_path": "/etc/passwd"}, "locations": at(in("a.txt"))}, false},
		"shown with a place outside":           {object{"locations": at("/etc/passwd"), "rawInput": object{}}, object{"content": diff(in("a.txt")), "locations": at(in("a.txt"))}, false},
		"shown with a diff outside":            {object{"content": diff("/etc/passwd")}, object{"locations": at(in("a.txt"))}, false},
		"asked with less than was shown":       {object{"rawInput": object{"file_path": in("a.txt"), "also": "/etc/passwd"}}, object{"rawInput": object{"file_path": in("a.txt")}}, false},
		"asked with another spelling of a key": {object{"rawInput": object{"file_path": in("a.txt"), "content": "x"}}, object{"rawInput": object{"filePath": in("a.txt")}}, true},
		"nothing is known of it":               {nil, object{"title": "Edit a file"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := agenttest.NewRecorder(func(c *trace.Config) { c.Judge = permissiontest.Judge(d, toolkind.Gemini()) })
			decoder := acp.NewDecoder(acp.Options{Tools: toolkind.Gemini()})
			var messages []any
			if c.shown != nil {
				c.shown["sessionUpdate"], c.shown["toolCallId"], c.shown["kind"], c.shown["status"], c.shown["name"] = "tool_call", "c", "edit", "pending", "write_file"
				messages = append(messages, toolUpdate(c.shown))
			}
			c.asked["toolCallId"], c.asked["kind"], c.asked["name"] = "c", "edit", "write_file"
			decode(t, decoder, r.Builder, append(messages, object{"id": 7, "method": "session/request_permission", "params": object{
				"sessionId": "s", "toolCall": c.asked, "options": []object{{"optionId": "y", "kind": "allow_once"}, {"optionId": "n", "kind": "reject_once"}},
			}})...)
			if err := r.Builder.Finish(trace.Stop{Outcome: trace.OutcomeCompleted}); err != nil {
				t.Fatal(err)
			}
			answers := agenttest.Each[trace.PermissionResponse](r.Events())
			if got := len(answers) > 0 && answers[0].Allowed(); got != c.allowed {
				t.Errorf("the policy allows it: %v; %+v", got, agenttest.Each[trace.ToolCall](r.Events()))
			}
		})
	}
}
