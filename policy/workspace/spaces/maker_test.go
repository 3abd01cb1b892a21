package spaces_test

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/policy/workspace/spaces"
)

// git runs git as a person does, with their name.
func git(t testing.TB, dir string, args ...string) string {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed, so nothing is known of worktrees and commits")
	}
	cmd := exec.CommandContext(t.Context(), "git", append([]string{"-c", "user.name=Ada", "-c", "user.email=ada@example.com", "-c", "protocol.file.allow=always", "-c", "init.defaultBranch=main"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// bench is an agent's directory at source, and a maker.
type bench struct {
	t           *testing.T
	top, source string
	maker       *spaces.Maker
	workspaces  string
}

func newBench(t *testing.T) *bench {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	b := &bench{t: t, top: top, source: filepath.Join(top, "project"), workspaces: filepath.Join(top, "workspaces")}
	write(t, filepath.Join(b.source, "a.txt"), "a\n")
	write(t, filepath.Join(b.source, "sub", "b.txt"), "b\n")
	b.maker, err = spaces.Open(t.Context(), b.workspaces)
	must(t, err)
	return b
}

// repository makes the agent's directory a repository with a commit.
func (b *bench) repository() *bench {
	b.t.Helper()
	write(b.t, filepath.Join(b.source, ".gitignore"), "*.log\n")
	git(b.t, b.source, "init", "-q")
	git(b.t, b.source, "add", ".")
	git(b.t, b.source, "commit", "-q", "-m", "first")
	return b
}

func (b *bench) wanted(form spaces.Form, session string) spaces.Wanted {
	return spaces.Wanted{Name: spaces.Name(session, time.Unix(1, 0)), Session: session, Agent: "claude", Form: form, Source: b.source}
}

func (b *bench) make(form spaces.Form, session string) spaces.Space {
	b.t.Helper()
	s, err := b.maker.Make(b.t.Context(), b.wanted(form, session))
	must(b.t, err)
	return s
}

// holds checks what a workspace has that is nowhere else, and that it is not removed then.
func (b *bench) holds(s spaces.Space, state, says string) {
	b.t.Helper()
	h := s.Look(b.t.Context())
	if h.State() != state || !strings.Contains(h.String(), says) {
		b.t.Errorf("the workspace is %s: %q, want %s: %q", h.State(), h, state, says)
	}
	if state == "clean" {
		return
	}
	err := b.maker.Remove(b.t.Context(), s.Name, false)
	if loss, is := errors.AsType[*spaces.LossError](err); !is || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), loss.Space.Path()) {
		b.t.Errorf("the removal: %v", err)
	}
	if _, err := os.Stat(s.Path()); err != nil {
		b.t.Error("the workspace is gone:", err)
	}
}

// removed checks that a workspace can be removed, and that nothing of it stays.
func (b *bench) removed(s spaces.Space, discard bool) {
	b.t.Helper()
	if err := b.maker.Remove(b.t.Context(), s.Name, discard); err != nil {
		b.t.Error("the removal:", err)
	}
	if _, err := os.Stat(s.Path()); !errors.Is(err, fs.ErrNotExist) {
		b.t.Error("the workspace is there:", err)
	}
	if s.Form == spaces.OwnWorktree {
		if out := git(b.t, b.source, "worktree", "list") + git(b.t, b.source, "branch", "--list", "tributary/*"); strings.Contains(out, s.Name) {
			b.t.Errorf("the repository has still\n%s", out)
		}
	}
	if left := names(b.t, b.workspaces); slices.Contains(left, s.Name) {
		b.t.Errorf("left: %q", left)
	}
}

func forms() []spaces.Form { return []spaces.Form{spaces.OwnCopy, spaces.OwnWorktree} }

func TestEachSessionHasItsOwnFiles(t *testing.T) {
	t.Parallel()
	for _, form := range forms() {
		t.Run(string(form), func(t *testing.T) {
			t.Parallel()
			b := newBench(t).repository()
			one, two := b.make(form, "one"), b.make(form, "two")
			write(t, filepath.Join(one.Path(), "a.txt"), "of one")
			write(t, filepath.Join(one.Path(), "new.txt"), "of one")
			git(t, one.Path(), "checkout", "-q", "-b", "feature")
			if got := read(t, filepath.Join(two.Path(), "a.txt")); got != "a\n" {
				t.Errorf("the other session sees %q", got)
			}
			if got := git(t, two.Path(), "status", "--porcelain"); got != "" {
				t.Errorf("the other session's status is %q", got)
			}
			if got := git(t, b.source, "status", "--porcelain") + read(t, filepath.Join(b.source, "a.txt")); got != "a\n" {
				t.Errorf("the agent's directory has %q", got)
			}
			if got := git(t, b.source, "rev-parse", "--abbrev-ref", "HEAD"); got != "main" {
				t.Errorf("the agent's directory is on the branch %s", got)
			}
			if filepath.Base(one.Path()) != "project" || filepath.Dir(filepath.Dir(one.Path())) != b.workspaces {
				t.Errorf("the path is %s", one.Path())
			}
			all, err := b.maker.List()
			must(t, err)
			if len(all) != 2 || all[0].Session != "one" || all[1].Session != "two" || all[0].Agent != "claude" || all[0].Form != form || !all[0].Ready {
				t.Errorf("the list is %+v", all)
			}
		})
	}
}

func TestALaterProcessFindsTheWorkspace(t *testing.T) {
	t.Parallel()
	for _, form := range forms() {
		b := newBench(t).repository()
		s := b.make(form, "one")
		write(t, filepath.Join(s.Path(), "new.txt"), "work")
		hourAgo := time.Now().Add(-time.Hour)
		must(t, os.Chtimes(filepath.Join(b.workspaces, s.Name, "space.json"), hourAgo, hourAgo))
		var err error
		b.maker, err = spaces.Open(t.Context(), b.workspaces)
		must(t, err)
		again := b.make(form, "one")
		found, err := b.maker.Find(s.Name)
		must(t, err)
		paths, err := found.Paths(t.Context())
		must(t, err)
		want := []string{s.Path()}
		if form == spaces.OwnWorktree {
			want = append(want, filepath.Join(b.source, ".git"))
		}
		if again.Path() != s.Path() || found.Path() != s.Path() || !slices.Equal(paths, want) || read(t, filepath.Join(s.Path(), "new.txt")) != "work" {
			t.Errorf("%s: %s, %s with %q; want %s with %q", form, again.Path(), found.Path(), paths, s.Path(), want)
		}
	}
}

func TestWhatIsNowhereElseIsKept(t *testing.T) {
	t.Parallel()
	commit := func(t *testing.T, dir, file string) {
		write(t, filepath.Join(dir, file), "work")
		git(t, dir, "add", ".")
		git(t, dir, "commit", "-q", "-m", file)
	}
	for _, form := range forms() {
		for _, c := range []struct {
			name, state, says string
			do                func(t *testing.T, b *bench, dir string)
		}{
			{"nothing", "clean", "", func(*testing.T, *bench, string) {}},
			{"an ignored file", "clean", "", func(t *testing.T, _ *bench, dir string) { write(t, filepath.Join(dir, "x.log"), "x") }},
			{"a changed file", "changed", "1 changed file (a.txt)", func(t *testing.T, _ *bench, dir string) { write(t, filepath.Join(dir, "a.txt"), "changed") }},
			{"a changed file of the same size", "changed", "1 changed file (a.txt)", func(t *testing.T, _ *bench, dir string) {
				info, err := os.Stat(filepath.Join(dir, "a.txt"))
				must(t, err)
				write(t, filepath.Join(dir, "a.txt"), "b\n")
				must(t, os.Chtimes(filepath.Join(dir, "a.txt"), time.Time{}, info.ModTime().Add(time.Second)))
			}},
			{"a new file", "changed", "1 changed file (new.txt)", func(t *testing.T, _ *bench, dir string) { write(t, filepath.Join(dir, "new.txt"), "") }},
			{"a removed file", "changed", "1 changed file (a.txt)", func(t *testing.T, _ *bench, dir string) { must(t, os.Remove(filepath.Join(dir, "a.txt"))) }},
			{"many new files", "changed", "9 changed files", func(t *testing.T, _ *bench, dir string) {
				for _, name := range "123456789" {
					write(t, filepath.Join(dir, string(name)), "")
				}
			}},
			{"a staged file", "changed", "1 changed file (new.txt)", func(t *testing.T, _ *bench, dir string) {
				write(t, filepath.Join(dir, "new.txt"), "x")
				git(t, dir, "add", ".")
			}},
			{"a repository in it", "changed", "(nested/)", func(t *testing.T, _ *bench, dir string) {
				git(t, dir, "init", "-q", "nested")
				commit(t, filepath.Join(dir, "nested"), "x")
			}},
			{"a commit", "commits", "1 commit that is nowhere else", func(t *testing.T, _ *bench, dir string) { commit(t, dir, "x") }},
			{"a commit without a branch", "commits", "1 commit that is nowhere else", func(t *testing.T, _ *bench, dir string) {
				git(t, dir, "checkout", "-q", "--detach")
				commit(t, dir, "x")
			}},
			{"a commit and a file", "commits", "2 commits that are nowhere else, and 1 changed file (y)", func(t *testing.T, _ *bench, dir string) {
				commit(t, dir, "x")
				commit(t, dir, "z")
				write(t, filepath.Join(dir, "y"), "")
			}},
			{"a commit that the agent's directory has got", "clean", "", func(t *testing.T, b *bench, dir string) {
				commit(t, dir, "x")
				git(t, b.source, "pull", "-q", "--no-rebase", dir, "HEAD")
			}},
			{"a commit that was merged there", "clean", "", func(t *testing.T, b *bench, dir string) {
				commit(t, dir, "x")
				commit(t, b.source, "y")
				git(t, b.source, "pull", "-q", "--no-rebase", "--no-edit", dir, "HEAD")
			}},
			{"a commit that was pushed", "clean", "", func(t *testing.T, b *bench, dir string) {
				git(t, b.top, "init", "-q", "--bare", "remote")
				git(t, dir, "remote", "add", "origin", filepath.Join(b.top, "remote"))
				commit(t, dir, "x")
				git(t, dir, "push", "-q", "origin", "HEAD:refs/heads/work")
				git(t, dir, "fetch", "-q")
			}},
			{"a commit in the agent's directory", "clean", "", func(t *testing.T, b *bench, _ string) { commit(t, b.source, "x") }},
			{"no branch any more", "clean", "", func(t *testing.T, _ *bench, dir string) {
				git(t, dir, "checkout", "-q", "--detach")
				git(t, dir, "for-each-ref", "refs/heads")
				git(t, dir, "branch", "-q", "-D", git(t, dir, "for-each-ref", "--format=%(refname:short)", "--count=1", "--sort=-refname", "refs/heads"))
			}},
		} {
			t.Run(string(form)+" with "+c.name, func(t *testing.T) {
				t.Parallel()
				b := newBench(t).repository()
				s := b.make(form, "one")
				c.do(t, b, s.Path())
				b.holds(s, c.state, c.says)
				b.removed(s, c.state != "clean")
			})
		}
	}
}

// A repository may be at a commit that is on no branch. The commit is there as before.
func TestAWorktreeOfACommitWithoutABranch(t *testing.T) {
	t.Parallel()
	for _, form := range forms() {
		b := newBench(t).repository()
		git(t, b.source, "checkout", "-q", "--detach")
		git(t, b.source, "commit", "-q", "--allow-empty", "-m", "second")
		s := b.make(form, "one")
		b.holds(s, "clean", "")
		b.removed(s, false)
	}
}

// A branch that an agent makes in a worktree is in the repository, and stays when the worktree goes.
func TestBranchesOfAWorktreeStay(t *testing.T) {
	t.Parallel()
	b := newBench(t).repository()
	s := b.make(spaces.OwnWorktree, "one")
	git(t, s.Path(), "checkout", "-q", "-b", "feature")
	git(t, s.Path(), "commit", "-q", "--allow-empty", "-m", "work")
	b.holds(s, "clean", "")
	b.removed(s, false)
	if got := git(t, b.source, "log", "--format=%s", "-1", "feature"); got != "work" {
		t.Errorf("the branch has %q", got)
	}
}

// The sentence of a refusal has commands that help.
func TestWorkIsKeptAsTheRefusalSays(t *testing.T) {
	t.Parallel()
	for _, form := range forms() {
		b := newBench(t).repository()
		s := b.make(form, "one")
		git(t, s.Path(), "commit", "-q", "--allow-empty", "-m", "work")
		err := b.maker.Remove(t.Context(), s.Name, false)
		_, rest, _ := strings.Cut(err.Error(), "`git -C ")
		command, _, _ := strings.Cut(rest, "`")
		words := strings.Fields(strings.Replace(command, "NAME", "kept", 1))
		git(t, words[0], words[1:]...)
		b.holds(s, "clean", "")
		b.removed(s, false)
	}
}

func TestACopyWithoutARepositoryIsComparedWithTheAgentsDirectory(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	must(t, os.Symlink("a.txt", filepath.Join(b.source, "link")))
	s := b.make(spaces.OwnCopy, "one")
	b.holds(s, "clean", "")
	must(t, os.Chtimes(filepath.Join(s.Path(), "a.txt"), time.Time{}, time.Unix(5, 0)))
	must(t, os.Remove(filepath.Join(s.Path(), "sub", "b.txt")))
	b.holds(s, "clean", "") // the files of a.txt are equal, and that of b.txt is in the agent's directory
	write(t, filepath.Join(s.Path(), "a.txt"), "A\n")
	b.holds(s, "changed", "1 changed file (a.txt)")
	write(t, filepath.Join(b.source, "a.txt"), "A\n")
	b.holds(s, "clean", "")
	write(t, filepath.Join(s.Path(), "sub", "new\nline"), "")
	b.holds(s, "changed", `1 changed file (sub/new\nline)`)
	must(t, os.Remove(filepath.Join(s.Path(), "sub", "new\nline")))
	must(t, os.Remove(filepath.Join(s.Path(), "link")))
	must(t, os.Symlink("sub", filepath.Join(s.Path(), "link")))
	b.holds(s, "changed", "1 changed file (link)")
	must(t, os.RemoveAll(b.source))
	b.holds(s, "unknown", "could not be looked at")
	b.removed(s, true)
}

func TestAWorktreeOfADirectoryInARepository(t *testing.T) {
	t.Parallel()
	b := newBench(t).repository()
	w := b.wanted(spaces.OwnWorktree, "one")
	w.Source = filepath.Join(b.source, "sub")
	s, err := b.maker.Make(t.Context(), w)
	must(t, err)
	paths, err := s.Paths(t.Context())
	must(t, err)
	if read(t, filepath.Join(s.Path(), "b.txt")) != "b\n" || read(t, filepath.Join(s.Path(), "..", "a.txt")) != "a\n" {
		t.Error("the files are elsewhere")
	}
	if want := []string{filepath.Dir(s.Path()), filepath.Join(b.source, ".git")}; !slices.Equal(paths, want) {
		t.Errorf("the paths are %q, want %q", paths, want)
	}
	write(t, filepath.Join(s.Path(), "..", "new"), "x")
	b.holds(s, "changed", "(new)")
	b.removed(s, true)
}

func TestAWorkspaceIsRefused(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	empty := filepath.Join(b.top, "empty")
	git(t, b.top, "init", "-q", "empty")
	elsewhere := filepath.Join(b.top, "elsewhere")
	git(t, newBench(t).repository().source, "worktree", "add", "-q", elsewhere)
	for _, c := range []struct {
		name   string
		form   spaces.Form
		source string
		says   string
	}{
		{"a worktree without a repository", spaces.OwnWorktree, b.source, "is not in a work tree of git"},
		{"a worktree without a commit", spaces.OwnWorktree, empty, "has no commit"},
		{"a copy of a worktree", spaces.OwnCopy, elsewhere, "in another directory"},
		{"no directory", spaces.OwnCopy, filepath.Join(b.top, "nothing"), "no such file"},
		{"another form", "mirror", b.source, `"mirror" is no form`},
		{"a shared directory", spaces.Shared, b.source, `"shared" is no form`},
	} {
		w := b.wanted(c.form, "one")
		w.Source = c.source
		if _, err := b.maker.Make(t.Context(), w); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", c.name, err)
		}
		if left := names(t, b.workspaces); len(left) > 0 {
			t.Errorf("%s: left: %q", c.name, left)
		}
	}
	for _, name := range []string{"", ".", "..", "../x", "a/b", "A", "-x", strings.Repeat("x", 100), "x\n"} {
		w := b.wanted(spaces.OwnCopy, "one")
		w.Name = name
		if _, err := b.maker.Make(t.Context(), w); err == nil {
			t.Errorf("the name %q is taken", name)
		}
		if _, err := b.maker.Find(name); !errors.Is(err, spaces.ErrGone) {
			t.Errorf("the name %q: %v", name, err)
		}
	}
}

