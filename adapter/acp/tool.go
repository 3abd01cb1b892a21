package acp

import (
	"bytes"
	"cmp"
	"encoding/json"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/policy/toolkind"
	"github.com/tributary-dev/tributary/trace"
)

// call is a tool call of the turn.
type call struct {
	tool     trace.ToolCall // as the agent shows it
	name     string         // that the agent states, or ""
	guess    string         // at the name, or ""
	stated   trace.ToolKind // by the agent, or ""
	b        *trace.Builder
	raw      raw    // the newest raw input
	draft    string // the input so far, as text
	content  raw
	items    []item
	diffs    []item // the newest; an agent may show other content after its diffs
	output   raw
	printed  string // what its terminal has printed so far
	streamed string // the newest piece of output that came beside the protocol
	whole    bool   // the input is complete
	done     bool
	allowed  []allowance
	denied   bool
	stopped  bool // its turn was stopped, and is over
	missed   bool // it was completed when its turn was closed
}

// toolUpdate takes a call, or news of one. The first sign of a call may be either.
func (d *Decoder) toolUpdate(c *turn, s *speaker, u update) {
	tc, known := c.calls[u.ID]
	switch {
	case u.ID == "":
		return
	case !known:
		tc = d.newCall(c, s, u.toolCall, u.Meta)
	case tc.done:
		return
	}
	over := u.ends()
	if d.agent.is("kimi") && !over && tc.writing(u) {
		return
	}
	fresh := present(u.RawInput) && !bytes.Equal(u.RawInput, tc.raw)
	d.merge(tc, u.toolCall)
	switch {
	case !tc.whole && u.Status != "" && u.Status != "pending":
		tc.complete()
	case tc.whole && fresh:
		tc.b.ToolCallUpdate(tc.tool)
	case !tc.whole && fresh:
		tc.b.ToolCallSnapshot(u.ID, u.RawInput)
	}
	tc.print(u)
	if over {
		tc.end(c, u.Status == "completed")
	}
}

// writing takes the content of a call whose input is still being written. Kimi writes the
// input there as text, and gives the input as such when the call runs, after it has asked.
func (tc *call) writing(u update) bool {
	if tc.whole || present(u.RawInput) {
		return false
	}
	text := (&call{items: parse[[]item](u.Content)}).text()
	if delta, more := strings.CutPrefix(text, tc.draft); more {
		tc.draft = text
		tc.b.ToolCallDelta(u.ID, delta)
	}
	return true
}

// drafted makes an input of the text that the agent has written.
func (tc *call) drafted() {
	if draft := raw(tc.draft); !present(tc.raw) && json.Valid(draft) {
		tc.raw = draft
		tc.tool.Input = tc.input()
	}
}

// newCall begins a call.
func (d *Decoder) newCall(c *turn, s *speaker, from toolCall, beside raw) *call {
	m, tc := parse[meta](beside), &call{b: s.b}
	c.tool(tc, m)
	tc.tool.ToolCallID = from.ID
	tc.name, tc.guess = nameOf(from, m)
	c.calls[from.ID] = tc
	d.merge(tc, from)
	tc.b.ToolCallStart(trace.ToolCallStart{ToolCallID: from.ID, RawName: tc.tool.RawName, Name: tc.tool.Name, ToolKind: tc.tool.ToolKind, Title: tc.tool.Title})
	return tc
}

