package opencode

import (
	"bytes"
	"cmp"
	"strings"

	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/trace"
)

// toolCall is a call of a tool.
type toolCall struct {
	id     string
	m      *message
	name   string
	input  raw // nil until the call runs
	output string
	denied bool
	diff   string // of the permission request
}

// callOf returns a call by the agent's id of it, in a message.
func (t *turn) callOf(messageID, callID string) *toolCall { return t.calls[messageID+" "+callID] }

// tool takes the part of a tool, as it is now.
func (d *Decoder) tool(m *message, p part) {
	key := p.MessageID + " " + p.CallID
	c := d.turn.calls[key]
	if c == nil {
		c = &toolCall{id: p.CallID, m: m, name: p.Tool}
		d.turn.calls[key] = c
		known := d.tools.Classify(p.Tool, nil)
		m.b.ToolCallStart(trace.ToolCallStart{ToolCallID: c.id, RawName: p.Tool, Name: known.Name, ToolKind: known.Kind})
	}
	if p.State.Status == "pending" {
		return
	}
	if c.input == nil {
		c.input = p.State.Input
		m.b.ToolCall(d.whole(c, p.Tool, c.input))
	} else if !bytes.Equal(c.input, p.State.Input) || c.name != p.Tool {
		c.name, c.input = p.Tool, p.State.Input
		changed := d.whole(c, p.Tool, c.input)
		changed.Locations = append([]trace.Location{}, changed.Locations...) // none replaces those of the earlier input
		m.b.ToolCallUpdate(changed)
	}
	if child := p.State.Metadata.SessionID; child != "" && child != d.session {
		d.children[child], d.turn.started[c.id] = c.id, true
	}
	d.release(func(r request) bool { return r.Tool.MessageID == p.MessageID && r.Tool.CallID == p.CallID })
	switch {
	case terminal(p.State.Status):
		d.result(c, p.State)
	case p.State.Metadata.Output != nil:
		c.progress(string(*p.State.Metadata.Output))
	}
}

// whole is a call with its input.
func (d *Decoder) whole(c *toolCall, name string, input raw) trace.ToolCall {
	known := d.tools.Classify(name, input)
	return trace.ToolCall{
		ToolCallID: c.id, RawName: name, Name: known.Name, ToolKind: known.Kind, Title: known.Title, Locations: known.Locations, Input: input,
	}
}

// progress takes the output so far.
func (c *toolCall) progress(output string) {
	more, grown := strings.CutPrefix(output, c.output)
	c.output = output
	switch {
	case !grown:
		c.m.b.ToolResultProgress(c.id, agentkit.Encode(output))
	case more != "":
		c.m.b.ToolResultDelta(c.id, more)
	}
}

// result ends a call.
func (d *Decoder) result(c *toolCall, s state) {
	r := trace.ToolResult{ToolCallID: c.id, Status: trace.ToolCompleted}
	if s.Status == "completed" {
		r.Output = agentkit.Encode(string(s.Output))
	}
	switch {
	case c.denied:
		r.Status, r.Error = trace.ToolDenied, string(s.Error)
	case s.Metadata.Interrupted, d.turn.aborted:
		r.Status, r.Error = trace.ToolCanceled, cmp.Or(string(s.Error), "The turn was stopped while the tool ran.")
	case s.Status == "error":
		r.Status, r.Error = trace.ToolFailed, string(s.Error)
	}
	c.m.b.ToolResult(r)
	for _, f := range s.Attachments {
		c.m.b.Emit(trace.File{URL: f.URL, MediaType: f.Mime, Filename: f.Filename})
	}
	if r.Status == trace.ToolCompleted {
		d.fileChange(c, s)
	}
}

// fileChange tells which file a call has changed.
func (d *Decoder) fileChange(c *toolCall, s state) {
	change := trace.FileChange{Path: s.Metadata.Filepath, ToolCallID: c.id, Change: trace.FileModified, Diff: s.Metadata.Diff}
	if s.Metadata.FileDiff != nil {
		change.Path = s.Metadata.FileDiff.File
	}
	if change.Path == "" || d.tools.Kind(c.name) != trace.ToolEdit {
		return
	}
	if change.Diff == "" {
		change.Diff = c.diff
	}
	if s.Metadata.Exists != nil && !*s.Metadata.Exists {
		change.Change = trace.FileCreated
	}
	d.turn.changed[change.Path] = change.Diff
	c.m.b.Emit(change)
}

// diff takes what the session has changed in all, in a repository. What no call has told
// was changed by commands.
func (d *Decoder) diff(p properties) {
	turn := d.running()
	if turn == nil {
		return
	}
	for _, f := range p.Diff {
		before, known := turn.changed[f.File]
		turn.changed[f.File] = f.Patch
		if turn.newest == nil || known && (before == f.Patch || f.Patch == "") {
			continue // from before the turn
		}
		kind := map[string]trace.ChangeKind{"added": trace.FileCreated, "deleted": trace.FileDeleted}[f.Status]
		if kind == "" {
			kind = trace.FileModified
		}
		turn.b.Emit(trace.FileChange{Path: f.File, Change: kind, Diff: f.Patch})
	}
}

// asRun is the input of a call as the tool will run it: what the request says counts.
func asRun(input, meta raw) raw {
	var in, said map[string]raw
	if !decode(input, &in) || !decode(meta, &said) {
		return input
	}
	changed := false
	for key, value := range said {
		if key == "filepath" {
			key = "filePath"
		}
		if old, known := in[key]; (known || key == "command" || key == "filePath" || key == "url") && !bytes.Equal(old, value) {
			in[key], changed = value, true
		}
	}
	if !changed {
		return input
	}
	return agentkit.Encode(in)
}
