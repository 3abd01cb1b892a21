package permission

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tributary-dev/tributary/trace"
)

// ByGrant is who decided when an earlier "always" of a person did.
const ByGrant = "grant"

// GrantScope is how far a grant reaches.
type GrantScope string

// The scopes.
const (
	GrantOnce    GrantScope = "once"    // one more call, and then no more
	GrantSession GrantScope = "session" // the calls of one session
	GrantAlways  GrantScope = "always"  // the calls of all sessions with the agent
)

// Remember says what "always" means in an answer.
type Remember struct {
	// Scope is GrantSession if empty.
	Scope GrantScope `json:"scope,omitempty" yaml:"scope,omitempty"`
	// For is how long a grant lasts; 0 is without an end.
	For time.Duration `json:"for,omitempty" yaml:"for,omitempty"`
}

func (r Remember) validate() error {
	switch r.Scope {
	case "", GrantOnce, GrantSession, GrantAlways:
	default:
		return fmt.Errorf("the scope of remembered grants is %q: write once, session or always", r.Scope)
	}
	if r.For < 0 {
		return fmt.Errorf("remembered grants last for %v: write a duration such as 8h", r.For)
	}
	return nil
}

// Grant is what a person has allowed beforehand: calls of one tool with the input that
// was asked about. If that call stayed in the workspace, the grant covers all calls of
// the tool that stay there.
type Grant struct {
	ID    string     `json:"id"`
	Scope GrantScope `json:"scope"`
	Agent string     `json:"agent,omitempty"`
	// Tool is the agent's own name of the tool.
	Tool string         `json:"tool"`
	Kind trace.ToolKind `json:"kind"`
	// Inside says that the grant covers every call on files that stays in the workspace. Else it
	// covers calls with this Input.
	Inside bool            `json:"inside,omitempty"`
	Input  json.RawMessage `json:"input,omitempty"`
	Title  string          `json:"title,omitempty"`
	By     string          `json:"by,omitempty"`
	At     time.Time       `json:"at"`
	// Expires is zero for a grant without an end.
	Expires time.Time `json:"expires,omitzero"`
}

// Grant prepares the grant that an "always" to a call would be. It is the zero Grant, which
// covers nothing, if a rule reserves the call for a person. Grant reads the file system, as
// Decide does.
func (p Policy) Grant(c trace.ToolCall, s Scope) Grant {
	if p.Reserves(c, s) {
		return Grant{}
	}
	g := Grant{Scope: p.Remember.Scope, Tool: c.RawName, Kind: c.ToolKind, Title: c.Title, Inside: s.proven(c)}
	if g.Scope == "" {
		g.Scope = GrantSession
	}
	if !g.Inside {
		g.Input = c.Input
	}
	return g
}

// ThisCall is the reach of an answer that is not remembered.
const ThisCall = "this call"

// Reach says in a phrase how far a prepared grant would reach.
func (r Remember) Reach(g Grant) string {
	if g.Tool == "" {
		return ThisCall
	}
	what := "calls with this input"
	if g.Inside {
		what = "calls of this tool inside the workspace"
	}
	switch g.Scope {
	case GrantOnce:
		what = strings.Replace(what, "calls", "this call and one more", 1)
	case GrantSession:
		what += " in this session"
	case GrantAlways:
		what += " in all sessions with this agent"
	}
	if r.For > 0 {
		what += ", for " + plainly(r.For)
	}
	return what
}

// plainly is a duration without its zeros: 8h, and not 8h0m0s.
func plainly(d time.Duration) string {
	text := d.String()
	for _, zero := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(text, zero) {
			text = text[:len(text)-2]
		}
	}
	return text
}

// Give completes a prepared grant with the person who gave it.
func (r Remember) Give(g Grant, id, by string, now time.Time) Grant {
	g.ID, g.By, g.At = id, by, now
	if r.For > 0 {
		g.Expires = now.Add(r.For)
	}
	return g
}

// Expired reports whether the grant has come to its end.
func (g Grant) Expired(now time.Time) bool { return !g.Expires.IsZero() && !now.Before(g.Expires) }

// Covers reports whether the grant allows a call. No grant covers a call that a rule of the
// policy reserves for a person.
func (g Grant) Covers(c trace.ToolCall, p Policy, s Scope, now time.Time) bool {
	if g.Tool == "" || g.Expired(now) || g.Tool != c.RawName || g.Kind != c.ToolKind || p.Reserves(c, s) {
		return false
	}
	if g.Inside {
		return s.proven(c)
	}
	given, asked := essence(g.Input, s.Tools.Remarks(c.RawName)), essence(c.Input, s.Tools.Remarks(c.RawName))
	return len(given) > 0 && bytes.Equal(given, asked)
}

// Offer returns the options that a person gets of a request, where g is the grant that an
// "always" would be. There is one "always" at most, and none without a grant. The agent gets
// the option that allows once in its place. Where an agent has no such option, it keeps the
// "always" itself, under the name that it gives.
func Offer(options []trace.PermissionOption, g Grant) (all []trace.PermissionOption) {
	ok, offered := Once(options), false
	for _, o := range options {
		if o.OptionKind == trace.AllowAlways {
			if g.Tool == "" || ok && offered {
				continue
			}
			if offered = true; ok {
				o.Name = "Always allow"
			}
		}
		all = append(all, o)
	}
	return all
}

// Answer allows a request once, if the request offers that.
func (g Grant) Answer(r trace.PermissionRequest) (trace.PermissionResponse, bool) {
	answer, err := FromApproval(r.Options, true, "")
	answer.RequestID, answer.By = r.RequestID, ByGrant
	return answer, err == nil
}

// essence is an input without the space between tokens, and without remarks at its top. The order
// of keys counts, and so does a key that is there twice. It is nil for what is no JSON.
func essence(input json.RawMessage, remarks []string) []byte {
	var all bytes.Buffer
	if json.Compact(&all, input) != nil || len(remarks) == 0 || all.Bytes()[0] != '{' {
		return all.Bytes()
	}
	var kept bytes.Buffer
	d := json.NewDecoder(&all)
	_, _ = d.Token() // the input is valid
	for d.More() {
		key, _ := d.Token()
		var value json.RawMessage
		_ = d.Decode(&value)
		if name, _ := key.(string); !slices.Contains(remarks, name) {
			fmt.Fprintf(&kept, "%q:%s,", name, value)
		}
	}
	return kept.Bytes()
}
