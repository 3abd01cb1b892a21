package claude

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tributary-dev/tributary/trace"
)

// patch is what Claude Code says of an edited or written file.
type patch struct {
	Type     string `json:"type"`
	FilePath string `json:"filePath"`
	Content  string `json:"content"`
	Hunks    []hunk `json:"structuredPatch"`
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
		c.Change, c.Diff = trace.FileCreated, trace.UnifiedDiff(p.FilePath, "", p.Content)
	} else if len(p.Hunks) > 0 {
		c.Diff = p.diff()
	}
	return c, true
}

// diff is the patch as a unified diff.
func (p patch) diff() string {
	var b strings.Builder
	fmt.Fprintf(&b, "--- %[1]s\n+++ %[1]s\n", p.FilePath)
	for _, h := range p.Hunks {
		fmt.Fprintf(&b, "@@ -%d,%d +%d,%d @@\n", h.OldStart, h.OldLines, h.NewStart, h.NewLines)
		for _, line := range h.Lines {
			b.WriteString(line)
			b.WriteByte('\n')
		}
	}
	return b.String()
}
