package toolloop

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"sync"

	"github.com/tributary-dev/tributary/trace"
	"github.com/tributary-dev/tributary/workspace"
)

// maxLines is how many lines read_file returns, unless the call says otherwise.
const maxLines = 2000

// Files returns the tools read_file, write_file, edit_file, list_dir and grep. They
// reach nothing outside dir.
func Files(dir workspace.Dir) []Tool {
	f := &files{dir: dir}
	return []Tool{
		{
			Name:        "read_file",
			Description: "Reads a text file of the workspace. Long files are read in pieces: give offset and limit.",
			Schema: schema(`{"path":{"type":"string","description":"The file, relative to the workspace"},
				"offset":{"type":"integer","description":"The first line, from 1"},"limit":{"type":"integer","description":"The number of lines"}}`, "path"),
			Run: run(f.read),
		},
		{
			Name:        "write_file",
			Description: "Makes a file of the workspace, or replaces its whole content. Missing directories are made.",
			Schema:      schema(`{"path":{"type":"string","description":"The file, relative to the workspace"},"content":{"type":"string"}}`, "path", "content"),
			Run:         run(f.write),
		},
		{
			Name:        "edit_file",
			Description: "Replaces text in a file of the workspace. old_text must occur exactly once, unless replace_all is set.",
			Schema: schema(`{"path":{"type":"string","description":"The file, relative to the workspace"},"old_text":{"type":"string"},
				"new_text":{"type":"string"},"replace_all":{"type":"boolean"}}`, "path", "old_text", "new_text"),
			Run: run(f.edit),
		},
		{
			Name:        "list_dir",
			Description: "Lists a directory of the workspace. Directories end with a slash.",
			Schema:      schema(`{"path":{"type":"string","description":"The directory, relative to the workspace; . or nothing is the workspace itself"}}`),
			Run:         run(f.list),
		},
		{
			Name:        "grep",
			Description: "Searches files of the workspace for a regular expression (RE2) and returns path:line: text.",
			Schema: schema(`{"pattern":{"type":"string"},"path":{"type":"string","description":"A file or a directory, relative to the workspace; . or nothing is all of it"},
				"include":{"type":"string","description":"Only files whose name matches, such as *.go"}}`, "pattern"),
			Run: run(f.grep),
		},
	}
}

// schema is the JSON Schema of an object with these properties.
func schema(properties string, required ...string) json.RawMessage {
	required = append([]string{}, required...) // an empty list, and not null
	raw, err := json.Marshal(map[string]any{"type": "object", "properties": json.RawMessage(properties), "required": required, "additionalProperties": false})
	if err != nil {
		panic(err) // the properties are literals of this package
	}
	return raw
}

// run makes a tool of a function with an input type of its own and a text as output.
func run[In any](f func(context.Context, In) (string, error)) func(context.Context, json.RawMessage, io.Writer) (json.RawMessage, error) {
	return func(ctx context.Context, raw json.RawMessage, _ io.Writer) (json.RawMessage, error) {
		var in In
		if err := json.Unmarshal(raw, &in); err != nil {
			return nil, fmt.Errorf("the input does not fit: %w", err)
		}
		text, err := f(ctx, in)
		return textOutput(text), err
	}
}

func textOutput(text string) json.RawMessage {
	if text == "" {
		return nil
	}
	raw, _ := json.Marshal(text) //nolint:errcheck,errchkjson // a string has a JSON form
	return raw
}

type files struct {
	dir workspace.Dir
	mu  sync.Mutex // two edits of one step must both survive
}

type readInput struct {
	Path          string
	Offset, Limit int
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

type writeInput struct{ Path, Content string }

func (f *files) write(ctx context.Context, in writeInput) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	old, cut, err := f.dir.ReadFile(in.Path)
	isNew := errors.Is(err, fs.ErrNotExist)
	if err != nil && !isNew {
		return "", err
	}
	if err := f.dir.WriteFile(in.Path, []byte(in.Content)); err != nil {
		return "", err
	}
	change := trace.FileChange{Path: in.Path, Change: trace.FileModified}
	if isNew {
		change.Change = trace.FileCreated
	}
	if !cut {
		change.Diff = trace.UnifiedDiff(in.Path, string(old), in.Content)
	}
	Changed(ctx, change)
	return fmt.Sprintf("%d bytes were written to %s.", len(in.Content), in.Path), nil
}

type editInput struct {
	Path       string
	OldText    string `json:"old_text"`
	NewText    string `json:"new_text"`
	ReplaceAll bool   `json:"replace_all"`
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
	Changed(ctx, trace.FileChange{Path: in.Path, Change: trace.FileModified, Diff: trace.UnifiedDiff(in.Path, old, changed)})
	return fmt.Sprintf("%d replacement(s) in %s.", n, in.Path), nil
}
