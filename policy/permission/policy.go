package permission

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tributary-dev/tributary/policy/toolkind"
	"github.com/tributary-dev/tributary/trace"
)

// By is who decided when the policy did.
const By = "policy"

// Verdict is what a rule says.
type Verdict string

// The verdicts.
const (
	Allow Verdict = "allow"
	Deny  Verdict = "deny"
	Ask   Verdict = "ask"
)

// Rule says what becomes of the calls that it matches. A call has to match every
// field that is set; a rule with none set matches all calls.
type Rule struct {
	// Kinds match the kind of the tool.
	Kinds []trace.ToolKind `json:"kinds,omitempty" yaml:"kinds,omitempty"`
	// Tool matches the agent's own name of the tool, case and all; * is any
	// text, also none, and ? any one character.
	Tool string `json:"tool,omitempty" yaml:"tool,omitempty"`
	// Inside matches calls that work on files of which each is proven to be in the
	// workspace. A call whose input is not understood does not match, and neither
	// does one whose paths the agent may expand. A command matches where the agent has a strict box.
	Inside bool `json:"inside,omitempty" yaml:"inside,omitempty"`
	// Paths match calls on files of the workspace: for a rule that allows, all files are
	// like one of the patterns; for the others, one file is. A pattern is a whole path
	// relative to the workspace; * and ? stay within a name, ** is any directories.
	Paths []string `json:"paths,omitempty" yaml:"paths,omitempty"`
	// Commands match calls that run one simple command like one of the patterns. They are
	// compared word by word; * is any text in a word. As the last word, * is any words. For
	// a rule that allows, * in a word stays within a name, as in Paths.
	Commands []string `json:"commands,omitempty" yaml:"commands,omitempty"`
	// Then is the verdict.
	Then Verdict `json:"then" yaml:"then"`
	// The agent gets Reason when the call is denied.
	Reason string `json:"reason,omitempty" yaml:"reason,omitempty"`
}

// Policy is a list of rules: the first that matches decides. A call that no rule
// matches is asked.
type Policy struct {
	Rules []Rule `json:"rules" yaml:"rules"`
	// Script is for evaluations: each rule answers one call of a session, the first that
	// it matches, and is used up. The rules above judge the other calls.
	Script []Rule `json:"script,omitempty" yaml:"script,omitempty"`
	// Remember says what "always" means where the agent itself does not remember.
	Remember Remember `json:"remember,omitzero" yaml:"remember,omitempty"`
}

// Default allows reading and searching inside the workspace and asks for
// everything else.
func Default() Policy {
	return Policy{Rules: []Rule{
		{Kinds: []trace.ToolKind{trace.ToolRead, trace.ToolSearch}, Inside: true, Then: Allow},
	}}
}

// Validate reports a rule that cannot be meant.
func (p Policy) Validate() error {
	if err := p.Remember.validate(); err != nil {
		return err
	}
	for i, r := range slices.Concat(p.Rules, p.Script) {
		switch r.Then {
		case Allow, Deny, Ask:
		default:
			return fmt.Errorf("permission rule %d says %q: write allow, deny or ask", i+1, r.Then)
		}
		for _, k := range r.Kinds {
			if !slices.Contains(toolkind.Kinds(), k) {
				return fmt.Errorf("permission rule %d has the tool kind %q: the kinds are %v", i+1, k, toolkind.Kinds())
			}
		}
		for _, path := range r.Paths {
			if err := checkPath(path); err != nil {
				return fmt.Errorf("permission rule %d: %w", i+1, err)
			}
		}
		for _, command := range r.Commands {
			if words, ok := split(strings.ReplaceAll(command, "*", "x")); !ok || len(words) == 0 || command == "*" {
				return fmt.Errorf("permission rule %d has the command %q: write one simple command such as git log *", i+1, command)
			}
		}
	}
	return nil
}

// Decide decides a request, if the policy can: false means that a person has to be
// asked. c is the call as the agent will run it. Judge may read the file system, so
// a caller holds no lock. No rule allows what is closed, and only a command that names it
// is asked. The answer names the rule that decided by its place in the policy, such as
// script[0]; what is closed is denied without a rule.
func (p Policy) Decide(r trace.PermissionRequest, c trace.ToolCall, s Scope) (trace.PermissionResponse, bool) {
	touches := s.touches(c)
	if touches == yes && c.ToolKind != trace.ToolExecute {
		answer, err := FromApproval(r.Options, false, closedReason)
		return decided(r, answer), err == nil
	}
	list, rules, first := "rules", p.Rules, 0
	if i, ok := s.Script.take(p.Script, func(r Rule) bool { return r.about(c, s) == yes }); ok {
		list, rules, first = "script", p.Script[i:i+1], i
	}
	for i, rule := range rules {
		switch about := rule.about(c, s); {
		case about == no, about == unsure && rule.Then == Allow:
			continue
		case about == unsure:
			return trace.PermissionResponse{}, false
		}
		switch rule.Then {
		case Allow:
			if touches != no {
				return trace.PermissionResponse{}, false
			}
			// An agent that offers nothing but "always" is not granted that.
			answer, err := FromApproval(r.Options, true, rule.Reason)
			answer.Rule = fmt.Sprintf("%s[%d]", list, first+i)
			return decided(r, answer), err == nil
		case Deny:
			answer, err := FromApproval(r.Options, false, rule.denial())
			answer.Rule = fmt.Sprintf("%s[%d]", list, first+i)
			return decided(r, answer), err == nil
		case Ask:
		}
		break
	}
	return trace.PermissionResponse{}, false
}

// Reserves reports whether a rule wants a person to decide about a call: a rule that asks,
// or one that forbids and may be about the call. No grant counts then.
func (p Policy) Reserves(c trace.ToolCall, s Scope) bool {
	for _, rule := range p.Rules {
		switch about := rule.about(c, s); {
		case about == no, about == unsure && rule.Then == Allow:
			continue
		default:
			return rule.Then == Ask || about == unsure
		}
	}
	return false
}

func decided(r trace.PermissionRequest, answer trace.PermissionResponse) trace.PermissionResponse {
	answer.RequestID, answer.By = r.RequestID, By
	return answer
}

func (r Rule) denial() string {
	if r.Reason != "" {
		return r.Reason
	}
	return "The policy of this gateway does not allow it."
}

// about reports whether a rule is about a call.
func (r Rule) about(c trace.ToolCall, s Scope) answer {
	if len(r.Kinds) > 0 && !slices.Contains(r.Kinds, c.ToolKind) {
		return no
	}
	if r.Tool != "" && !like([]rune(r.Tool), []rune(c.RawName)) {
		return no
	}
	if r.Inside && !s.inside(c) {
		return no
	}
	paths, command := yes, yes
	if len(r.Paths) > 0 {
		paths = s.paths(c, r.Paths, r.Then != Allow)
	}
	if len(r.Commands) > 0 {
		command = s.command(c, r.Commands, r.Then != Allow)
	}
	switch {
	case paths == no || command == no:
		return no
	case paths == unsure || command == unsure:
		return unsure
	}
	return yes
}

// like matches * and ?. The match backtracks to the last * only. That suffices, and
// avoids exponential time.
func like(pattern, name []rune) bool {
	p, n, star, from := 0, 0, -1, 0
	for n < len(name) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, from = p, n
			p++
		case p < len(pattern) && (pattern[p] == '?' || pattern[p] == name[n]):
			p++
			n++
		case star >= 0:
			from++
			p, n = star+1, from
		default:
			return false
		}
	}
	for p < len(pattern) && pattern[p] == '*' {
		p++
	}
	return p == len(pattern)
}
