package permission_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/policy/permission"
	"github.com/tributary-dev/tributary/policy/toolkind"
	"github.com/tributary-dev/tributary/trace"
)

func options() []trace.PermissionOption {
	return []trace.PermissionOption{
		{ID: "1", Name: "Always", OptionKind: trace.AllowAlways},
		{ID: "2", Name: "Yes", OptionKind: trace.AllowOnce},
		{ID: "3", Name: "Never", OptionKind: trace.RejectAlways},
		{ID: "4", Name: "No", OptionKind: trace.RejectOnce},
	}
}

// inside is a workspace at /project, without links.
func inside(path string) bool {
	if !filepath.IsAbs(path) {
		path = filepath.Join("/project", path)
	}
	path = filepath.Clean(path)
	return path == "/project" || strings.HasPrefix(path, "/project/")
}

func toolCall(kind trace.ToolKind, name string, paths ...string) trace.ToolCall {
	c := trace.ToolCall{ToolCallID: "c", RawName: name, Name: name, ToolKind: kind}
	fields := map[string]string{}
	for i, p := range paths {
		c.Locations = append(c.Locations, trace.Location{Path: p})
		fields[[]string{"file_path", "path"}[i]] = p
	}
	c.Input, _ = json.Marshal(fields)
	return c
}

//evidence:for promise-workspace
func TestJudge(t *testing.T) {
	t.Parallel()
	careful := permission.Policy{Rules: []permission.Rule{
		{Tool: "mcp__*", Then: permission.Deny, Reason: "no MCP here"},
		{Tool: "Read", Inside: true, Then: permission.Ask},
		{Kinds: []trace.ToolKind{trace.ToolRead, trace.ToolThink}, Then: permission.Allow},
		{Kinds: []trace.ToolKind{trace.ToolExecute}, Then: permission.Deny},
	}}
	for _, c := range []struct {
		name   string
		policy permission.Policy
		call   trace.ToolCall
		want   string // the option, or "" when somebody has to be asked
	}{
		{"read inside", permission.Default(), toolCall(trace.ToolRead, "Read", "a.go"), "2"},
		{"search inside, absolute", permission.Default(), toolCall(trace.ToolSearch, "Grep", "/project/a", "/project"), "2"},
		{"read outside", permission.Default(), toolCall(trace.ToolRead, "Read", "/etc/passwd"), ""},
		{"read above", permission.Default(), toolCall(trace.ToolRead, "Read", "../x"), ""},
		{"mixed", permission.Default(), toolCall(trace.ToolRead, "Read", "a.go", "/etc/passwd"), ""},
		{"no locations", permission.Default(), toolCall(trace.ToolRead, "Read"), ""},
		{"edit inside", permission.Default(), toolCall(trace.ToolEdit, "Edit", "a.go"), ""},
		{"execute", permission.Default(), toolCall(trace.ToolExecute, "Bash"), ""},
		{"no kind", permission.Default(), toolCall("", "Read", "a.go"), ""},
		{"a sibling of the workspace", permission.Default(), toolCall(trace.ToolRead, "Read", "/projectshop/a"), ""},
		{"no rules", permission.Policy{}, toolCall(trace.ToolRead, "Read", "a.go"), ""},
		{"denied by name before allowed by kind", careful, toolCall(trace.ToolRead, "mcp__x__read", "a.go"), "4"},
		{"asked before allowed", careful, toolCall(trace.ToolRead, "Read", "a.go"), ""},
		{"allowed since outside does not match ask", careful, toolCall(trace.ToolRead, "Read", "/etc/passwd"), "2"},
		{"second kind of a rule", careful, toolCall(trace.ToolThink, "Plan"), "2"},
		{"denied by kind", careful, toolCall(trace.ToolExecute, "Bash"), "4"},
		{"nothing matches", careful, toolCall(trace.ToolFetch, "Fetch"), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := trace.PermissionRequest{RequestID: "r", ToolCallID: "c", Options: options()}
			answer, decided := c.policy.Decide(r, c.call, permission.Scope{Contains: inside, Tools: toolkind.Claude()})
			if decided != (c.want != "") || answer.ChosenOption != c.want {
				t.Fatalf("decided %v with option %q, want %q", decided, answer.ChosenOption, c.want)
			}
			if decided && (answer.RequestID != "r" || answer.By != permission.By || answer.Outcome != trace.Selected) {
				t.Errorf("the answer %+v is not the policy's to this request", answer)
			}
			if answer.Allowed() != (c.want == "2") {
				t.Errorf("Allowed is %v", answer.Allowed())
			}
			if c.want == "4" && answer.Reason == "" {
				t.Errorf("the refusal has no reason")
			}
		})
	}
}

func TestJudgeWithoutWorkspace(t *testing.T) {
	t.Parallel()
	r := trace.PermissionRequest{RequestID: "r", Options: options()}
	if _, decided := permission.Default().Decide(r, toolCall(trace.ToolRead, "Read", "a.go"), permission.Scope{}); decided {
		t.Error("a file was taken to be inside of no workspace")
	}
}

