package eval

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
)

// Workspace is the directory in which the agent worked, as it was after the run.
type Workspace interface {
	// ReadFile reads a file by its path in the workspace; the error of a missing one is
	// [fs.ErrNotExist].
	ReadFile(ctx context.Context, path string) ([]byte, error)
	// Changes are the files that differ from the workspace before the run, in order.
	Changes(ctx context.Context) ([]Change, error)
	// Run runs a command by a shell in the workspace, and returns its exit status.
	Run(ctx context.Context, command string) (status int, err error)
}

// Change is a file that differs.
type Change struct {
	Path string
	// Lines are those that were added and removed; 0 for a file that is no text.
	Lines int
}

func broken(err error) judgement {
	return unclear(nil, "the workspace cannot be read: %v", err)
}

// file judges a file after the run.
type file struct {
	Text textRules `yaml:",inline"`

	Path string `yaml:"path"`
	// Exists is true unless it says otherwise.
	Exists *bool `yaml:"exists"`
}

func (f *file) fault() *fault {
	exists := f.Exists == nil || *f.Exists
	switch {
	case !fs.ValidPath(f.Path) || f.Path == ".":
		return &fault{"path", "must be the path of a file in the workspace, such as docs/a.md"}
	case !exists && f.Text != (textRules{}):
		return &fault{"exists", "is false, so the file has no text: remove the other keys"}
	case f.Text != (textRules{}):
		return f.Text.fault()
	}
	return nil
}

func (f *file) grade(ctx context.Context, _ *Session, m Means) judgement {
	data, err := m.Workspace.ReadFile(ctx, f.Path)
	missing := errors.Is(err, fs.ErrNotExist)
	switch exists := f.Exists == nil || *f.Exists; {
	case err != nil && !missing:
		return broken(err)
	case missing:
		return passIf(!exists, nil, "the file %s is not there", f.Path)
	case !exists:
		return passIf(false, nil, "the file %s is there", f.Path)
	}
	if broken := f.Text.broken("the file "+f.Path, string(data)); broken != "" {
		return passIf(false, nil, "%s", broken)
	}
	return passIf(true, nil, "the file %s is as it should be", f.Path)
}

// diff judges what changed in the workspace.
type diff struct {
	// Only are patterns of paths: each changed file must be like one. * stays within a name, and
	// a pattern that ends with /** is a directory with all that is in it.
	Only []string `yaml:"only"`
	// MaxLines bounds the lines that were added and removed.
	MaxLines *int `yaml:"max_lines"`
}

func (d *diff) fault() *fault {
	if none(d) {
		return &fault{"", "says nothing: write only or max_lines"}
	}
	for i, p := range d.Only {
		if _, err := path.Match(strings.TrimSuffix(p, "/**"), ""); err != nil {
			return &fault{fmt.Sprintf("only[%d]", i), "is no pattern: write a path such as docs/*.md or docs/**"}
		}
	}
	return nil
}

func (d *diff) grade(ctx context.Context, _ *Session, m Means) judgement {
	changes, err := m.Workspace.Changes(ctx)
	if err != nil {
		return broken(err)
	}
	lines := 0
	for _, c := range changes {
		lines += c.Lines
		if d.Only != nil && !d.allows(c.Path) {
			return passIf(false, nil, "%s changed, which is not allowed", quoted(c.Path))
		}
	}
	if d.MaxLines != nil && lines > *d.MaxLines {
		return passIf(false, nil, "%d lines changed in %d files, and %d are allowed", lines, len(changes), *d.MaxLines)
	}
	return passIf(true, nil, "%d lines changed in %d files", lines, len(changes))
}

func (d *diff) allows(changed string) bool {
	for _, p := range d.Only {
		if dir, tree := strings.CutSuffix(p, "/**"); tree && strings.HasPrefix(changed, dir+"/") {
			return true
		}
		if ok, _ := path.Match(p, changed); ok {
			return true
		}
	}
	return false
}

// command judges the workspace by the exit status of a command.
type command struct {
	Run string `yaml:"run"`
	// Exit is the status that passes; nil is 0.
	Exit *int `yaml:"exit"`
}

func (c *command) fault() *fault {
	if c.Run == "" {
		return &fault{"run", "is missing: write a command"}
	}
	if c.Exit != nil && *c.Exit > 255 {
		return &fault{"exit", "is more than 255: write a status that a command can have"}
	}
	return nil
}

func (c *command) grade(ctx context.Context, _ *Session, m Means) judgement {
	want := 0
	if c.Exit != nil {
		want = *c.Exit
	}
	status, err := m.Workspace.Run(ctx, c.Run)
	if err != nil {
		return broken(err)
	}
	return passIf(status == want, nil, "the command ended with the status %d", status)
}
