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
	b      *trace.Builder
	name   string
	input  raw // nil until the call runs
	output string
	diff   string // of the permission request
}

func callKey(messageID, callID string) string { return messageID + " " + callID }

// tool takes the part of a tool, as it is now.
func (d *Decoder) tool(m *message, p part) {
	turn, key := d.turn, callKey(p.MessageID, p.CallID)
	c := turn.calls[key]
	if c == nil {
		c = &toolCall{id: p.CallID, b: m.b, name: p.Tool}
		turn.calls[key] = c
		known := d.tools.Call(c.id, p.Tool, nil)
		m.b.ToolCallStart(trace.ToolCallStart{ToolCallID: c.id, RawName: p.Tool, Name: known.Name, ToolKind: known.ToolKind})
	}
	s := p.State
	switch {
	case s.Status == "pending":
		return
	case c.input == nil:
		c.input = s.Input
		m.b.ToolCall(d.tools.Call(c.id, p.Tool, c.input))
	case !bytes.Equal(c.input, s.Input) || c.name != p.Tool:
		c.name, c.input = p.Tool, s.Input
		changed := d.tools.Call(c.id, p.Tool, c.input)
		changed.Locations = append([]trace.Location{}, changed.Locations...) // none replaces those of the earlier input
		m.b.ToolCallUpdate(changed)
	}
	if child := s.Metadata.SessionID; child != "" && child != d.session {
		turn.adopt(child, c.id)
	}
	for _, a := range turn.asks {
		if a.call == c {
			d.put(a)
		}
	}
	switch {
	case s.Status == "completed", s.Status == "error":
		d.result(c, s)
	case s.Metadata.Output != nil:
		c.progress(string(*s.Metadata.Output))
	}
}

// progress takes the output so far.
func (c *toolCall) progress(output string) {
	more, grown := strings.CutPrefix(output, c.output)
	c.output = output
	switch {
	case !grown:
		c.b.ToolResultProgress(c.id, agentkit.Encode(output))
	case more != "":
		c.b.ToolResultDelta(c.id, more)
	}
}

// result ends a call.
func (d *Decoder) result(c *toolCall, s state) {
	r := trace.ToolResult{ToolCallID: c.id, Status: trace.ToolCompleted, Error: string(s.Error)}
	if s.Status == "completed" {
		r.Output = agentkit.Encode(string(s.Output))
	}
	switch {
	case s.Metadata.Interrupted, d.turn.aborted:
		r.Status, r.Error = trace.ToolCanceled, cmp.Or(r.Error, "The turn was stopped while the tool ran.")
	case s.Status == "error":
		r.Status = trace.ToolFailed
	}
	c.b.ToolResult(r)
	for _, f := range s.Attachments {
		c.b.Emit(trace.File{URL: f.URL, MediaType: f.Mime, Filename: f.Filename})
	}
	if r.Status == trace.ToolCompleted {
		d.fileChange(c, s.Metadata)
	}
}

// fileChange tells which file a call has changed.
func (d *Decoder) fileChange(c *toolCall, m metadata) {
	change := trace.FileChange{Path: m.Filepath, ToolCallID: c.id, Change: trace.FileModified, Diff: cmp.Or(m.Diff, c.diff)}
	if m.FileDiff != nil {
		change.Path = m.FileDiff.File
	}
	if change.Path == "" || d.tools.Kind(c.name) != trace.ToolEdit {
		return
	}
	if m.Exists != nil && !*m.Exists {
		change.Change = trace.FileCreated
	}
	d.turn.change(change.Path, change.Diff)
	c.b.Emit(change)
}

// change keeps the newest diff of a file.
func (t *turn) change(file, diff string) {
	if was, known := t.changed[file]; !known {
		agentkit.CountKept(t.b, file, diff)
	} else if was != diff {
		t.b.Hold(len(diff) - len(was))
	}
	t.changed[file] = diff
}

// diff takes what the session has changed in all, in a repository. Commands have made the
// changes that no call has named.
func (d *Decoder) diff(p properties) {
	turn := d.turn
	kinds := map[string]trace.ChangeKind{"added": trace.FileCreated, "deleted": trace.FileDeleted}
	for _, f := range p.Diff {
		before, known := turn.changed[f.File]
		turn.change(f.File, f.Patch)
		if turn.newest == nil || known && (before == f.Patch || f.Patch == "") {
			continue // from before the turn
		}
		turn.b.Emit(trace.FileChange{Path: f.File, Change: cmp.Or(kinds[f.Status], trace.FileModified), Diff: f.Patch})
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
