package acp_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/adapter/acp"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/policy/permission"
	"github.com/tributary-dev/tributary/policy/permission/permissiontest"
	"github.com/tributary-dev/tributary/policy/toolkind"
	"github.com/tributary-dev/tributary/policy/workspace"
	"github.com/tributary-dev/tributary/trace"
)

// decode hands messages of the agent to a Decoder whose prompt was sent.
func decode(t *testing.T, d *acp.Decoder, b *trace.Builder, messages ...any) []agent.Effect {
	t.Helper()
	var all []agent.Effect
	hand := func(dir agent.Dir, message any) {
		data, err := json.Marshal(message)
		if err != nil {
			t.Fatal(err)
		}
		effects, err := d.Decode(agent.Message{Dir: dir, Data: data}, agenttest.OneTurn(b))
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

// opens tells a Decoder that a session was opened in a directory.
func opens(t *testing.T, d *acp.Decoder, b *trace.Builder, cwd string) {
	t.Helper()
	for _, m := range []agent.Message{
		{Dir: agent.In, Data: json.RawMessage(`{"id":0,"method":"session/new","params":{"cwd":"` + cwd + `"}}`)},
		{Dir: agent.Out, Data: json.RawMessage(`{"id":0,"result":{"sessionId":"s"}}`)},
	} {
		if _, err := d.Decode(m, agenttest.OneTurn(b)); err != nil {
			t.Fatal(err)
		}
	}
}

type object = map[string]any

func toolUpdate(fields object) object {
	return object{"method": "session/update", "params": object{"sessionId": "s", "update": fields}}
}

// TestAttacks plays the attacks on the policy. A path that an agent would expand counts as
// outside. The policy judges the call that is asked about, and that call is on record.
//
//evidence:for promise-workspace
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
		r := agenttest.NewRecorder(func(c *trace.Config) { c.Decide = permissiontest.Judge(d, toolkind.Gemini()) })
		decode(t, acp.NewDecoder(acp.Options{Tools: toolkind.Gemini()}), r.Builder,
			toolUpdate(object{"sessionUpdate": "tool_call", "toolCallId": "c", "name": shown.Tool, "kind": kinds[shown.Tool], "status": "pending", "rawInput": shown.Input}),
			object{"id": "r", "method": "session/request_permission", "params": object{
				"sessionId": "s", "toolCall": object{"toolCallId": "c", "name": asked.Tool, "kind": kinds[asked.Tool], "rawInput": asked.Input},
				"options": []object{{"optionId": "y", "name": "Yes", "kind": "allow_once"}, {"optionId": "n", "name": "No", "kind": "reject_once"}},
			}})
		return agenttest.Allowed(t, r, asked.Tool, asked.Input)
	})
}

