//go:build unix

package claude_test

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/policy/permission"
	"github.com/tributary-dev/tributary/policy/toolkind"
	"github.com/tributary-dev/tributary/policy/workspace"
	"github.com/tributary-dev/tributary/trace"
)

// gated is a host that judges by a policy, and asks the person of the answer.
func gated(t *testing.T, answer trace.PermissionResponse, rules ...permission.Rule) *agenttest.Host {
	t.Helper()
	dir, err := workspace.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	host := agenttest.NewHost()
	host.Dir = dir
	policy, scope := permission.Policy{Rules: rules}, permission.Scope{Tools: toolkind.Claude(), Contains: dir.Contains, Resolve: dir.Resolve}
	var grants sync.Map // by the call
	host.Judge = func(r trace.PermissionRequest, c trace.ToolCall) (trace.PermissionResponse, bool) {
		grants.Store(c.ToolCallID, policy.Grant(c, scope))
		return policy.Decide(r, c, scope)
	}
	host.Offer = func(r trace.PermissionRequest) []trace.PermissionOption {
		g, _ := grants.Load(r.ToolCallID)
		return permission.Offer(r.Options, g.(permission.Grant))
	}
	answer.Outcome, answer.By = trace.Selected, "ada"
	host.OnPermit = func(context.Context, trace.PermissionRequest) trace.PermissionResponse { return answer }
	return host
}

