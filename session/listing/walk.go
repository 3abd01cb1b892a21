// Package listing lists the files of a workspace for people who look for one. It leaves out
// what version control ignores, follows no symbolic link, and is bounded in files, depth and
// time.
package listing

import (
	"context"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-git/go-git/v5/plumbing/format/gitignore"

	"github.com/tributary-dev/tributary/policy/workspace"
)

const (
	// MostFiles bounds the files of a listing.
	MostFiles = 20_000
	// MostDepth bounds the directories above a file.
	MostDepth = 20
	// mostNames bounds the names that are looked at, files or not.
	mostNames = 10 * MostFiles
	// mostTime bounds a walk.
	mostTime = 2 * time.Second
	// mostPatterns bounds the patterns of all ignore files.
	mostPatterns = 2000
)

const ignoreFile = ".gitignore"

// Listing is the files of a workspace, by their slash-separated paths in it. Files that are
// less deep come first.
type Listing struct {
	Files []string
	// More says that there are more files than the listing has.
	More bool
}

// Walk lists the files of a workspace. It leaves out .git, node_modules, symbolic links, what
// is no regular file, what the files named .gitignore say, and directories that cannot be read.
func Walk(ctx context.Context, dir workspace.Dir) (Listing, error) {
	ctx, cancel := context.WithTimeout(ctx, mostTime)
	defer cancel()
	w := walker{dir: dir}
	next := []string{""}
	for depth := 0; len(next) > 0; depth++ {
		var below []string
		for _, d := range next {
			if ctx.Err() != nil || w.full() || depth > MostDepth {
				w.More = true
				break
			}
			names, err := dir.List(path.Join(".", d))
			if err != nil && d == "" {
				return Listing{}, err
			}
			below = append(below, w.take(ctx, d, names)...)
		}
		next = below
		if w.More {
			break
		}
	}
	return w.Listing, nil
}

type walker struct {
	Listing

	dir      workspace.Dir
	patterns []gitignore.Pattern
	names    int
}

func (w *walker) full() bool { return len(w.Files) >= MostFiles || w.names >= mostNames }

// take lists the names of one directory, and returns the directories in it.
func (w *walker) take(ctx context.Context, dir string, names []workspace.Entry) (below []string) {
	w.names += len(names)
	steps := split(dir)
	if slices.ContainsFunc(names, func(e workspace.Entry) bool { return e.Name == ignoreFile && e.Type.IsRegular() }) {
		w.ignore(steps, path.Join(dir, ignoreFile))
	}
	ignored := gitignore.NewMatcher(w.patterns)
	for _, e := range names {
		at := path.Join(dir, e.Name)
		switch {
		case ctx.Err() != nil: // a large directory with many patterns takes long
			w.More = true
			return nil
		case e.Name == ".git" || e.Name == "node_modules" || !utf8.ValidString(e.Name):
		case e.Type&fs.ModeSymlink != 0 || !e.Type.IsDir() && !e.Type.IsRegular():
		case ignored.Match(append(slices.Clone(steps), e.Name), e.Type.IsDir()):
		case e.Type.IsDir():
			below = append(below, at)
		case len(w.Files) >= MostFiles:
			w.More = true
			return nil
		default:
			w.Files = append(w.Files, at)
		}
	}
	return below
}

// ignore takes over the patterns of an ignore file in a directory.
func (w *walker) ignore(dir []string, file string) {
	data, _, err := w.dir.ReadFile(file)
	if err != nil {
		return
	}
	for line := range strings.Lines(string(data)) {
		line = strings.TrimRight(line, "\r\n")
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if len(w.patterns) >= mostPatterns {
			return
		}
		w.patterns = append(w.patterns, gitignore.ParsePattern(line, dir))
	}
}

func split(dir string) []string {
	if dir == "" {
		return nil
	}
	return strings.Split(dir, "/")
}
