package spaces

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// This file calls git. The repositories belong to agents, and an agent can write anything into the
// configuration, the hooks and the attributes of its repository. So git runs without hooks and
// without a monitor, and speaks no protocol. Commands that read or write the files of a work tree
// run filters that a configuration names; these commands use a repository of their own, see
// [repository.worktree], whose configuration the package writes.

const (
	// gitWithin bounds the time of one call of git.
	gitWithin = 2 * time.Minute
	// maxGitOutput bounds what is read of the output of one call.
	maxGitOutput = 4 << 20
	// maxGitReason bounds the words of git in an error.
	maxGitReason = 300
)

// errNoGit says that git is not installed.
var errNoGit = errors.New("git is not installed on this machine: install it")

// errOutput says that git has written more than is read.
var errOutput = fmt.Errorf("git has written more than %d MB", maxGitOutput>>20)

// output keeps the beginning of what is written to it.
type output struct {
	bytes.Buffer

	most int
	cut  bool
}

func (o *output) Write(p []byte) (int, error) {
	keep := min(len(p), o.most-o.Len())
	o.cut = o.cut || keep < len(p)
	_, _ = o.Buffer.Write(p[:keep]) // never fails
	return len(p), nil
}

// git runs git in a directory, and returns its output without the newline at the end. Variables
// are added to the environment.
func git(ctx context.Context, dir string, variables []string, args ...string) (string, error) {
	return gitReading(ctx, "", dir, variables, args...)
}

// gitReading is git with an input.
func gitReading(ctx context.Context, input, dir string, variables []string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, gitWithin)
	defer cancel()
	safe := []string{
		"--no-pager", "-c", "core.hooksPath=" + os.DevNull, "-c", "core.fsmonitor=", "-c", "core.untrackedCache=false", "-c", "core.commitGraph=false",
		"-c", "submodule.recurse=false", "-c", "gc.auto=0", "-c", "maintenance.auto=false", "-c", "core.pager=cat", "-c", "credential.helper=",
	}
	cmd := exec.CommandContext(ctx, "git", append(safe, args...)...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = dir, append(gitEnvironment(), variables...), time.Second
	stdout, stderr := output{most: maxGitOutput}, output{most: maxGitOutput}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(input), &stdout, &stderr
	err := cmd.Run()
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return "", errNoGit
	case ctx.Err() != nil:
		return "", fmt.Errorf("git did not end in time: %w", context.Cause(ctx))
	case err != nil:
		return "", fmt.Errorf("git %s: %s", args[0], reason(stderr.String(), err))
	case stdout.cut:
		return "", errOutput
	}
	return strings.TrimSuffix(stdout.String(), "\n"), nil
}

// reason is the last line that git has written, as printable text.
func reason(stderr string, err error) string {
	lines := strings.Split(strings.TrimSpace(stderr), "\n")
	text := strings.ToValidUTF8(strings.TrimPrefix(lines[len(lines)-1], "fatal: "), "?")
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, text)
	if text == "" {
		return err.Error()
	}
	return strings.ToValidUTF8(text[:min(len(text), maxGitReason)], "")
}

// gitEnvironment is the environment of the gateway without git's own variables. The configuration
// of the gateway's user counts, because safe.directory is in it.
func gitEnvironment() []string {
	var env []string
	for _, kv := range os.Environ() {
		if name := strings.ToUpper(kv); !strings.HasPrefix(name, "GIT_") && !strings.HasPrefix(name, "SSH_ASKPASS") {
			env = append(env, kv)
		}
	}
	return append(env, "LC_ALL=C", "GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0", "GIT_NO_REPLACE_OBJECTS=1", "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=")
}

// repository is a work tree, and where git keeps what belongs to it.
type repository struct {
	top    string // the work tree
	own    string // the directory of this work tree's HEAD and index
	common string // the directory of the repository's objects and branches
}

// repositoryOf finds the repository that a directory is in, and the name of the directory below the
// top of the work tree.
func repositoryOf(ctx context.Context, dir string, variables ...string) (r repository, below string, err error) {
	out, err := git(ctx, dir, variables, "rev-parse", "--show-toplevel", "--show-prefix", "--absolute-git-dir", "--git-common-dir")
	if err != nil {
		return r, "", err
	}
	lines := strings.Split(out, "\n")
	if len(lines) != 4 {
		return r, "", errors.New("a name of its directories has a line break in it")
	}
	for i, line := range lines {
		lines[i] = filepath.FromSlash(line)
	}
	if !filepath.IsAbs(lines[3]) { // it is relative to the directory
		lines[3] = filepath.Join(dir, lines[3])
	}
	return repository{top: lines[0], own: lines[2], common: lines[3]}, strings.TrimSuffix(lines[1], string(filepath.Separator)), nil
}

// repositoryAt finds the repository whose work tree is a directory, and not one above it.
func repositoryAt(ctx context.Context, top string) (repository, error) {
	r, below, err := repositoryOf(ctx, top, "GIT_CEILING_DIRECTORIES="+filepath.Dir(top))
	if err != nil {
		return r, err
	}
	if same, err := isInside(r.top, top); err != nil || !same || below != "" {
		return r, fmt.Errorf("the work tree of its repository is %s", r.top)
	}
	r.top = top
	return r, nil
}

// worktree calls git for the files of the work tree: with the objects and the index of the
// repository, and with a configuration that this package writes. So no filter of the repository
// runs, and nothing that its configuration names. head is a commit, or "" for none.
func (r repository) worktree(ctx context.Context, head string, args ...string) (out string, err error) {
	private, err := os.MkdirTemp("", "tributary-git-*")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(private)) }()
	format, err := git(ctx, r.top, nil, "rev-parse", "--show-object-format")
	if err != nil {
		return "", err
	}
	settings := []string{"[core]", "repositoryformatversion = 1", "[extensions]", "objectFormat = " + format, "[core]"}
	// How files look in this repository: words and switches, none of which names a program.
	// If there are none, git fails.
	set, _ := git(ctx, r.top, nil, "config", "-z", "--get-regexp", `^core\.(autocrlf|eol|filemode|ignorecase|symlinks|precomposeunicode)$`)
	for item := range strings.SplitSeq(set, "\x00") {
		if name, value, ok := strings.Cut(strings.TrimPrefix(item, "core."), "\n"); ok && isWord(value) {
			settings = append(settings, name+" = "+value)
		}
	}
	if head == "" {
		head = "ref: refs/heads/none"
	}
	if err := errors.Join(
		os.Mkdir(filepath.Join(private, "objects"), 0o700), os.Mkdir(filepath.Join(private, "refs"), 0o700),
		os.WriteFile(filepath.Join(private, "HEAD"), []byte(head+"\n"), 0o600), os.WriteFile(filepath.Join(private, "config"), []byte(strings.Join(settings, "\n")+"\n"), 0o600),
	); err != nil {
		return "", err
	}
	variables := []string{
		"GIT_DIR=" + private, "GIT_WORK_TREE=" + r.top, "GIT_INDEX_FILE=" + filepath.Join(r.own, "index"), "GIT_OBJECT_DIRECTORY=" + filepath.Join(r.common, "objects"),
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_ATTR_NOSYSTEM=1", "HOME=" + private, "XDG_CONFIG_HOME=" + private,
	}
	// The times and the size of a file suffice: a copy has other inodes than its source.
	safe := []string{"-c", "core.trustctime=false", "-c", "core.checkStat=minimal", "-c", "core.excludesFile=" + filepath.Join(r.common, "info", "exclude")}
	return git(ctx, r.top, variables, append(safe, args...)...)
}

func isWord(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool { return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') })
}
