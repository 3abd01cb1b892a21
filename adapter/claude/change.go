package claude

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tributary-dev/tributary/trace"
)

// diffBytes bounds the diff of a new file: beyond it, the call's input says it.
const diffBytes = 256 << 10

// patch is what Claude Code says of an edited or written file.
type patch struct {
	Type     string  `json:"type"`
	FilePath string  `json:"filePath"`
	Content  string  `json:"content"`
	Original *string `json:"originalFile"`
	Hunks    []hunk  `json:"structuredPatch"`
}

type hunk struct {
	OldStart int      `json:"oldStart"`
	OldLines int      `json:"oldLines"`
	NewStart int      `json:"newStart"`
	NewLines int      `json:"newLines"`
	Lines    []string `json:"lines"`
}

// fileChange reads the change of a file from a call's structured result.
func fileChange(result raw) (trace.FileChange, bool) {
	var p patch
	if json.Unmarshal(result, &p) != nil || p.FilePath == "" || p.Hunks == nil {
		return trace.FileChange{}, false
	}
	c := trace.FileChange{Path: p.FilePath, Change: trace.FileModified}
	if p.Type == "create" {
		c.Change = trace.FileCreated
		if len(p.Hunks) == 0 {
			p.Hunks = newFile(p.Content)
		}
	}
	c.Diff = p.diff()
	return c, true
}

// newFile is the hunk that makes a file of nothing.
func newFile(content string) []hunk {
	if content == "" || len(content) > diffBytes {
		return nil
	}
	lines := strings.SplitAfter(content, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	h := hunk{NewStart: 1, NewLines: len(lines)}
	for _, line := range lines {
		h.Lines = append(h.Lines, "+"+strings.TrimSuffix(line, "\n"))
	}
	if !strings.HasSuffix(content, "\n") {
		h.Lines = append(h.Lines, `\ No newline at end of file`)
	}
	return []hunk{h}
}

// diff is the patch as a unified diff.
func (p patch) diff() string {
	if len(p.Hunks) == 0 {
		return ""
	}
	var b strings.Builder
	from := p.FilePath
	if p.Type == "create" {
		from = "/dev/null"
	}
	fmt.Fprintf(&b, "--- %s\n+++ %s\n", from, p.FilePath)
	for _, h := range p.Hunks {
		fmt.Fprintf(&b, "@@ -%d,%d +%d,%d @@\n", h.OldStart, h.OldLines, h.NewStart, h.NewLines)
		for _, line := range h.Lines {
			b.WriteString(line)
			b.WriteByte('\n')
		}
	}
	return b.String()
}