// TestThePolicyJudgesAllInputsOfACall plays calls whose places and input
// disagree, or whose input is missing.
func TestThePolicyJudgesAllInputsOfACall(t *testing.T) {
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
			r := agenttest.NewRecorder(func(c *trace.Config) { c.Decide = permissiontest.Judge(d, toolkind.Gemini()) })
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

// TestAnAllowedCallCoversNoMoreThanItsApproval plays agents that use a permission for something
// else: only the files and the command of the call that was allowed are covered.
func TestAnAllowedCallCoversNoMoreThanItsApproval(t *testing.T) {
	t.Parallel()
	d := permissiontest.Workspace(t)
	in := func(path string) string { return d.Path() + "/" + path }
	shown := func(id, name, kind string, input object) object {
		return toolUpdate(object{"sessionUpdate": "tool_call", "toolCallId": id, "name": name, "kind": kind, "status": "pending", "rawInput": input})
	}
	asks := func(id, name, kind string, input object) object {
		return object{"id": "ask-" + id, "method": "session/request_permission", "params": object{
			"sessionId": "s", "toolCall": object{"toolCallId": id, "name": name, "kind": kind, "rawInput": input},
			"options": []object{{"optionId": "y", "kind": "allow_once"}, {"optionId": "a", "kind": "allow_always"}, {"optionId": "n", "kind": "reject_once"}},
		}}
	}
	answer := func(id, option string) object {
		return object{"id": "ask-" + id, "result": object{"outcome": object{"outcome": "selected", "optionId": option}}}
	}
	write := func(path string) object {
		return object{"id": "act", "method": "fs/write_text_file", "params": object{"sessionId": "s", "path": path, "content": "x"}}
	}
	runs := func(command string, more object) object {
		params := object{"sessionId": "s", "command": command}
		maps.Copy(params, more)
		return object{"id": "act", "method": "terminal/create", "params": params}
	}
	edit, list := object{"file_path": in("a.txt"), "content": "x"}, object{"command": "ls"}
	allowedEdit := []object{shown("c", "write_file", "edit", edit), asks("c", "write_file", "edit", edit), answer("c", "y")}
	diff := func(before, after string) object {
		m := asks("c", "write_file", "edit", nil)
		m["params"].(object)["toolCall"].(object)["content"] = []object{{"type": "diff", "path": in("a.txt"), "oldText": before, "newText": after}}
		return m
	}
	beside := func(m, input object) object {
		m["params"].(object)["toolCall"].(object)["rawInput"] = input
		return m
	}
	located := func(m object, path string) object {
		m["params"].(object)["toolCall"].(object)["locations"] = []object{{"path": in(path)}}
		return m
	}
	replaces := func(more object) object {
		input := object{"file_path": in("a.txt"), "old_string": "old", "new_string": "new"}
		maps.Copy(input, more)
		return asks("c", "replace", "edit", input)
	}
	reads := func(path string) object {
		return object{"id": "act", "method": "fs/read_text_file", "params": object{"sessionId": "s", "path": path}}
	}
	into := func(dir, command string, env ...object) object {
		return runs("/bin/bash", object{"args": []string{"-c", "cd '" + dir + "' && " + command}, "cwd": "/w", "env": env})
	}
	writes := func(content string) object {
		m := write(in("a.txt"))
		m["params"].(object)["content"] = content
		return m
	}
	newPrompt := object{"id": 2, "method": "session/prompt", "params": object{"sessionId": "s", "prompt": []any{}}}
	for name, c := range map[string]struct {
		messages []object
		covered  bool
	}{
		"the file of an edit, with another text":     {[]object{shown("c", "write_file", "edit", edit), asks("c", "write_file", "edit", edit), answer("c", "y"), writes("another")}, false},
		"the file of an edit, twice":                 {append(slices.Clone(allowedEdit), write(in("a.txt")), write(in("a.txt"))), false},
		"the file of an edit, after the call":        {append(slices.Clone(allowedEdit), toolUpdate(object{"sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "completed"}), write(in("a.txt"))), false},
		"the file of an edit, in another turn":       {append(slices.Clone(allowedEdit), newPrompt, write(in("a.txt"))), false},
		"the same call in another turn":              {append(slices.Clone(allowedEdit), newPrompt, shown("c", "write_file", "edit", edit), write(in("a.txt"))), false},
		"the text of a diff":                         {[]object{diff("", "x"), answer("c", "y"), write(in("a.txt"))}, true},
		"a text that is not the diff's":              {[]object{diff("", "y"), answer("c", "y"), write(in("a.txt"))}, false},
		"the text with the piece of a diff":          {[]object{diff("old", "new"), answer("c", "y"), writes("an new text, an old file")}, true},
		"the text with all pieces of a diff":         {[]object{diff("old", "new"), answer("c", "y"), writes("an new text, an new file")}, false},
		"all pieces, as the input says":              {[]object{replaces(object{"replace_all": true}), answer("c", "y"), writes("an new text, an new file")}, true},
		"one piece, as the input says":               {[]object{replaces(nil), answer("c", "y"), writes("an new text, an old file")}, true},
		"the old piece alone":                        {[]object{replaces(nil), answer("c", "y"), writes("old")}, false},
		"the new piece alone":                        {[]object{replaces(nil), answer("c", "y"), writes("new")}, false},
		"the new piece of a diff alone":              {[]object{diff("old", "new"), answer("c", "y"), writes("new")}, false},
		"nothing, by a piece":                        {[]object{replaces(nil), answer("c", "y"), writes("")}, false},
		"nothing, by a diff that does not fit":       {[]object{diff("older", ""), answer("c", "y"), writes("")}, false},
		"the description of a piece":                 {[]object{replaces(object{"description": "Fix"}), answer("c", "y"), writes("Fix")}, false},
		"the description of a text":                  {[]object{asks("c", "write_file", "edit", object{"file_path": in("a.txt"), "content": "y", "description": "x"}), answer("c", "y"), writes("x")}, false},
		"a second text of the input":                 {[]object{asks("c", "write_file", "edit", object{"file_path": in("a.txt"), "content": "x", "text": "y"}), answer("c", "y"), writes("x")}, false},
		"an inserted piece alone":                    {[]object{asks("c", "write_file", "edit", object{"path": in("a.txt"), "insert_line": 3, "new_str": "x"}), answer("c", "y"), writes("x")}, false},
		"a diff beside another text":                 {[]object{beside(diff("", "x"), object{"file_path": in("a.txt"), "content": "harmless"}), answer("c", "y"), writes("x")}, false},
		"the text beside another diff":               {[]object{beside(diff("", "y"), object{"file_path": in("a.txt"), "content": "x"}), answer("c", "y"), writes("x")}, true},
		"a location that the input does not name":    {[]object{located(asks("c", "write_file", "edit", edit), "sub/b.txt"), answer("c", "y"), write(in("sub/b.txt"))}, false},
		"a location of an input without a path":      {[]object{located(asks("c", "write_file", "edit", object{"content": "x"}), "a.txt"), answer("c", "y"), write(in("a.txt"))}, false},
		"a second path of the input":                 {[]object{asks("c", "write_file", "edit", object{"file_path": in("a.txt"), "target_file": in("sub/b.txt"), "content": "x"}), answer("c", "y"), write(in("a.txt"))}, false},
		"a read of a location beside the input":      {[]object{located(asks("c", "read_file", "read", object{"absolute_path": in("a.txt")}), "sub/b.txt"), answer("c", "y"), reads(in("sub/b.txt"))}, false},
		"the command under a key in capital letters": {[]object{asks("c", "run_shell_command", "execute", object{"command": "ls", "Command": "id"}), answer("c", "y"), runs("id", nil)}, false},
		"a diff beside an input without text":        {[]object{beside(diff("", "x"), object{"file_path": in("a.txt")}), answer("c", "y"), writes("x")}, true},
		"a text with more than the piece":            {[]object{diff("old", "new"), answer("c", "y"), writes("an new text, an old file, and more")}, false},
		"a text without the piece of a diff":         {[]object{diff("old", ""), answer("c", "y"), writes("another text")}, false},
		"a text without the deleted piece":           {[]object{diff("an old text, ", ""), answer("c", "y"), writes("an old file")}, true},
		"the file of a read":                         {[]object{asks("c", "read_file", "read", object{"absolute_path": in("a.txt")}), answer("c", "y"), reads(in("a.txt"))}, true},
		"another file than that of a read":           {[]object{asks("c", "read_file", "read", object{"absolute_path": in("a.txt")}), answer("c", "y"), reads(in("sub/b.txt"))}, false},
		"a read by the permission to edit":           {append(slices.Clone(allowedEdit), reads(in("a.txt"))), false},
		"a write by the permission to delete":        {[]object{asks("c", "remove", "delete", object{"file_path": in("a.txt"), "content": "x"}), answer("c", "y"), write(in("a.txt"))}, false},
		"the command, twice":                         {[]object{asks("c", "run_shell_command", "execute", list), answer("c", "y"), runs("ls", nil), runs("ls", nil)}, false},
		"the command in another directory":           {[]object{asks("c", "run_shell_command", "execute", list), answer("c", "y"), runs("ls", object{"cwd": "/w/sub"})}, false},
		"the command by a shell that goes there":     {[]object{asks("c", "run_shell_command", "execute", list), answer("c", "y"), into("/w", "ls")}, true},
		"the command by a shell that goes elsewhere": {[]object{asks("c", "run_shell_command", "execute", list), answer("c", "y"), into("/etc", "ls")}, false},
		"another command by a shell that goes there": {[]object{asks("c", "run_shell_command", "execute", list), answer("c", "y"), into("/w", "id; ls")}, false},
		"the command without colours":                {[]object{asks("c", "run_shell_command", "execute", list), answer("c", "y"), into("/w", "ls", object{"name": "TERM", "value": "dumb"})}, true},
		"the command with a terminal from a file":    {[]object{asks("c", "run_shell_command", "execute", list), answer("c", "y"), into("/w", "ls", object{"name": "TERM", "value": "../evil"})}, false},
		"the command with a shell of the agent":      {[]object{asks("c", "run_shell_command", "execute", list), answer("c", "y"), into("/w", "ls", object{"name": "SHELL", "value": "/tmp/sh"})}, false},
		"the file of an edit":                        {[]object{shown("c", "write_file", "edit", edit), asks("c", "write_file", "edit", edit), answer("c", "y"), write(in("a.txt"))}, true},
		"another file":                               {[]object{shown("c", "write_file", "edit", edit), asks("c", "write_file", "edit", edit), answer("c", "y"), write(in("sub/b.txt"))}, false},
		"an edit that was denied":                    {[]object{shown("c", "write_file", "edit", edit), asks("c", "write_file", "edit", edit), answer("c", "n"), write(in("a.txt"))}, false},
		"nothing was asked":                          {[]object{shown("c", "write_file", "edit", edit), write(in("a.txt"))}, false},
		"a write by the permission to read":          {[]object{asks("c", "read_file", "read", object{"absolute_path": in("a.txt")}), answer("c", "y"), write(in("a.txt"))}, false},
		"a file that was shown later":                {[]object{asks("c", "write_file", "edit", edit), answer("c", "y"), shown("c", "write_file", "edit", object{"file_path": in("sub/b.txt")}), write(in("sub/b.txt"))}, false},
		"an edit by a tool allowed for good":         {[]object{asks("c", "write_file", "edit", edit), answer("c", "a"), shown("e", "write_file", "edit", object{"file_path": in("sub/b.txt")}), write(in("sub/b.txt"))}, false},
		"the command":                                {[]object{asks("c", "run_shell_command", "execute", list), answer("c", "y"), runs("ls", nil)}, true},
		"the command by a shell":                     {[]object{asks("c", "run_shell_command", "execute", list), answer("c", "y"), runs("/bin/bash", object{"args": []string{"-c", "ls"}})}, true},
		"another command":                            {[]object{asks("c", "run_shell_command", "execute", list), answer("c", "y"), runs("id", nil)}, false},
		"a command that was shown later":             {[]object{asks("c", "run_shell_command", "execute", list), answer("c", "y"), shown("c", "run_shell_command", "execute", object{"command": "id"}), runs("id", nil)}, false},
		"the command with a path of its own":         {[]object{asks("c", "run_shell_command", "execute", list), answer("c", "y"), runs("ls", object{"env": []object{{"name": "PATH", "value": "/tmp"}}})}, false},
		"a shell that is a file of the agent":        {[]object{asks("c", "run_shell_command", "execute", list), answer("c", "y"), runs("./bash", object{"args": []string{"-c", "ls"}})}, false},
		"a program with a space in its name":         {[]object{asks("c", "run_shell_command", "execute", object{"command": "git x"}), answer("c", "y"), runs("git x", object{"args": []string{}})}, true},
		"a program whose name looks so":              {[]object{asks("c", "run_shell_command", "execute", object{"command": "git x y"}), answer("c", "y"), runs("git x", object{"args": []string{"y"}})}, false},
		"a command by a read":                        {[]object{asks("c", "read_file", "read", object{"absolute_path": in("a.txt"), "command": "id"}), answer("c", "y"), runs("id", nil)}, false},
		"the same command allowed for good": {[]object{
			asks("c", "run_shell_command", "execute", list), answer("c", "a"), shown("e", "run_shell_command", "execute", list), runs("ls", nil),
		}, true},
		"another command by a tool allowed for good": {[]object{
			asks("c", "run_shell_command", "execute", list), answer("c", "a"), shown("e", "run_shell_command", "execute", object{"command": "id"}), runs("id", nil),
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := agenttest.NewRecorder()
			decoder := acp.NewDecoder(acp.Options{Tools: toolkind.Gemini()}.Live("an old text, an old file"))
			var last []agent.Effect
			for i, m := range c.messages {
				data, err := json.Marshal(m)
				if err != nil {
					t.Fatal(err)
				}
				dir := agent.Out
				if m["result"] != nil || m["method"] == "session/prompt" {
					dir = agent.In
				}
				if i == 0 {
					opens(t, decoder, r.Builder, "/w")
					decode(t, decoder, r.Builder)
				}
				if m["method"] == "session/prompt" {
					r.Builder.End(trace.Stop{})
					_ = r.Builder.Finish(trace.Stop{})
					r = agenttest.NewRecorder(func(c *trace.Config) { c.Turn = "another" })
				}
				if last, err = decoder.Decode(agent.Message{Dir: dir, Data: data}, agenttest.OneTurn(r.Builder)); err != nil {
					t.Fatal(err)
				}
			}
			if err := r.Builder.Finish(trace.Stop{Outcome: trace.OutcomeCompleted}); err != nil {
				t.Fatal(err)
			}
			permit, ok := last[len(last)-1].(agent.Permit)
			if got := ok && permit.Decided != nil && permit.Decided.Allowed(); got != c.covered {
				t.Errorf("covered: %v, %+v", got, last)
			}
		})
	}
}

func TestTheContentOfAFileIsWholeOrNotKnown(t *testing.T) {
	t.Parallel()
	d := permissiontest.Workspace(t)
	for name, size := range map[string]int{"none.txt": -1, "empty.txt": 0, "longest.txt": workspace.MaxRead, "longer.txt": workspace.MaxRead + 1} {
		path := filepath.Join(d.Path(), name)
		want := strings.Repeat("x", max(0, size))
		if size >= 0 {
			if err := os.WriteFile(path, []byte(want), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if text, whole := acp.ContentOf(d, path); whole != (size <= workspace.MaxRead) || whole && text != want {
			t.Errorf("%s: %d bytes, as a whole: %v", name, len(text), whole)
		}
	}
}

// A file that cannot be read as a whole may hold what no diff shows.
func TestAnEditOfAFileThatIsTooLongCoversNoWrite(t *testing.T) {
	t.Parallel()
	d := permissiontest.Workspace(t)
	r := agenttest.NewRecorder()
	decoder := acp.NewDecoder(acp.Options{Tools: toolkind.Gemini()}.LiveTooLong())
	opens(t, decoder, r.Builder, "/w")
	decode(t, decoder, r.Builder, object{"id": "ask", "method": "session/request_permission", "params": object{
		"sessionId": "s", "options": []object{{"optionId": "y", "kind": "allow_once"}},
		"toolCall": object{"toolCallId": "c", "name": "replace", "kind": "edit", "content": []object{{"type": "diff", "path": d.Path() + "/a.txt", "oldText": "old", "newText": "new"}}},
	}})
	if _, err := decoder.Decode(agent.Message{Dir: agent.In, Data: json.RawMessage(`{"id":"ask","result":{"outcome":{"outcome":"selected","optionId":"y"}}}`)}, agenttest.OneTurn(r.Builder)); err != nil {
		t.Fatal(err)
	}
	for i, content := range []string{"", "new"} {
		data, err := json.Marshal(object{"id": i, "method": "fs/write_text_file", "params": object{"sessionId": "s", "path": d.Path() + "/a.txt", "content": content}})
		if err != nil {
			t.Fatal(err)
		}
		effects, err := decoder.Decode(agent.Message{Dir: agent.Out, Data: data}, agenttest.OneTurn(r.Builder))
		if err != nil {
			t.Fatal(err)
		}
		if permit, ok := effects[len(effects)-1].(agent.Permit); !ok || permit.Decided != nil {
			t.Errorf("a write of %q is covered: %+v", content, effects)
		}
	}
	_ = r.Builder.Finish(trace.Stop{Outcome: trace.OutcomeCompleted})
}

// What an answer covers is on record: the diffs of a call whose input does not say what changes.
func TestTheDiffsOfACallAreInItsInput(t *testing.T) {
	t.Parallel()
	const diff = `[{"newText":"new","oldText":"old","path":"/w/a.txt"}]`
	for given, want := range map[string]string{
		``:                                 `{"newText":"new","oldText":"old","path":"/w/a.txt"}`,
		`{ }`:                              `{"newText":"new","oldText":"old","path":"/w/a.txt"}`,
		`{"file_path":"/w/a.txt"}`:         `{"file_path":"/w/a.txt","changes":` + diff + `}`,
		`"a patch"`:                        `{"changes":` + diff + `,"input":"a patch"}`,
		`{"changes":1}`:                    `{"changes":1,"changes_shown":` + diff + `}`,
		`{"path":"a.txt","content":"new"}`: `{"path":"a.txt","content":"new"}`,
	} {
		r := agenttest.NewRecorder()
		call := object{"toolCallId": "c", "name": "edit", "kind": "edit", "content": []object{{"type": "diff", "path": "/w/a.txt", "oldText": "old", "newText": "new"}}}
		if given != "" {
			call["rawInput"] = json.RawMessage(given)
		}
		decode(t, acp.NewDecoder(acp.Options{}), r.Builder, object{"id": 7, "method": "session/request_permission", "params": object{
			"sessionId": "s", "toolCall": call, "options": []object{{"optionId": "y", "kind": "allow_once"}},
		}})
		_ = r.Builder.Finish(trace.Stop{Outcome: trace.OutcomeCompleted})
		calls := agenttest.Each[trace.ToolCall](r.Events())
		if len(calls) != 1 || string(calls[0].Input) != want {
			t.Errorf("of the input %s: %s, want %s", given, calls[0].Input, want)
		}
	}
}

// A request with another diff than the call that stands on record puts the other diff on record.
func TestTheDiffOfARequestIsOnRecord(t *testing.T) {
	t.Parallel()
	diff := func(text string) []object {
		return []object{{"type": "diff", "path": "/w/a.txt", "oldText": "", "newText": text}}
	}
	for name, raw := range map[string]any{"no input": nil, "the input again": object{"file_path": "/w/a.txt"}} {
		r := agenttest.NewRecorder()
		shown := object{"sessionUpdate": "tool_call", "toolCallId": "c", "name": "edit", "kind": "edit", "status": "in_progress", "rawInput": object{"file_path": "/w/a.txt"}, "content": diff("GOOD")}
		asked := object{"toolCallId": "c", "content": diff("EVIL")}
		if raw != nil {
			asked["rawInput"] = raw
		}
		decode(t, acp.NewDecoder(acp.Options{}), r.Builder, toolUpdate(shown), object{"id": 7, "method": "session/request_permission", "params": object{
			"sessionId": "s", "toolCall": asked, "options": []object{{"optionId": "y", "kind": "allow_once"}},
		}})
		_ = r.Builder.Finish(trace.Stop{Outcome: trace.OutcomeCompleted})
		calls := agenttest.Each[trace.ToolCall](r.Events())
		if len(calls) == 0 || !strings.Contains(string(calls[len(calls)-1].Input), "EVIL") {
			t.Errorf("%s: the calls on record are %+v", name, calls)
		}
	}
}

// TestACommandForATerminalIsOnRecordAsItRuns: a person sees the environment, and where one
// word ends.
func TestACommandForATerminalIsOnRecordAsItRuns(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		params object
		title  string
		input  string
	}{
		"words":          {object{"command": "git", "args": []string{"log", "a b"}}, "Run `git log 'a b'`", `{"command":"git log 'a b'","cwd":""}`},
		"a line":         {object{"command": "git log; id", "env": []object{}}, "Run `git log; id`", `{"command":"git log; id","cwd":""}`},
		"a strange name": {object{"command": "git /../evil", "args": []string{"log"}}, "Run `'git /../evil' log`", `{"command":"'git /../evil' log","cwd":""}`},
		"an environment": {
			object{"command": "git", "args": []string{"log"}, "env": []object{{"name": "PATH", "value": "."}}},
			"Run `git log`, with variables of its own",
			`{"command":"git log","cwd":"","env":[{"name":"PATH","value":"."}]}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := agenttest.NewRecorder()
			decode(t, acp.NewDecoder(acp.Options{}), r.Builder, object{"id": 3, "method": "terminal/create", "params": c.params})
			if err := r.Builder.Finish(trace.Stop{Outcome: trace.OutcomeCompleted}); err != nil {
				t.Fatal(err)
			}
			call := agenttest.Each[trace.ToolCall](r.Events())[0]
			if call.Title != c.title || !agenttest.SameJSON(call.Input, json.RawMessage(c.input)) {
				t.Errorf("%s: %s", call.Title, call.Input)
			}
		})
	}
}

// TestAnAlwaysIsKeptByTheGateway: the agent hears of an "always" that it may run the call once. It
// asks again, and the grants of the gateway answer. A rule that asks is asked, and so is a write for
// which the agent does not ask. All of it is on record.
func TestAnAlwaysIsKeptByTheGateway(t *testing.T) {
	t.Parallel()
	d := permissiontest.Workspace(t)
	scope := permission.Scope{Contains: d.Contains, Resolve: d.Resolve, Tools: toolkind.Gemini()}
	edits := []trace.ToolKind{trace.ToolEdit}
	policy := permission.Policy{Rules: []permission.Rule{{Kinds: edits, Paths: []string{"no/**"}, Then: permission.Deny}, {Kinds: edits, Paths: []string{"sub/**"}, Then: permission.Ask}}}
	for name, c := range map[string]struct {
		path      string
		asks      bool
		decidedBy string // of the request; "" for a person
		written   bool   // without a person
	}{
		"a call that the grant covers":          {"/b.txt", true, permission.ByGrant, true},
		"a call for which a rule asks":          {"/sub/b.txt", true, "", false},
		"a call that a rule denies":             {"/no/b.txt", true, permission.By, false},
		"a write of which the agent only tells": {"/b.txt", false, "", false},
		"likewise, where a rule asks":           {"/sub/b.txt", false, "", false},
		"likewise, where a rule denies":         {"/no/b.txt", false, permission.By, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var grant permission.Grant
			r := agenttest.NewRecorder(func(c *trace.Config) {
				c.Decide = func(r trace.PermissionRequest, call trace.ToolCall) (trace.PermissionResponse, bool) {
					if answer, decided := policy.Decide(r, call, scope); decided {
						return answer, true
					}
					if grant.Covers(call, policy, scope, time.Time{}) {
						return grant.Answer(r)
					}
					grant = policy.Grant(call, scope)
					return trace.PermissionResponse{}, false
				}
			})
			decoder := acp.NewDecoder(acp.Options{Tools: toolkind.Gemini()}.Live(""))
			takes := func(dir agent.Dir, m any) agent.Permit {
				data, err := json.Marshal(m)
				if err != nil {
					t.Fatal(err)
				}
				effects, err := decoder.Decode(agent.Message{Dir: dir, Data: data}, agenttest.OneTurn(r.Builder))
				if err != nil {
					t.Fatal(err)
				}
				permit, _ := append(effects, nil)[0].(agent.Permit)
				return permit
			}
			asks := func(path string) agent.Permit {
				return takes(agent.Out, object{"id": path, "method": "session/request_permission", "params": object{
					"sessionId": "s", "options": []object{{"optionId": "a", "kind": "allow_always"}, {"optionId": "y", "kind": "allow_once"}, {"optionId": "n", "kind": "reject_once"}},
					"toolCall": object{"toolCallId": path, "name": "write_file", "kind": "edit", "rawInput": object{"file_path": d.Path() + path, "content": "x"}},
				}})
			}
			decode(t, decoder, r.Builder)
			first := asks("/a.txt")
			always := trace.PermissionResponse{RequestID: first.RequestID, Outcome: trace.Selected, ChosenOption: "a", OptionKind: trace.AllowAlways, By: "ada"}
			r.Builder.PermissionResponse(always)
			reply := first.Reply(always)
			if !strings.Contains(string(reply), `"optionId":"y"`) {
				t.Errorf("the agent gets %s", reply)
			}
			takes(agent.In, reply)
			if c.asks {
				if asked := asks(c.path); asked.Decided != nil {
					takes(agent.In, asked.Reply(*asked.Decided))
				}
			} else {
				takes(agent.Out, toolUpdate(object{"sessionUpdate": "tool_call", "toolCallId": c.path, "name": "write_file", "kind": "edit", "rawInput": object{"file_path": d.Path() + c.path, "content": "x"}}))
			}
			act := takes(agent.Out, object{"id": "act", "method": "fs/write_text_file", "params": object{"sessionId": "s", "path": d.Path() + c.path, "content": "x"}})
			if err := r.Builder.Finish(trace.Stop{Outcome: trace.OutcomeCompleted}); err != nil {
				t.Fatal(err)
			}
			requests := agenttest.Each[trace.PermissionRequest](r.Events())
			if written := act.Decided != nil && act.Decided.Allowed(); written != c.written || len(requests) < 2 || requests[1].DecidedBy != c.decidedBy {
				t.Errorf("the gateway writes unasked: %v; on record %+v", written, requests)
			}
			responses := agenttest.Each[trace.PermissionResponse](r.Events())
			if granted := responses[len(responses)-1].By == permission.ByGrant; granted != (c.decidedBy == permission.ByGrant) {
				t.Errorf("the responses are %+v", responses)
			}
		})
	}
}

// A model may choose the id of a call, and a title may be a command. A name that is guessed
// from them never makes a call look more harmless than the agent says: neither its kind nor
// its name is one that a rule allows.
func TestAGuessedNameNeverLowersTheStatedKind(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		id, title    string
		early, asked string // the kinds that the agent states
		name         string
		kind         trace.ToolKind
	}{
		{"read_file-1", "rm -rf x", "execute", "execute", "execute", trace.ToolExecute},
		{"read_file__c1", "rm -rf x", "execute", "", "execute", trace.ToolExecute},
		{"read_file-1", "rm -rf x", "", "execute", "execute", trace.ToolExecute},
		{"read_file-1", "rm -rf x", "read", "execute", "execute", trace.ToolExecute},
		{"c1", "read_file", "execute", "execute", "execute", trace.ToolExecute},
		{"c1", "glob", "edit", "", "edit", trace.ToolEdit},
		{"read_file-1", "x", "other", "", "other", trace.ToolOther},
		{"read_file-1", "x", "", "", "tool", trace.ToolOther},
		{"read_file-1", "x", "read", "read", "read_file", trace.ToolRead},
		{"google_web_search-1", "x", "search", "", "google_web_search", trace.ToolFetch}, // the table knows better
		{"craft-1", "x", "execute", "", "craft", trace.ToolExecute},
	} {
		judged := trace.ToolCall{}
		r := agenttest.NewRecorder(func(cfg *trace.Config) {
			cfg.Decide = func(_ trace.PermissionRequest, call trace.ToolCall) (trace.PermissionResponse, bool) {
				judged = call
				return trace.PermissionResponse{}, false
			}
		})
		fields := func(kind string) object {
			f := object{"sessionUpdate": "tool_call", "toolCallId": c.id, "title": c.title, "status": "pending", "rawInput": object{"command": "rm -rf x"}}
			if kind != "" {
				f["kind"] = kind
			}
			return f
		}
		decode(t, acp.NewDecoder(acp.Options{Tools: toolkind.Gemini()}), r.Builder, toolUpdate(fields(c.early)),
			object{"id": "r", "method": "session/request_permission", "params": object{"sessionId": "s", "toolCall": fields(c.asked), "options": []object{{"optionId": "y", "name": "Yes", "kind": "allow_once"}}}})
		if judged.RawName != c.name || judged.Name != c.name || judged.ToolKind != c.kind {
			t.Errorf("%+v is judged as %s (%s), of the kind %s", c, judged.RawName, judged.Name, judged.ToolKind)
		}
		_ = r.Finish(trace.Stop{Outcome: trace.OutcomeCompleted})
	}
}
