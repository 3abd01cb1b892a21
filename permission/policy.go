package permission

import (
	"fmt"
	"slices"

	"github.com/tributary-dev/tributary/toolkind"
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
	// does one whose paths the agent may expand.
	Inside bool `json:"inside,omitempty" yaml:"inside,omitempty"`
	// Then is the verdict.
	Then Verdict `json:"then" yaml:"then"`
	// Reason is told to the agent when the call is denied.
	Reason string `json:"reason,omitempty" yaml:"reason,omitempty"`
}

// Policy is a list of rules: the first that matches decides. What none matches
// is asked.
type Policy struct {
	Rules []Rule `json:"rules" yaml:"rules"`
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
	for i, r := range p.Rules {
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
	}
	return nil
}

// Judge decides a request, if the policy can: false means that a person has to be
// asked. c is the call as the agent will run it. Judge may read the file system, so
// a caller holds no lock.
func (p Policy) Judge(r trace.PermissionRequest, c trace.ToolCall, s Scope) (trace.PermissionResponse, bool) {
	for _, rule := range p.Rules {
		if !rule.matches(c, s) {
			continue
		}
		switch rule.Then {
		case Allow:
			// An agent that offers nothing but "always" is not granted that.
			answer, err := FromApproval(r.Options, true, rule.Reason)
			return decided(r, answer), err == nil
		case Deny:
			answer, err := FromApproval(r.Options, false, rule.denial())
			return decided(r, answer), err == nil
		case Ask:
		}
		break
	}
	return trace.PermissionResponse{}, false
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

func (r Rule) matches(c trace.ToolCall, s Scope) bool {
	if len(r.Kinds) > 0 && !slices.Contains(r.Kinds, c.ToolKind) {
		return false
	}
	if r.Tool != "" && !like([]rune(r.Tool), []rune(c.RawName)) {
		return false
	}
	return !r.Inside || s.inside(c)
}

// like matches * and ?. It goes back to the last * only, which is enough and
// keeps it from taking exponential time.
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
