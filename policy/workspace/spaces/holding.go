package spaces

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
)

// Holding is what a workspace has that is nowhere else.
type Holding struct {
	// Changed are the first files that differ from the commit, or from the agent's directory,
	// and Changes is the number of all.
	Changed []string
	Changes int
	// Commits is the number of commits that no branch, tag or remote of the agent's
	// repository has, at most 1,000.
	Commits int
	// Unknown says why the workspace could not be looked at.
	Unknown error
}

const (
	// namedChanges is how many changed files are named.
	namedChanges = 3
	// maxChangedName bounds how much of such a name is told.
	maxChangedName = 60
	// countedCommits bounds how many commits are counted.
	countedCommits = 1000
	// maxSubmodules bounds the submodules that are looked at, and maxNesting how deep they are nested.
	maxSubmodules, maxNesting = 100, 5
)

// Clean reports whether nothing would be lost.
func (h Holding) Clean() bool { return h.Changes == 0 && h.Commits == 0 && h.Unknown == nil }

// State is a word for it: clean, changed, commits or unknown.
func (h Holding) State() string {
	switch {
	case h.Unknown != nil:
		return "unknown"
	case h.Commits > 0:
		return "commits"
	case h.Changes > 0:
		return "changed"
	}
	return "clean"
}

// String says it in a phrase, such as "2 commits that are nowhere else, and 1 changed file (a.txt)".
func (h Holding) String() string {
	var all []string
	if h.Commits > 0 {
		all = append(all, plural(h.Commits, "commit that is nowhere else", "commits that are nowhere else"))
	}
	if h.Changes > 0 {
		more := ""
		if h.Changes > len(h.Changed) {
			more = ", …"
		}
		all = append(all, fmt.Sprintf("%s (%s%s)", plural(h.Changes, "changed file", "changed files"), strings.Join(h.Changed, ", "), more))
	}
	if h.Unknown != nil {
		all = append(all, fmt.Sprintf("files that could not be looked at (%v)", h.Unknown))
	}
	return strings.Join(all, ", and ")
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

func (h *Holding) changed(name string) {
	if h.Changes++; len(h.Changed) < namedChanges {
		if len(name) > maxChangedName {
			name = "…" + strings.ToValidUTF8(name[len(name)-maxChangedName:], "")
		}
		quoted := strconv.Quote(name)
		h.Changed = append(h.Changed, quoted[1:len(quoted)-1])
	}
}

// Look says what a workspace has that is nowhere else. Files that git ignores do not count.
func (s Space) Look(ctx context.Context) (h Holding) {
	if !s.Ready {
		return h
	}
	if _, err := os.Lstat(filepath.Join(s.top(), ".git")); s.Form == OwnCopy && errors.Is(err, fs.ErrNotExist) {
		h.Unknown = h.compare(ctx, s.top(), s.Source)
		return h
	}
	l := look{Holding: &h}
	if s.Form == OwnCopy {
		repo, err := s.repositoryIn(ctx)
		if err == nil {
			err = l.clone(ctx, repo, s.Source)
		}
		h.Unknown = err
		return h
	}
	repo, source, err := s.worktreeOf(ctx)
	if err == nil {
		err = l.files(ctx, repo, source.top)
	}
	if err == nil {
		// The branches of the repository stay, except the workspace's own, which may have another name by now.
		err = l.commits(ctx, repo, nil, "HEAD\n"+s.branch(), "--not", s.Base, "--exclude="+s.branch(), "--branches", "--tags", "--remotes", "--glob=refs/stash")
	}
	h.Unknown = err
	return h
}

// look is one call of Look.
type look struct {
	*Holding

	submodules, depth int
}

// files counts the files that differ from the newest commit, also in submodules. source is the
// directory that has the same submodules.
func (l *look) files(ctx context.Context, r repository, source string) error {
	head, err := git(ctx, r.top, nil, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
	if err != nil {
		head = "" // there is none yet
	}
	// What is inside a submodule is looked at below: git would do that with the submodule's configuration.
	out, err := r.worktree(ctx, head, "status", "--porcelain=v1", "-z", "--untracked-files=normal", "--no-renames", "--ignore-submodules=dirty")
	if err != nil {
		return err
	}
	for line := range strings.SplitSeq(strings.TrimSuffix(out, "\x00"), "\x00") {
		if len(line) > 3 {
			l.changed(line[3:])
		}
	}
	if info, err := os.Lstat(filepath.Join(r.top, ".gitmodules")); err != nil || !info.Mode().IsRegular() {
		return nil //nolint:nilerr // there is none
	}
	listed, err := git(ctx, r.top, nil, "config", "--file", filepath.Join(r.top, ".gitmodules"), "--no-includes", "-z", "--get-regexp", `^submodule\..*\.path$`)
	if err != nil {
		return nil //nolint:nilerr // it names no submodule
	}
	for item := range strings.SplitSeq(listed, "\x00") {
		_, name, _ := strings.Cut(item, "\n")
		sub := filepath.Join(r.top, filepath.FromSlash(name))
		if _, err := os.Lstat(filepath.Join(sub, ".git")); name == "" || !filepath.IsLocal(filepath.FromSlash(name)) || err != nil {
			continue
		}
		if l.submodules++; l.submodules > maxSubmodules || l.depth >= maxNesting {
			return errors.New("it has too many submodules")
		}
		inner, err := repositoryAt(ctx, sub)
		if err != nil {
			return err
		}
		l.depth++
		if err := l.clone(ctx, inner, filepath.Join(source, filepath.FromSlash(name))); err != nil {
			return err
		}
		l.depth--
	}
	return nil
}

// clone looks at a repository that is no worktree of the repository at source: its commits are
// elsewhere if that repository has them, or a remote of its own.
func (l *look) clone(ctx context.Context, r repository, source string) error {
	if err := l.files(ctx, r, source); err != nil {
		return err
	}
	tips, err := git(ctx, r.top, nil, "for-each-ref", "--format=%(objectname)", "refs/heads", "refs/tags", "refs/stash")
	if err != nil {
		return err
	}
	if head, err := git(ctx, r.top, nil, "rev-parse", "--verify", "--quiet", "HEAD^{commit}"); err == nil {
		tips += "\n" + head
	}
	remotes, err := git(ctx, r.top, nil, "for-each-ref", "--format=^%(objectname)", "refs/remotes")
	if err != nil {
		return err
	}
	from, err := repositoryAt(ctx, source)
	if err != nil { // nothing is elsewhere but what the remotes have
		return l.commits(ctx, r, nil, tips+"\n"+remotes)
	}
	objects := filepath.Join(r.common, "objects")
	if strings.ContainsAny(objects, "\"\n"+string(filepath.ListSeparator)) {
		objects = strconv.Quote(objects)
	}
	return l.commits(ctx, from, []string{"GIT_ALTERNATE_OBJECT_DIRECTORIES=" + objects}, tips+"\n"+remotes, "--not", "--all")
}

// commits counts the commits that lead to the given ones, and that the arguments do not exclude.
func (l *look) commits(ctx context.Context, r repository, variables []string, tips string, args ...string) error {
	list := strings.Join(strings.Fields(tips), "\n") + "\n" // one a line, and no empty lines
	// A name may be missing, such as a branch that the agent has removed.
	command := []string{"rev-list", "--count", "--max-count=" + strconv.Itoa(countedCommits), "--ignore-missing", "--stdin"}
	out, err := gitReading(ctx, list, r.top, variables, append(command, args...)...)
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(out)
	l.Commits = min(countedCommits, l.Commits+n)
	return err
}

// compare counts the files of a copy that the directory source does not have in the same form.
func (h *Holding) compare(ctx context.Context, dir, source string) error {
	mine, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer mine.Close()
	theirs, err := os.OpenRoot(source)
	if err != nil {
		return err
	}
	defer theirs.Close()
	seen := 0
	return fs.WalkDir(mine.FS(), ".", func(name string, e fs.DirEntry, err error) error {
		if err == nil {
			err = ctx.Err()
		}
		if seen++; err == nil && seen > maxCopyEntries {
			err = fmt.Errorf("it has more than %d files and directories", maxCopyEntries)
		}
		if err != nil {
			return err
		}
		same, err := sameEntry(mine, theirs, name)
		switch {
		case err != nil:
			return err
		case same:
			return nil
		}
		h.changed(path.Clean(name))
		if e.IsDir() {
			return fs.SkipDir
		}
		return nil
	})
}

// sameEntry reports whether two directories have the same file of a name.
func sameEntry(mine, theirs *os.Root, name string) (bool, error) {
	a, err := mine.Lstat(name)
	if err != nil {
		return false, err
	}
	b, err := theirs.Lstat(name)
	if err != nil || a.Mode().Type() != b.Mode().Type() {
		return false, nil //nolint:nilerr // it is not there
	}
	switch {
	case a.IsDir():
		return true, nil
	case a.Mode()&fs.ModeSymlink != 0:
		to, err := mine.Readlink(name)
		other, wrong := theirs.Readlink(name)
		return to == other && wrong == nil, err
	case !a.Mode().IsRegular():
		return true, nil // nothing that could be kept
	case a.Size() != b.Size():
		return false, nil
	case a.ModTime().Equal(b.ModTime()):
		return true, nil
	}
	return sameContent(mine, theirs, name)
}

func sameContent(mine, theirs *os.Root, name string) (bool, error) {
	a, err := mine.Open(name)
	if err != nil {
		return false, err
	}
	defer a.Close()
	b, err := theirs.Open(name)
	if err != nil {
		return false, nil //nolint:nilerr // it cannot be read there, so it is not the same
	}
	defer b.Close()
	x, y := make([]byte, 64<<10), make([]byte, 64<<10)
	for {
		n, err := io.ReadFull(a, x)
		m, other := io.ReadFull(b, y)
		switch {
		case !bytes.Equal(x[:n], y[:m]):
			return false, nil
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return true, nil
		case err != nil || other != nil:
			return false, errors.Join(err, other)
		}
	}
}
