package worktool

import (
	"bytes"
	"context"
	"fmt"
	"path"
	"regexp"
	"strings"
)

// Bounds of list_dir and grep.
const (
	maxNames   = 2000
	maxMatches = 200
	maxVisited = 20000
	maxLine    = 300
)

// An absent path is the workspace. An empty one is outside, as everywhere.
type listInput struct {
	Path *string `json:"path,omitempty" jsonschema:"The directory, relative to the workspace; . or nothing is the workspace itself"`
}

type grepInput struct {
	Pattern string  `json:"pattern"`
	Path    *string `json:"path,omitempty" jsonschema:"A file or a directory, relative to the workspace; . or nothing is all of it"`
	Include string  `json:"include,omitempty" jsonschema:"Only files whose name matches, such as *.go"`
}

func orAll(path *string) string {
	if path == nil {
		return "."
	}
	return *path
}

func (f *files) list(_ context.Context, in listInput) (string, error) {
	entries, err := f.dir.List(orAll(in.Path))
	if err != nil {
		return "", err
	}
	if len(entries) == 0 {
		return "[the directory is empty]", nil
	}
	var text strings.Builder
	for i, e := range entries {
		if i == maxNames {
			fmt.Fprintf(&text, "[%d more]\n", len(entries)-i)
			break
		}
		text.WriteString(e.Name)
		if e.Type.IsDir() {
			text.WriteByte('/')
		}
		text.WriteByte('\n')
	}
	return text.String(), nil
}

// search is one grep.
type search struct {
	files   *files
	pattern *regexp.Regexp
	include string
	visited int
	found   []string
}

func (f *files) grep(ctx context.Context, in grepInput) (string, error) {
	where := orAll(in.Path)
	pattern, err := regexp.Compile(in.Pattern)
	if err != nil {
		return "", fmt.Errorf("the pattern is no regular expression: %w", err)
	}
	if _, err := path.Match(in.Include, ""); err != nil {
		return "", fmt.Errorf("include is no file pattern: %w", err)
	}
	info, err := f.dir.Stat(where)
	if err != nil {
		return "", err
	}
	s := &search{files: f, pattern: pattern, include: in.Include}
	if info.IsDir() {
		err = s.walk(ctx, where)
	} else {
		s.file(where)
	}
	switch {
	case err != nil:
		return "", err
	case len(s.found) == 0:
		return "[nothing matches]", nil
	case s.full():
		s.found = append(s.found, "[there may be more: narrow the search]")
	}
	return strings.Join(s.found, "\n"), nil
}

func (s *search) full() bool { return len(s.found) >= maxMatches || s.visited >= maxVisited }

// walk searches a directory and what is below. Symlinks are not followed, so the walk
// ends.
func (s *search) walk(ctx context.Context, dir string) error {
	entries, err := s.files.dir.List(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if s.full() {
			return nil
		}
		s.visited++
		name := path.Join(dir, e.Name)
		switch {
		case e.Type.IsDir() && e.Name != ".git":
			_ = s.walk(ctx, name) // a directory that cannot be read hides its own files only
		case e.Type.IsRegular():
			s.file(name)
		}
	}
	return nil
}

func (s *search) file(name string) {
	if ok, err := path.Match(s.include, path.Base(name)); s.include != "" && (err != nil || !ok) {
		return
	}
	data, _, err := s.files.dir.ReadFile(name)
	if err != nil || bytes.IndexByte(data[:min(len(data), 8<<10)], 0) >= 0 {
		return // it is gone, not ours to read, or no text
	}
	for i, line := range bytes.Split(data, []byte("\n")) {
		if !s.pattern.Match(line) {
			continue
		}
		text := strings.ToValidUTF8(string(line[:min(len(line), maxLine)]), "")
		s.found = append(s.found, fmt.Sprintf("%s:%d: %s", name, i+1, strings.TrimSuffix(text, "\r")))
		if len(s.found) >= maxMatches {
			return
		}
	}
}