var (
	//nolint:gochecknoglobals // compiled once
	wordLike = regexp.MustCompile(`^[A-Za-z][\w.-]*$`)
	//nolint:gochecknoglobals // compiled once
	inID = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)*)(?:__|-\d)`)
)

// nameOf finds the name of a call's tool. The protocol had none for long. So agents state
// the name beside the protocol. Else there is a guess: the name in the id (Gemini CLI), or
// the first title (OpenCode).
func nameOf(from toolCall, m meta) (stated, guess string) {
	id := append(inID.FindStringSubmatch(from.ID), "", "")[1]
	title := string(from.Title)
	if !wordLike.MatchString(title) {
		title = ""
	}
	return cmp.Or(from.Name, m.Claude.ToolName, m.ToolName, m.Goose.Call.ToolName, m.VibeName), cmp.Or(id, title)
}

// merge takes over what is new about a call.
func (d *Decoder) merge(tc *call, from toolCall) {
	tc.name = cmp.Or(from.Name, tc.name)
	tc.stated = cmp.Or(trace.ToolKind(from.ToolKind), tc.stated)
	tc.tool.Title = cmp.Or(string(from.Title), tc.tool.Title)
	tc.tool.RawName, tc.tool.ToolKind = d.o.Tools.Stated(tc.name, tc.guess, tc.stated)
	tc.tool.Name = tc.tool.RawName
	if present(from.RawInput) {
		tc.raw = from.RawInput
	}
	if present(from.RawOutput) {
		tc.output = from.RawOutput
	}
	var items []item
	if present(from.Content) && json.Unmarshal(from.Content, &items) == nil {
		tc.items, tc.content = items, from.Content
		diffs := slices.DeleteFunc(slices.Clone(items), func(i item) bool { return i.Type != "diff" || i.Path == "" })
		if len(diffs) > 0 {
			tc.diffs = diffs
		}
	}
	if len(tc.tool.Input) == 0 || present(from.RawInput) || present(from.Content) && !tc.whole {
		tc.tool.Input = tc.input()
	}
	if places := tc.places(d, from); len(places) > 0 {
		tc.tool.Locations = places
	}
}

// input is the call's input. Some agents give none: then what they show of the call
// stands for it, with the names that the protocol has for the parts of a diff. Where the input
// does not state the change of a file, the diffs stand in it: an answer covers the text that
// they show.
func (tc *call) input() raw {
	var changes []object
	for _, i := range tc.diffs {
		changes = append(changes, object{"path": i.Path, "oldText": i.OldText, "newText": i.NewText})
	}
	given := bytes.TrimSpace(tc.raw)
	empty := !present(tc.raw) || given[0] == '{' && len(parse[map[string]any](tc.raw)) == 0
	_, states := toolkind.ChangeOf(tc.raw)
	switch {
	case !empty && (states || len(changes) == 0):
		return tc.raw
	case !empty && given[0] != '{':
		return agentkit.Encode(object{"input": tc.raw, "changes": changes})
	case !empty:
		return raw(string(given[:len(given)-1]) + `,"` + freeKey(tc.raw) + `":` + string(agentkit.Encode(changes)) + "}")
	case len(changes) == 1:
		return agentkit.Encode(changes[0])
	case len(changes) > 1:
		return agentkit.Encode(object{"changes": changes})
	case len(tc.items) > 0:
		return agentkit.Encode(object{"title": tc.tool.Title, "content": tc.content})
	default:
		return raw("{}")
	}
}

// freeKey is a key that an input does not have.
func freeKey(input raw) string {
	has := parse[map[string]any](input)
	for n := 0; ; n++ {
		key := "changes" + strings.Repeat("_shown", n)
		if _, taken := has[key]; !taken {
			return key
		}
	}
}

// places are the files that a call touches: those that the agent names, those of its
// diffs, and those that stand in its input. A policy judges all of them.
func (tc *call) places(d *Decoder, from toolCall) []trace.Location {
	var all []trace.Location
	add := func(path string, line int) {
		if path != "" && !slices.ContainsFunc(all, func(l trace.Location) bool { return l.Path == path }) {
			all = append(all, trace.Location{Path: path, Line: max(line, 0)})
		}
	}
	for _, l := range from.Locations {
		add(l.Path, l.Line)
	}
	if len(all) == 0 {
		all = append(all, tc.tool.Locations...)
	}
	for _, i := range tc.diffs {
		add(i.Path, 0)
	}
	if tc.tool.ToolKind != trace.ToolExecute { // the directory of a command is no file
		for _, path := range d.o.Tools.Reach(tc.tool.RawName, tc.raw).Named {
			add(path, 0)
		}
	}
	return all
}

// restates reports whether an input says nothing that another one does not say: agents
// ask with a part of the input, or with other spellings of its keys. A diff shows what
// the input would do.
func restates(asked, shown raw) bool {
	known := map[string]any{}
	for key, value := range parse[map[string]any](shown) {
		known[folded(key)] = value
	}
	says := parse[map[string]any](asked)
	for key, value := range says {
		if was, ok := known[folded(key)]; key != "diff" && (!ok || !reflect.DeepEqual(was, value)) {
			return false
		}
	}
	return len(says) > 0 || bytes.Equal(asked, shown)
}

func folded(key string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(key))
}

// complete puts the whole call on record.
func (tc *call) complete() {
	tc.drafted()
	tc.whole = true
	tc.b.ToolCall(tc.tool)
}

// print takes the output of a running call.
func (tc *call) print(u update) {
	m := parse[meta](u.Meta)
	switch printed := string(m.Delta.Data + m.Output.Data); {
	case printed != "":
		tc.streamed = printed
		tc.b.ToolResultDelta(u.ID, printed)
	case u.Status == "in_progress" && present(u.Content) && tc.text() != "":
		tc.b.ToolResultProgress(u.ID, agentkit.Encode(tc.text()))
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
		for _, i := range tc.diffs {
			tc.b.Emit(i.change(r.ToolCallID))
		}
	case tc.denied:
		r.Status, r.Error = trace.ToolDenied, cmp.Or(plainText(r.Output), "Not allowed.")
	case c.stopped:
		r.Status, r.Error = trace.ToolCanceled, plainText(r.Output)
	default:
		r.Status, r.Error = trace.ToolFailed, cmp.Or(plainText(r.Output), lastLine(tc.streamed), "The tool failed.")
	}
	late := tc.b.Counts().Late
	tc.b.ToolResult(r)
	tc.missed = ok && tc.b.Counts().Late > late
}

// result is the call's output: as it is, or else what the call shows.
func (tc *call) result() raw {
	switch text := cmp.Or(tc.text(), tc.printed); {
	case tc.streamed != "" && plainText(tc.output) == "":
		return nil // the Builder has it
	case present(tc.output):
		return tc.output
	case text != "":
		return agentkit.Encode(text)
	case slices.ContainsFunc(tc.items, func(i item) bool { return i.Type == "content" }):
		return tc.content
	}
	return nil
}

// before is the old text of a diff; "" if there was none.
func (i item) before() string {
	if i.OldText == nil {
		return ""
	}
	return string(*i.OldText)
}

// change is what a diff does to its file.
func (i item) change(toolCallID string) trace.FileChange {
	before := i.before()
	change := trace.FileChange{Path: i.Path, Change: trace.FileModified, ToolCallID: toolCallID, Diff: trace.UnifiedDiff(i.Path, before, string(i.NewText))}
	switch kind := parse[meta](i.Meta).Kind; {
	case kind == "delete":
		change.Change = trace.FileDeleted
	case kind == "add", kind == "" && before == "":
		change.Change = trace.FileCreated
	}
	return change
}

// plainText is the text in an output, if there is one.
func plainText(output raw) string {
	o := parse[struct {
		Error   any    `json:"error"`
		Message string `json:"message"`
		Output  string `json:"output"`
	}](output)
	failure, _ := o.Error.(string) // an error of another form has no text
	return cmp.Or(parse[string](output), failure, o.Message, o.Output)
}

func lastLine(s string) string {
	s = strings.TrimSpace(s)
	return strings.TrimSpace(s[strings.LastIndex(s, "\n")+1:])
}

// terminalOutput takes what a terminal has printed so far.
func (d *Decoder) terminalOutput(terminal string, result raw) {
	output := parse[struct {
		Output text `json:"output"`
	}](result).Output
	if d.turn == nil || output == "" {
		return
	}
	for _, tc := range d.turn.calls {
		shown := slices.ContainsFunc(tc.items, func(i item) bool { return i.Type == "terminal" && i.TerminalID == terminal })
		if shown && !tc.done && tc.printed != string(output) {
			tc.printed = string(output)
			tc.b.ToolResultProgress(tc.tool.ToolCallID, agentkit.Encode(tc.printed))
		}
	}
}
