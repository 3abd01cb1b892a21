package worktool

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"

	"github.com/tributary-dev/tributary/agent/toolloop"
	"github.com/tributary-dev/tributary/policy/workspace"
	"github.com/tributary-dev/tributary/trace"
)

// maxLines is how many lines read_file returns, unless the call says otherwise.
const maxLines = 2000

// Files returns the tools read_file, write_file, edit_file, list_dir and grep. They
// reach nothing outside dir.
func Files(dir workspace.Dir) []toolloop.Tool {
	f := &files{dir: dir}
	return []toolloop.Tool{
		toolloop.New("read_file", "Reads a text file of the workspace. Long files are read in pieces: give offset and limit.", f.read),
		toolloop.New("write_file", "Makes a file of the workspace, or replaces its whole content. Missing directories are made.", f.write),
		toolloop.New("edit_file", "Replaces text in a file of the workspace. old_text must occur exactly once, unless replace_all is set.", f.edit),
		toolloop.New("list_dir", "Lists a directory of the workspace. Directories end with a slash.", f.list),
		toolloop.New("grep", "Searches files of the workspace for a regular expression (RE2) and returns path:line: text.", f.grep),
	}
}

type files struct {
	dir workspace.Dir
	mu  sync.Mutex // two edits of one step must both survive
}

type readInput struct {
	Path   string `json:"path" jsonschema:"The file, relative to the workspace"`
	Offset int    `json:"offset,omitempty" jsonschema:"The first line, from 1"`
	Limit  int    `json:"limit,omitempty" jsonschema:"The number of lines"`
}

func (f *files) read(_ context.Context, in readInput) (string, error) {
	from, limit := max(in.Offset, 1), in.Limit
	if limit <= 0 {
		limit = maxLines
	}
	data, cut, err := f.dir.ReadLines(in.Path, from, limit+1)
	if err != nil {
		return "", err
	}
	lines := strings.SplitAfter(string(data), "\n")
	more := len(lines) > limit && lines[limit] != ""
	switch {
	case strings.ContainsRune(string(data[:min(len(data), 8<<10)]), 0):
		return "", fmt.Errorf("%s is no text file", in.Path)
	case len(data) == 0 && from == 1:
		return "[the file is empty]", nil
	case len(data) == 0:
		return "", fmt.Errorf("%s has no line %d", in.Path, from)
	case more && !cut:
		return strings.Join(lines[:limit], "") + fmt.Sprintf("[the file goes on at line %d]", from+limit), nil
	}
	return string(data), nil
}

type writeInput struct {
	Path    string `json:"path" jsonschema:"The file, relative to the workspace"`
	Content string `json:"content"`
}

func (f *files) write(ctx context.Context, in writeInput) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change := trace.FileChange{Path: in.Path, Change: trace.FileModified}
	old, cut, err := f.dir.ReadFile(in.Path)
	if errors.Is(err, fs.ErrNotExist) {
		change.Change, err = trace.FileCreated, nil
	}
	if err == nil {
		err = f.dir.WriteFile(in.Path, []byte(in.Content))
	}
	if err != nil {
		return "", err
	}
	if !cut {
		change.Diff = trace.UnifiedDiff(in.Path, string(old), in.Content)
	}
	toolloop.Changed(ctx, change)
	return fmt.Sprintf("%d bytes were written to %s.", len(in.Content), in.Path), nil
}

type editInput struct {
	Path       string `json:"path" jsonschema:"The file, relative to the workspace"`
	OldText    string `json:"old_text"`
	NewText    string `json:"new_text"`
	ReplaceAll bool   `json:"replace_all,omitempty"`
}

func (f *files) edit(ctx context.Context, in editInput) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	data, cut, err := f.dir.ReadFile(in.Path)
	if err != nil {
		return "", err
	}
	old := string(data)
	n := strings.Count(old, in.OldText)
	switch {
	case cut:
		return "", fmt.Errorf("%s is larger than %d bytes: edit the file with a command", in.Path, workspace.MaxRead)
	case in.OldText == "":
		return "", errors.New("old_text is empty: give the text to replace, or use write_file")
	case n == 0:
		return "", fmt.Errorf("old_text does not occur in %s: read the file again", in.Path)
	case n > 1 && !in.ReplaceAll:
		return "", fmt.Errorf("old_text occurs %d times in %s: add lines around it, or set replace_all", n, in.Path)
	}
	changed := strings.ReplaceAll(old, in.OldText, in.NewText)
	if err := f.dir.WriteFile(in.Path, []byte(changed)); err != nil {
		return "", err
	}
	toolloop.Changed(ctx, trace.FileChange{Path: in.Path, Change: trace.FileModified, Diff: trace.UnifiedDiff(in.Path, old, changed)})
	return fmt.Sprintf("%d replacement(s) in %s.", n, in.Path), nil
}
