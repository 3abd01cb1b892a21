package toolkind

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tributary-dev/tributary/trace"
)

// Tool is what is known of a call of a tool.
type Tool struct {
	Kind trace.ToolKind
	// Name is the name shown to people.
	Name string
	// Title says in a few words what this call does, or "" without an input.
	Title string
	// Locations are the files that the call names. They are for people; a policy
	// judges by Reach, which holds more.
	Locations []trace.Location
}

// Table maps the names of one kind of agent's tools.
type Table struct {
	rules     map[string]rule
	overrides map[string]trace.ToolKind
	guesses   bool // see Guess
}

// With returns the table with the user's own kinds. A name may end with "*" to
// mean every tool that begins so; of several that match, the longest wins.
func (t Table) With(overrides map[string]trace.ToolKind) Table {
	merged := maps.Clone(t.overrides)
	if merged == nil {
		merged = map[string]trace.ToolKind{}
	}
	maps.Copy(merged, overrides)
	return Table{rules: t.rules, overrides: merged, guesses: t.guesses}
}

// Names lists the names that the table knows, sorted.
func (t Table) Names() []string { return slices.Sorted(maps.Keys(t.rules)) }

// Kind returns the kind of the tool with the agent's own name.
func (t Table) Kind(rawName string) trace.ToolKind {
	if k, ok := t.override(rawName); ok {
		return k
	}
	if r, ok := t.rules[rawName]; ok {
		return r.kind
	}
	if t.guesses {
		return guess(rawName)
	}
	return trace.ToolOther
}

func (t Table) override(rawName string) (trace.ToolKind, bool) {
	if k, ok := t.overrides[rawName]; ok {
		return k, true
	}
	var best string
	var kind trace.ToolKind
	for pattern, k := range t.overrides {
		prefix, wild := strings.CutSuffix(pattern, "*")
		if wild && strings.HasPrefix(rawName, prefix) && (best == "" || len(pattern) > len(best)) {
			best, kind = pattern, k
		}
	}
	return kind, best != ""
}

// Knows reports whether the table or an override has the tool. To a policy, the tools that a
// table does not know are of the kind other, unless the agent states their kinds.
func (t Table) Knows(rawName string) bool {
	_, known := t.rules[rawName]
	_, overridden := t.override(rawName)
	return known || overridden
}

// Remarks are the keys of a tool's input that tell people of the call and change nothing that it
// does, such as the description of a command.
func (t Table) Remarks(rawName string) []string {
	if r := t.rules[rawName]; r.kind == trace.ToolExecute {
		return r.texts
	}
	return nil
}

// Classify says what a call does. The input may be empty or cut off: Classify
// leaves out the facts that the input does not hold.
func (t Table) Classify(rawName string, input json.RawMessage) Tool {
	tool := Tool{Kind: t.Kind(rawName), Name: shownName(rawName)}
	r, known := t.rules[rawName]
	if !known {
		r = rule{verb: spoken(rawName)}
	}
	fields := map[string]json.RawMessage{}
	if len(input) == 0 || json.Unmarshal(input, &fields) != nil {
		return tool
	}
	if _, overridden := t.override(rawName); r.patch && !overridden {
		tool.Kind = patchKind(fields)
	}
	tool.Title = r.title(fields)
	if touchesFiles(tool.Kind) && (!t.guesses || t.Knows(rawName)) { // a guess is no reason to take strings for files
		tool.Locations = locations(t.Reach(rawName, input), line(fields))
	}
	return tool
}

// Call returns a call with what the table says of it.
func (t Table) Call(id, rawName string, input json.RawMessage) trace.ToolCall {
	tool := t.Classify(rawName, input)
	return trace.ToolCall{ToolCallID: id, RawName: rawName, Name: tool.Name, ToolKind: tool.Kind, Title: tool.Title, Input: input, Locations: tool.Locations}
}

// ParseKind reads a kind from a configuration. Beside the kinds themselves it
// takes "write", which other traces use for edit.
func ParseKind(s string) (trace.ToolKind, error) {
	if s == "write" {
		return trace.ToolEdit, nil
	}
	if k := trace.ToolKind(s); slices.Contains(Kinds(), k) {
		return k, nil
	}
	names := make([]string, 0, len(Kinds()))
	for _, k := range Kinds() {
		names = append(names, string(k))
	}
	return "", fmt.Errorf("there is no tool kind %q: use one of %s", s, strings.Join(names, ", "))
}

// Kinds lists the closed set of kinds.
func Kinds() []trace.ToolKind {
	return []trace.ToolKind{
		trace.ToolRead, trace.ToolEdit, trace.ToolDelete, trace.ToolMove, trace.ToolSearch,
		trace.ToolExecute, trace.ToolThink, trace.ToolFetch, trace.ToolSwitchMode, trace.ToolOther,
	}
}