// TestEveryCallIsAskedAbout: the agent's own settings allow the call of each row.
func TestEveryCallIsAskedAbout(t *testing.T) {
	t.Parallel()
	allow, deny, always := trace.PermissionResponse{ChosenOption: "allow"}, trace.PermissionResponse{ChosenOption: "deny", Reason: "not today"}, trace.PermissionResponse{ChosenOption: "always"}
	edited := trace.PermissionResponse{ChosenOption: "allow", UpdatedInput: []byte(`{"command":"id"}`)}
	never := permission.Rule{Then: permission.Deny, Reason: "never"}
	skill := func(then permission.Verdict) []permission.Rule { return []permission.Rule{{Tool: "Skill", Then: then}} }
	for name, c := range map[string]struct {
		prompt  string
		mode    string
		answer  trace.PermissionResponse
		rules   []permission.Rule
		by      []string // who has answered each request on record
		ran     bool
		settled trace.ToolStatus
	}{
		"allowed":                  {prompt: `PreToolUse: Bash {"command":"ls"}`, answer: allow, by: []string{"ada"}, ran: true},
		"denied":                   {prompt: `PreToolUse: Bash {"command":"ls"}`, answer: deny, by: []string{"ada"}},
		"always":                   {prompt: `PreToolUse: Bash {"command":"ls"}`, answer: always, by: []string{"ada"}, ran: true},
		"by the policy":            {prompt: `PreToolUse: Bash {"command":"ls"}`, answer: allow, rules: []permission.Rule{never}, by: []string{"policy"}},
		"a tool of a server":       {prompt: `PreToolUse: mcp__git__push {"force":true}`, answer: deny, by: []string{"ada"}},
		"its own state":            {prompt: `PreToolUse: ToolSearch {"query":"x"}`, answer: deny, ran: true},
		"its own state, forbidden": {prompt: `PreToolUse: Task {"prompt":"x"}`, answer: allow, rules: []permission.Rule{{Tool: "Task", Then: permission.Deny}}, by: []string{"policy"}},
		"a skill":                  {prompt: `PreToolUse: Skill {"skill":"x"}`, answer: deny, ran: true}, // Claude Code would ask by itself
		"a skill, and it asks":     {prompt: `PreToolUse: Skill {"skill":"armed"}`, answer: always, by: []string{"ada"}, ran: true},
		"a skill, denied":          {prompt: `PreToolUse: Skill {"skill":"armed"}`, answer: deny, by: []string{"ada"}},
		"a skill, forbidden":       {prompt: `PreToolUse: Skill {"skill":"x"}`, answer: allow, rules: skill(permission.Deny), by: []string{"policy"}},
		"a skill, allowed":         {prompt: `PreToolUse: Skill {"skill":"armed"}`, answer: deny, rules: skill(permission.Allow), ran: true},
		"a skill, asked":           {prompt: `PreToolUse: Skill {"skill":"x"}`, answer: allow, rules: skill(permission.Ask), by: []string{"ada"}, ran: true},
		"a skill, asked once":      {prompt: `PreToolUse: Skill {"skill":"armed"}`, answer: allow, rules: skill(permission.Ask), by: []string{"ada"}, ran: true},
		"a skill, asked, denied":   {prompt: `PreToolUse: Skill {"skill":"x"}`, answer: deny, rules: skill(permission.Ask), by: []string{"ada"}},
		"a skill, edited":          {prompt: `PreToolUse: Skill {"skill":"x"}`, answer: edited, rules: skill(permission.Ask), by: []string{"ada"}, ran: true},
		"a shell line":             {prompt: `PreSkillShellCommand: Bash {"command":"ls"}`, answer: allow, by: []string{"ada"}, ran: true, settled: trace.ToolCompleted},
		"a shell line, denied":     {prompt: `PreSkillShellCommand: Bash {"command":"ls"}`, answer: deny, by: []string{"ada"}, settled: trace.ToolDenied},
		"a shell line, forbidden":  {prompt: `PreSkillShellCommand: Bash {"command":"ls"}`, answer: allow, rules: []permission.Rule{never}, by: []string{"policy"}, settled: trace.ToolDenied},
		"a shell line, edited":     {prompt: `PreSkillShellCommand: Bash {"command":"ls"}`, answer: edited, by: []string{"ada"}, settled: trace.ToolDenied},
		"an unknown event":         {prompt: `Stop: Bash {"command":"ls"}`, answer: allow},
		"an edit, mode":            {prompt: `PreToolUse: Write {"file_path":"DIR/a.txt","content":"x"}`, mode: "acceptEdits", answer: deny, by: []string{"policy"}, ran: true},
		"an edit, forbidden":       {prompt: `PreToolUse: Write {"file_path":"DIR/a.txt","content":"x"}`, mode: "acceptEdits", answer: allow, rules: []permission.Rule{never}, by: []string{"policy"}},
		"an edit, no mode":         {prompt: `PreToolUse: Write {"file_path":"DIR/a.txt","content":"x"}`, answer: deny, by: []string{"ada"}},
		"an edit outside":          {prompt: `PreToolUse: Write {"file_path":"/etc/a.txt","content":"x"}`, mode: "acceptEdits", answer: deny, by: []string{"ada"}},
		"an edit of settings":      {prompt: `PreToolUse: Write {"file_path":"DIR/.claude/settings.json","content":"x"}`, mode: "acceptEdits", answer: deny, by: []string{"ada"}},
		"an edit of a hidden file": {prompt: `PreToolUse: Write {"file_path":"DIR/sub/.envrc","content":"x"}`, mode: "acceptEdits", answer: deny, by: []string{"ada"}},
		"a command, mode":          {prompt: `PreToolUse: Bash {"command":"mkdir x"}`, mode: "acceptEdits", answer: deny, by: []string{"ada"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			host := gated(t, c.answer, c.rules...)
			s := agenttest.Open(t, fakeRuntime(t, "as told"), host, agent.Config{Mode: c.mode})
			events, stop := agenttest.Turn(t, s, host, agenttest.Prompt(strings.ReplaceAll(c.prompt, "DIR", host.Dir.Path())))
			if stop.Outcome != trace.OutcomeCompleted {
				t.Errorf("the turn ended as %+v", stop)
			}
			var by []string
			for _, r := range agenttest.Each[trace.PermissionResponse](events) {
				by = append(by, r.By)
			}
			if asked := agenttest.Each[trace.PermissionRequest](events); !slices.Equal(by, c.by) || len(asked) != len(by) {
				t.Errorf("%d requests, answered by %q; want %q", len(asked), by, c.by)
			}
			results := agenttest.Each[trace.ToolResult](events)
			ran := strings.Contains(agenttest.Said(events), "ran ") || slices.ContainsFunc(results, func(r trace.ToolResult) bool { return strings.Contains(string(r.Output), "ran ") })
			if ran != c.ran {
				t.Errorf("it ran: %v", ran)
			}
			if edit := string(c.answer.UpdatedInput); ran && edit != "" && !strings.Contains(string(results[0].Output), strings.Trim(strconv.Quote(edit), `"`)) {
				t.Errorf("it ran otherwise than the person said: %s", results[0].Output)
			}
			if c.settled != "" && (len(results) != 1 || results[0].Status != c.settled || results[0].Status == trace.ToolDenied && results[0].Error == "") {
				t.Errorf("the line ended as %+v", results)
			}
		})
	}
}

// An old Claude Code knows no hooks. It asks as far as its own rules go.
func TestAReleaseWithoutHooksAsksByItself(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"knows no hooks", "ignores hooks"} {
		host := gated(t, trace.PermissionResponse{ChosenOption: "deny"})
		s := agenttest.Open(t, fakeRuntime(t, how), host, agent.Config{})
		events, stop := agenttest.Turn(t, s, host, agenttest.Prompt("go"))
		if asked := agenttest.Each[trace.PermissionRequest](events); len(asked) != 1 || stop.Outcome != trace.OutcomeCompleted {
			t.Errorf("%s: asked %d times, and ended as %+v", how, len(asked), stop)
		}
	}
}

// An operator may leave the decision to the rules of Claude Code.
func TestAnUnguardedAgentIsNotHooked(t *testing.T) {
	t.Parallel()
	host := gated(t, trace.PermissionResponse{ChosenOption: "deny"})
	r := fakeRuntime(t, "as told")
	r.Unguarded = true
	s := agenttest.Open(t, r, host, agent.Config{})
	events, _ := agenttest.Turn(t, s, host, agenttest.Prompt(`PreToolUse: Bash {"command":"ls"}`))
	if asked := agenttest.Each[trace.PermissionRequest](events); len(asked) != 0 {
		t.Errorf("asked %+v", asked)
	}
}
