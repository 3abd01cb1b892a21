package acp

import (
	"bytes"
	"cmp"
	"encoding/json"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/tributary-dev/tributary/trace"
)

// call is a tool call of the turn.
type call struct {
	tool     trace.ToolCall // as the agent shows it
	b        *trace.Builder
	raw      raw // the newest raw input
	content  raw
	items    []item
	diffs    []item // the newest; an agent may show other content after its diffs
	output   raw
	printed  string // what its terminal has printed so far
	streamed string // the newest piece of output that came beside the protocol
	whole    bool   // the input is complete
	done     bool
	allowed  []*call // the call in the forms that were allowed
	denied   bool
	reason   string // of the denial
}

// toolUpdate takes a call, or news of one. The first sign of a call may be either.
func (d *Decoder) toolUpdate(c *turn, s *speaker, u update) {
	if u.ID == "" {
		c.b.Touch()
		return
	}
	tc, known := c.calls[u.ID]
	if !known {
		tc = d.newCall(c, s, u.toolCall, u.Meta)
	}
	if tc.done {
		return
	}
	was := tc.tool
	fresh := present(u.RawInput) && !bytes.Equal(u.RawInput, tc.raw)
	d.merge(tc, u.toolCall)
	begun := u.Status != "" && u.Status != "pending"
	switch {
	case !tc.whole && begun:
		tc.complete()
	case tc.whole && (fresh || was.Title != tc.tool.Title && !known):
		tc.b.ToolCallUpdate(tc.tool)
	case !tc.whole && fresh:
		tc.b.ToolCallSnapshot(u.ID, u.RawInput)
	default:
		tc.b.Touch()
	}
	tc.print(u)
	if u.Status == "completed" || u.Status == "failed" {
		tc.end(c, u.Status == "completed")
	}
}

// newCall begins a call.
func (d *Decoder) newCall(c *turn, s *speaker, from toolCall, m meta) *call {
	tc := &call{b: s.b}
	tc.tool.ToolCallID = from.ID
	tc.tool.RawName = nameOf(from, m)
	tc.tool.Name = tc.tool.RawName
	c.calls[from.ID] = tc
	d.merge(tc, from)
	tc.b.ToolCallStart(trace.ToolCallStart{ToolCallID: from.ID, RawName: tc.tool.RawName, Name: tc.tool.Name, ToolKind: tc.tool.ToolKind, Title: tc.tool.Title})
	return tc
}

