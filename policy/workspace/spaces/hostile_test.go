package spaces_test

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/policy/workspace/spaces"
)

// trap makes a program that leaves a mark when somebody runs it, and says whether that was so.
func trap(t *testing.T, top string) (program string, ran func() bool) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the trap is a shell script")
	}
	program, mark := filepath.Join(top, "trap.sh"), filepath.Join(top, "mark")
	write(t, program, "#!/bin/sh\necho \"$0 $@\" >> '"+mark+"'\ncat\nexit 0\n")
	must(t, os.Chmod(program, 0o755))
	return program, func() bool {
		text, err := os.ReadFile(mark)
		if err == nil {
			t.Logf("ran: %s", text)
			must(t, os.Remove(mark))
		}
		return err == nil
	}
}

// arm makes a repository run a program wherever git can be made to, by what stands in its directory.
func arm(t *testing.T, common, program string) {
	t.Helper()
	for _, hook := range []string{"post-checkout", "reference-transaction", "post-index-change", "pre-auto-gc", "post-merge", "fsmonitor-watchman", "post-rewrite"} {
		must(t, os.MkdirAll(filepath.Join(common, "hooks"), 0o755))
		must(t, os.Remove(filepath.Join(common, "hooks", hook)), fs.ErrNotExist)
		must(t, os.Symlink(program, filepath.Join(common, "hooks", hook)))
	}
	more := filepath.Join(common, "more")
	write(t, more, "[filter \"late\"]\n\tsmudge = "+program+"\n\tclean = "+program+"\n[core]\n\tfsmonitor = "+program+"\n")
	f, err := os.OpenFile(filepath.Join(common, "config"), os.O_APPEND|os.O_WRONLY, 0o644)
	must(t, err)
	_, err = f.WriteString(`
[core]
	fsmonitor = ` + program + `
	hooksPath = ` + filepath.Join(common, "hooks") + `
	sshCommand = ` + program + `
	pager = ` + program + `
	askPass = ` + program + `
	editor = ` + program + `
	alternateRefsCommand = ` + program + `
[filter "trap"]
	smudge = ` + program + `
	clean = ` + program + `
	required = true
[filter "long"]
	process = ` + program + `
	required = true
[diff "trap"]
	command = ` + program + `
	textconv = ` + program + `
[diff]
	external = ` + program + `
[merge "trap"]
	driver = ` + program + `
[credential]
	helper = ` + program + `
[gpg]
	program = ` + program + `
[log]
	showSignature = true
[status]
	submoduleSummary = true
[alias]
	status = !` + program + `
	rev-list = !` + program + `
	worktree = !` + program + `
[includeIf "onbranch:tributary/**"]
	path = ` + more + `
[include]
	path = ` + more + `
[remote "promise"]
	url = ext::` + program + `
	promisor = true
	uploadpack = ` + program + `
	vcs = trap
`)
	must(t, errors.Join(err, f.Close()))
}

//evidence:for ops-workspaces-git
func TestARepositoryRunsNothing(t *testing.T) {
	b := newBench(t)
	program, ran := trap(t, b.top)
	write(t, filepath.Join(b.source, ".gitattributes"), "a.txt filter=trap diff=trap\nsub/b.txt filter=long\nlate.txt filter=late\n")
	write(t, filepath.Join(b.source, "late.txt"), "late\n")
	git(t, b.top, "init", "-q", "library")
	write(t, filepath.Join(b.top, "library", "lib.txt"), "lib\n")
	git(t, filepath.Join(b.top, "library"), "add", ".")
	git(t, filepath.Join(b.top, "library"), "commit", "-q", "-m", "lib")
	git(t, b.source, "init", "-q")
	git(t, b.source, "submodule", "--quiet", "add", filepath.Join(b.top, "library"), "lib")
	git(t, b.source, "add", ".")
	git(t, b.source, "commit", "-q", "-m", "first")
	arm(t, filepath.Join(b.source, ".git"), program)
	arm(t, filepath.Join(b.source, ".git", "modules", "lib"), program)
	write(t, filepath.Join(b.source, "a.txt"), "b\n")
	status := exec.CommandContext(t.Context(), "git", "status")
	status.Dir = b.source
	if _ = status.Run(); !ran() { // it fails, because the trap speaks no protocol of git
		t.Fatal("the trap does not work")
	}
	write(t, filepath.Join(b.source, "a.txt"), "a\n")
	for _, name := range []string{"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_COMMON_DIR", "GIT_CEILING_DIRECTORIES"} {
		t.Setenv(name, filepath.Join(b.top, "elsewhere"))
	}
	for _, name := range []string{"GIT_SSH_COMMAND", "GIT_EXTERNAL_DIFF", "GIT_ASKPASS", "SSH_ASKPASS", "GIT_EDITOR", "GIT_PAGER"} {
		t.Setenv(name, program)
	}

	for _, form := range forms() {
		s := b.make(form, "one")
		if ran() {
			t.Errorf("%s: a program ran when the workspace was made", form)
		}
		for name, want := range map[string]string{"a.txt": "a\n", "sub/b.txt": "b\n", "late.txt": "late\n"} {
			if got := read(t, filepath.Join(s.Path(), filepath.FromSlash(name))); got != want {
				t.Errorf("%s: %s is %q", form, name, got)
			}
		}
		b.holds(s, "clean", "")
		write(t, filepath.Join(s.Path(), "a.txt"), "b\n")
		write(t, filepath.Join(s.Path(), "sub", "b.txt"), "c\n")
		write(t, filepath.Join(s.Path(), "late.txt"), "LATE\n")
		b.holds(s, "changed", "3 changed files")
		if ran() {
			t.Errorf("%s: a program ran when the workspace was looked at", form)
		}
		if form == spaces.OwnCopy { // the submodule is there
			write(t, filepath.Join(s.Path(), "lib", "lib.txt"), "LIB\n")
			b.holds(s, "changed", "4 changed files")
			if ran() {
				t.Errorf("%s: a program of the submodule ran", form)
			}
		}
		must(t, b.maker.Remove(t.Context(), s.Name, true))
		if ran() {
			t.Errorf("%s: a program ran when the workspace was removed", form)
		}
	}
}