// The policy never grants "always", and a denial needs no option.
func TestJudgeOptions(t *testing.T) {
	t.Parallel()
	always := []trace.PermissionOption{{ID: "1", Name: "Always", OptionKind: trace.AllowAlways}}
	r := trace.PermissionRequest{RequestID: "r", Options: always}
	allow := permission.Policy{Rules: []permission.Rule{{Then: permission.Allow}}}
	if answer, decided := allow.Decide(r, trace.ToolCall{}, permission.Scope{}); decided {
		t.Errorf("the policy granted %+v", answer)
	}
	deny := permission.Policy{Rules: []permission.Rule{{Then: permission.Deny}}}
	answer, decided := deny.Decide(r, trace.ToolCall{}, permission.Scope{})
	if !decided || answer.Allowed() || answer.Outcome != trace.Canceled {
		t.Errorf("a denial without an option to deny is %+v, %v", answer, decided)
	}
	answer, decided = allow.Decide(trace.PermissionRequest{}, trace.ToolCall{}, permission.Scope{})
	if !decided || !answer.Allowed() {
		t.Errorf("a request without options was answered with %+v, %v", answer, decided)
	}
}

func TestToolPattern(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pattern, name string
		want          bool
	}{
		{"Bash", "Bash", true},
		{"Bash", "bash", false},
		{"Bash", "BashOutput", false},
		{"*", "", true},
		{"?", "", false},
		{"mcp__*", "mcp__a/b c", true},
		{"*__read", "mcp__x__read", true},
		{"*__read", "mcp__x__read__all", false},
		{"a*b*c", "a1b2b3c", true},
		{"a*b*c", "a1c2b", false},
		{"a?c", "aéc", true},
		{"[a]", "[a]", true},
		{strings.Repeat("*a", 40), strings.Repeat("a", 5000) + "b", false},
	} {
		p := permission.Policy{Rules: []permission.Rule{{Tool: c.pattern, Then: permission.Allow}}}
		if _, got := p.Decide(trace.PermissionRequest{}, toolCall(trace.ToolOther, c.name), permission.Scope{}); got != c.want {
			t.Errorf("%.40q matches %.40q: %v, want %v", c.pattern, c.name, got, c.want)
		}
	}
}

func TestValidate(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		rule permission.Rule
		want string
	}{
		{permission.Rule{Then: permission.Ask}, ""},
		{permission.Rule{Kinds: []trace.ToolKind{trace.ToolRead}, Then: permission.Deny}, ""},
		{permission.Rule{}, `rule 2 says ""`},
		{permission.Rule{Then: "maybe"}, `rule 2 says "maybe"`},
		{permission.Rule{Kinds: []trace.ToolKind{"reed"}, Then: permission.Allow}, `rule 2 has the tool kind "reed"`},
	} {
		p := permission.Default()
		p.Rules = append(p.Rules, c.rule)
		err := p.Validate()
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.rule, err, c.want)
		}
	}
}

// In a strict box a rule about what is inside is also about the agent's commands, and a grant is about the one
// command that was allowed.
func TestACommandInAStrictBoxIsInside(t *testing.T) {
	t.Parallel()
	r := trace.PermissionRequest{RequestID: "r", Options: []trace.PermissionOption{{ID: "yes", OptionKind: trace.AllowOnce}, {ID: "no", OptionKind: trace.RejectOnce}}}
	p := permission.Policy{Rules: []permission.Rule{{Inside: true, Then: permission.Allow}}}
	call := func(kind trace.ToolKind, name, input string) trace.ToolCall {
		return trace.ToolCall{ToolCallID: "c", RawName: name, ToolKind: kind, Input: json.RawMessage(input)}
	}
	command, other := call(trace.ToolExecute, "Bash", `{"command":"make"}`), call(trace.ToolExecute, "Bash", `{"command":"rm -r ."}`)
	for name, c := range map[string]struct {
		call         trace.ToolCall
		boxed, allow bool
	}{
		"a command":               {command, true, true},
		"the same without":        {command, false, false},
		"a tool of nobody":        {call(trace.ToolExecute, "mcp__far__run", `{"command":"make"}`), true, false},
		"a server":                {call(trace.ToolFetch, "WebFetch", `{"url":"https://example.com"}`), true, false},
		"a file elsewhere":        {call(trace.ToolRead, "Read", `{"file_path":"/etc/passwd"}`), true, false},
		"a command that names it": {call(trace.ToolExecute, "Bash", `{"command":"cat /data/token"}`), true, false},
	} {
		s := permission.Scope{
			Tools: toolkind.Claude(), Boxed: c.boxed, Contains: func(string) bool { return false },
			Closed: func(path string) bool { return path == "/data/token" }, Holds: func(string) bool { return false },
		}
		answer, decided := p.Decide(r, c.call, s)
		if allowed := decided && answer.OptionKind == trace.AllowOnce; allowed != c.allow {
			t.Errorf("%s: %t, %+v", name, decided, answer)
		}
		given := permission.Policy{}.Grant(command, s)
		if given.Covers(other, permission.Policy{}, s, time.Now()) || !given.Covers(command, permission.Policy{}, s, time.Now()) {
			t.Errorf("%s: the grant %+v covers another command", name, given)
		}
	}
}