func TestAWorkspaceThatIsGone(t *testing.T) {
	t.Parallel()
	for _, form := range forms() {
		b := newBench(t).repository()
		s := b.make(form, "one")
		must(t, os.RemoveAll(s.Path()))
		if _, err := b.maker.Find(s.Name); !errors.Is(err, spaces.ErrGone) || !strings.Contains(err.Error(), s.Path()) {
			t.Errorf("%s: %v", form, err)
		}
		b.removed(s, true)
		if _, err := b.maker.Find(s.Name); !errors.Is(err, spaces.ErrGone) {
			t.Errorf("%s, removed: %v", form, err)
		}
		must(t, b.maker.Remove(t.Context(), s.Name, false))
	}
}

func TestNamesOfWorkspaces(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for _, id := range []string{
		"chat-1", "Chat-1", "CHAT-1", "../../etc", "a/b", `a\b`, "a:b", "..", ".", "con", "nul.txt", "été", "日本", " ", "-", "-rf", "$(id)", "a\tb", "x.lock",
		strings.Repeat("x", 200), strings.Repeat("x", 199) + "y", strings.Repeat("日", 60), "",
	} {
		name := spaces.Name(id, time.Unix(1, 0))
		if len(name) > 51 || strings.ContainsFunc(name, func(r rune) bool { return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyz0123456789-", r) }) || name[0] == '-' {
			t.Errorf("the name of %q is %q", id, name)
		}
		if other, twice := seen[name]; twice {
			t.Errorf("%q and %q have the name %s", id, other, name)
		}
		seen[name] = id
		if spaces.Name(id, time.Unix(1, 0)) != name || spaces.Name(id, time.Unix(1, 1)) == name {
			t.Errorf("the name of %q does not depend on its life alone", id)
		}
	}
}