var (
	//nolint:gochecknoglobals // compiled once
	word = regexp.MustCompile(`^[A-Za-z][\w.-]*$`)
	//nolint:gochecknoglobals // compiled once
	inID = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)*)(?:__|-\d)`)
)

// nameOf finds the name of a call's tool. The protocol has had none for long, so agents
// say the name in places of their own: beside the protocol, in the id (Gemini CLI), or
// as the first title (OpenCode). The last resort is the kind.
func nameOf(from toolCall, m meta) string {
	name := cmp.Or(from.Name, m.Claude.ToolName, m.ToolName, m.Goose.Call.ToolName, m.VibeName)
	if name != "" {
		return name
	}
	if found := inID.FindStringSubmatch(from.ID); found != nil {
		return found[1]
	}
	if from.Title != nil && word.MatchString(string(*from.Title)) {
		return string(*from.Title)
	}
	return cmp.Or(from.ToolKind, "tool")
}

// merge takes over what is new about a call.
func (d *Decoder) merge(tc *call, from toolCall) {
	if from.Name != "" {
		tc.tool.RawName, tc.tool.Name = from.Name, from.Name
	}
	if from.Title != nil && *from.Title != "" {
		tc.tool.Title = string(*from.Title)
	}
	if from.ToolKind != "" {
		tc.tool.ToolKind = trace.ToolKind(from.ToolKind)
	}
	if d.o.Tools.Knows(tc.tool.RawName) {
		tc.tool.ToolKind = d.o.Tools.Kind(tc.tool.RawName)
	}
	if present(from.RawInput) {
		tc.raw = from.RawInput
	}
	if present(from.RawOutput) {
		tc.output = from.RawOutput
	}
	if present(from.Content) {
		var items []item
		if json.Unmarshal(from.Content, &items) == nil {
			tc.items, tc.content = items, from.Content
			if diffs := diffsOf(items); len(diffs) > 0 {
				tc.diffs = diffs
			}
		}
	}
	if len(tc.tool.Input) == 0 || present(from.RawInput) || present(from.Content) && !tc.whole {
		tc.tool.Input = tc.input()
	}
	if places := tc.places(from); len(places) > 0 {
		tc.tool.Locations = places
	}
}

func diffsOf(items []item) []item {
	return slices.DeleteFunc(slices.Clone(items), func(i item) bool { return i.Type != "diff" || i.Path == "" })
}

// input is the call's input. Some agents give none: then what they show of the call
// stands for it, with the names that the protocol has for the parts of a diff.
func (tc *call) input() raw {
	if object(tc.raw) || present(tc.raw) && !bytes.HasPrefix(bytes.TrimSpace(tc.raw), []byte("{")) {
		return tc.raw
	}
	var changes []map[string]any
	for _, i := range tc.diffs {
		changes = append(changes, map[string]any{"path": i.Path, "oldText": i.OldText, "newText": i.NewText})
	}
	switch {
	case len(changes) == 1:
		return encode(changes[0])
	case len(changes) > 1:
		return encode(map[string]any{"changes": changes})
	case len(tc.items) > 0:
		return encode(map[string]any{"title": tc.tool.Title, "content": tc.content})
	default:
		return raw("{}")
	}
}

// places are the files that a call touches: those that the agent names, those of its
// diffs, and those that stand in its input. A policy judges all of them.
func (tc *call) places(from toolCall) []trace.Location {
	var all []trace.Location
	add := func(l trace.Location) {
		for _, known := range all {
			if known.Path == l.Path {
				return
			}
		}
		all = append(all, l)
	}
	for _, l := range from.Locations {
		if l.Path != "" {
			add(trace.Location{Path: l.Path, Line: max(l.Line, 0)})
		}
	}
	if len(all) == 0 {
		all = append(all, tc.tool.Locations...)
	}
	for _, i := range tc.diffs {
		add(trace.Location{Path: i.Path})
	}
	for _, path := range pathsIn(tc.raw) {
		add(trace.Location{Path: path})
	}
	return all
}

// restates reports whether an input says nothing that another one does not say: agents
// ask with a part of the input, or with other spellings of its keys. A diff shows what
// the input would do.
func restates(asked, shown raw) bool {
	if bytes.Equal(asked, shown) {
		return true
	}
	var a, s map[string]any
	if json.Unmarshal(asked, &a) != nil || json.Unmarshal(shown, &s) != nil || len(a) == 0 {
		return false
	}
	known := map[string]any{}
	for key, value := range s {
		known[folded(key)] = value
	}
	for key, value := range a {
		if was, ok := known[folded(key)]; key != "diff" && (!ok || !reflect.DeepEqual(was, value)) {
			return false
		}
	}
	return true
}

func folded(key string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(key))
}

// pathsIn finds the paths in an input: the strings under keys that name a file or a
// directory, at any depth.
func pathsIn(input raw) []string {
	var found []string
	var look func(key string, value any)
	look = func(key string, value any) {
		switch v := value.(type) {
		case map[string]any:
			for k, inner := range v {
				look(k, inner)
			}
		case []any:
			for _, inner := range v {
				look(key, inner)
			}
		case string:
			if v != "" && namesPath(key) {
				found = append(found, v)
			}
		}
	}
	var value any
	if json.Unmarshal(input, &value) == nil {
		look("", value)
	}
	return sorted(found)
}

func namesPath(key string) bool {
	key = folded(key)
	for _, end := range []string{"path", "paths", "file", "files", "filename", "dir", "directory"} {
		if strings.HasSuffix(key, end) {
			return true
		}
	}
	return false
}

// complete puts the whole call on record.
func (tc *call) complete() {
	tc.whole = true
	tc.b.ToolCall(tc.tool)
}

// print takes the output of a running call.
func (tc *call) print(u update) {
	switch {
	case u.Meta.TerminalDelta.Data+u.Meta.Terminal.Data != "":
		text := string(u.Meta.TerminalDelta.Data + u.Meta.Terminal.Data)
		tc.streamed = text
		tc.b.ToolResultDelta(u.ID, text)
	case u.Status == "in_progress" && present(u.Content):
		if text := tc.text(); text != "" {
			tc.b.ToolResultProgress(u.ID, encode(text))
		}
	}
}

// text is the text of the call's content.
func (tc *call) text() string {
	var all []string
	for _, i := range tc.items {
		if i.Type == "content" && i.Content.Type == "text" {
			all = append(all, string(i.Content.Text))
		}
	}
	return strings.Join(all, "\n")
}

// end ends a call.
func (tc *call) end(c *turn, ok bool) {
	if !tc.whole {
		tc.complete()
	}
	tc.done = true
	r := trace.ToolResult{ToolCallID: tc.tool.ToolCallID, Status: trace.ToolCompleted, Output: tc.result(), Locations: tc.tool.Locations}
	switch {
	case ok:
		for _, change := range tc.changes() {
			tc.b.Emit(change)
		}
	case tc.denied:
		r.Status, r.Error = trace.ToolDenied, cmp.Or(tc.reason, cmp.Or(plainText(r.Output), "Not allowed."))
	case c.stopped:
		r.Status, r.Error = trace.ToolCanceled, plainText(r.Output)
	default:
		r.Status, r.Error = trace.ToolFailed, cmp.Or(plainText(r.Output), cmp.Or(lastLine(tc.streamed), "The tool failed."))
	}
	tc.b.ToolResult(r)
}

// result is the call's output: as it is, or else what the call shows.
func (tc *call) result() raw {
	switch text := tc.text(); {
	case tc.streamed != "" && plainText(tc.output) == "":
		return nil // the Builder has it
	case present(tc.output):
		return tc.output
	case text != "":
		return encode(text)
	case tc.printed != "":
		return encode(tc.printed)
	}
	var rest []item
	for _, i := range tc.items {
		if i.Type == "content" {
			rest = append(rest, i)
		}
	}
	if len(rest) > 0 {
		return tc.content
	}
	return nil
}

// changes are the files that the call has changed.
func (tc *call) changes() []trace.FileChange {
	var all []trace.FileChange
	for _, i := range tc.diffs {
		before := ""
		if i.OldText != nil {
			before = string(*i.OldText)
		}
		change := trace.FileChange{Path: i.Path, Change: trace.FileModified, ToolCallID: tc.tool.ToolCallID, Diff: trace.UnifiedDiff(i.Path, before, string(i.NewText))}
		switch {
		case i.Meta.Kind == "delete":
			change.Change = trace.FileDeleted
		case i.Meta.Kind == "add", i.Meta.Kind == "" && before == "":
			change.Change = trace.FileCreated
		}
		all = append(all, change)
	}
	return all
}

// plainText is the text in an output, if there is one.
func plainText(output raw) string {
	var s string
	if json.Unmarshal(output, &s) == nil {
		return s
	}
	var o struct {
		Error   any    `json:"error"`
		Message string `json:"message"`
		Output  string `json:"output"`
	}
	_ = json.Unmarshal(output, &o) // an output of another form has no text
	if failure, ok := o.Error.(string); ok && failure != "" {
		return failure
	}
	return cmp.Or(o.Message, o.Output)
}

// terminalOutput takes what a terminal has printed so far.
func (d *Decoder) terminalOutput(terminal string, result raw) {
	var r struct {
		Output text `json:"output"`
	}
	if d.turn == nil || json.Unmarshal(result, &r) != nil || r.Output == "" {
		return
	}
	for _, tc := range d.turn.calls {
		for _, i := range tc.items {
			if i.Type == "terminal" && i.TerminalID == terminal && !tc.done && tc.printed != string(r.Output) {
				tc.printed = string(r.Output)
				tc.b.ToolResultProgress(tc.tool.ToolCallID, encode(tc.printed))
			}
		}
	}
}