// The commits and files of submodules count, with the configuration of the submodule unread.
func TestWorkInASubmoduleIsKept(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	git(t, b.top, "init", "-q", "library")
	git(t, filepath.Join(b.top, "library"), "commit", "-q", "--allow-empty", "-m", "lib")
	git(t, b.source, "init", "-q")
	git(t, b.source, "submodule", "--quiet", "add", filepath.Join(b.top, "library"), "lib")
	git(t, b.source, "add", ".")
	git(t, b.source, "commit", "-q", "-m", "first")
	for _, form := range forms() {
		s := b.make(form, "one")
		git(t, s.Path(), "submodule", "--quiet", "update", "--init")
		b.holds(s, "clean", "")
		write(t, filepath.Join(s.Path(), "lib", "new.txt"), "x")
		b.holds(s, "changed", "1 changed file (new.txt)")
		git(t, filepath.Join(s.Path(), "lib"), "add", ".")
		git(t, filepath.Join(s.Path(), "lib"), "commit", "-q", "-m", "work of "+string(form)) // else two forms may make the same commit in one second
		b.holds(s, "commits", "1 commit that is nowhere else, and 1 changed file (lib)")
		git(t, filepath.Join(s.Path(), "lib"), "push", "-q", "origin", "HEAD:refs/heads/work-"+string(form))
		git(t, filepath.Join(s.Path(), "lib"), "fetch", "-q")
		b.holds(s, "changed", "1 changed file (lib)")
		b.removed(s, true)
	}
}

// An agent that puts another directory, link or note in the place of its own loses that only.
func TestWhatAnAgentPutsInThePlaceOfItsWorkspace(t *testing.T) {
	t.Parallel()
	for _, form := range forms() {
		b := newBench(t).repository()
		other := newBench(t).repository()
		write(t, filepath.Join(other.source, "secret"), "secret")
		before := tree(t, other.source)
		s := b.make(form, "one")
		t.Run(string(form)+", a repository elsewhere", func(t *testing.T) {
			must(t, os.RemoveAll(filepath.Join(s.Path(), ".git")))
			must(t, os.Symlink(filepath.Join(other.source, ".git"), filepath.Join(s.Path(), ".git")))
			if h := s.Look(t.Context()); h.Clean() {
				t.Errorf("the workspace is %s: %s", h.State(), h)
			}
			must(t, os.Remove(filepath.Join(s.Path(), ".git")))
			write(t, filepath.Join(s.Path(), ".git"), "gitdir: "+filepath.Join(other.source, ".git")+"\n")
			if h := s.Look(t.Context()); h.Clean() {
				t.Errorf("the workspace is %s: %s", h.State(), h)
			}
		})
		t.Run(string(form)+", a link", func(t *testing.T) {
			must(t, os.RemoveAll(s.Path()))
			must(t, os.Symlink(other.source, s.Path()))
			if _, err := b.maker.Find(s.Name); !errors.Is(err, spaces.ErrGone) {
				t.Errorf("the workspace is found: %v", err)
			}
			must(t, b.maker.Remove(t.Context(), s.Name, true))
		})
		for _, note := range []string{
			`{"top":"../../project","ready":true,"form":"copy"}`, `{"top":"..","form":"copy"}`, `{"top":"","form":"copy"}`, `{"top":"x","below":"../../..","ready":true}`,
			`{"top":"` + other.source + `"}`, `{"top":"space.json"}`, `[]`, ``, strings.Repeat("x", 1<<20),
		} {
			home := filepath.Join(b.workspaces, s.Name)
			write(t, filepath.Join(home, "space.json"), note)
			if _, err := b.maker.Find(s.Name); err == nil {
				t.Errorf("%s: the note %.60s is taken", form, note)
			}
			_ = b.maker.Remove(t.Context(), s.Name, true)
			must(t, os.RemoveAll(home))
		}
		if after := tree(t, other.source); len(after) != len(before) || after["secret"] != before["secret"] {
			t.Errorf("%s: the other directory has changed", form)
		}
	}
}
