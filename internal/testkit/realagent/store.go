//go:build unix

package realagent

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// DirVariable is the environment variable that names the folder of the agents.
const DirVariable = "TRIBUTARY_AGENTS_DIR"

// Store is a folder of installed agents. Any number of processes may use it at
// the same time.
type Store struct {
	Dir    string
	NPM    string // npm's command; empty = npm from PATH
	Python string // Python's command; empty = one from PATH or pyenv that is new enough
}

// DefaultStore returns the store of this machine's user.
func DefaultStore() (Store, error) {
	if dir := os.Getenv(DirVariable); dir != "" {
		dir, err := filepath.Abs(dir)
		return Store{Dir: dir}, err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return Store{}, fmt.Errorf("set %s to a folder for the agents, there is no cache folder: %w", DirVariable, err)
	}
	return Store{Dir: filepath.Join(cache, "tributary", "agents")}, nil
}

// home is another folder for another lock.
func (s Store) home(p Package) string {
	return filepath.Join(s.Dir, filepath.FromSlash(p.String()+"+"+p.digest()))
}

func command(dir string, p Package) string {
	return filepath.Join(dir, p.bin(), p.Command)
}

// Installed returns the path of the agent's command, if it is installed.
func (s Store) Installed(p Package) (path string, ok bool) {
	path = command(s.home(p), p)
	info, err := os.Stat(path)
	return path, err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

// Install returns the path of the agent's command and installs it first if it
// is not there. Of several that install at once one does the work and the
// others wait for it.
func (s Store) Install(ctx context.Context, p Package) (path string, err error) {
	if path, ok := s.Installed(p); ok {
		return path, nil
	}
	home := s.home(p)
	if err := os.MkdirAll(filepath.Dir(home), 0o755); err != nil {
		return "", fmt.Errorf("the folder for agents cannot be made, set %s to another: %w", DirVariable, err)
	}
	unlock, err := lock(ctx, home+".lock")
	if err != nil {
		return "", fmt.Errorf("%s is being installed by another process: %w", p, err)
	}
	defer unlock()
	if path, ok := s.Installed(p); ok {
		return path, nil
	}
	if err := s.install(ctx, p, home); err != nil {
		return "", err
	}
	path, ok := s.Installed(p)
	if !ok {
		return "", fmt.Errorf("%s was installed, but %s is not an executable: remove %s and install again", p, path, home)
	}
	return path, nil
}

// install fills a new folder, tries the agent, and renames the folder to home.
func (s Store) install(ctx context.Context, p Package, home string) error {
	fill := s.fillNPM
	if p.From == PyPI {
		fill = s.fillPyPI
	}
	fresh, err := os.MkdirTemp(filepath.Dir(home), ".installing-")
	if err != nil {
		return fmt.Errorf("the folder for agents cannot be written, set %s to another: %w", DirVariable, err)
	}
	defer os.RemoveAll(fresh)
	files, err := p.manifest()
	if err != nil {
		return fmt.Errorf("%s has no lock file: %w", p, err)
	}
	for _, f := range files {
		if err := os.WriteFile(filepath.Join(fresh, f.name), f.text, 0o644); err != nil {
			return fmt.Errorf("the folder for agents cannot be written, set %s to another: %w", DirVariable, err)
		}
	}
	if err := fill(ctx, p, fresh); err != nil {
		return err
	}
	try := exec.CommandContext(ctx, command(fresh, p), "--version")
	try.Dir = fresh
	env := ClosedEnv(filepath.Join(fresh, "home"), os.TempDir())
	env["PATH"] = filepath.Dir(try.Path) + ":" + env["PATH"]
	try.Env = Pairs(env)
	if out, err := run(ctx, try); err != nil {
		return fmt.Errorf("%s was installed but does not start on this machine: %w: %s", p, err, out)
	}
	_ = os.RemoveAll(filepath.Join(fresh, "home"))
	if p.From == PyPI {
		if err := moveScript(command(fresh, p), fresh, home); err != nil {
			return fmt.Errorf("%s cannot be put into place: %w", p, err)
		}
	}
	if err := os.RemoveAll(home); err != nil {
		return fmt.Errorf("remove %s by hand, an earlier installation of %s is broken: %w", home, p, err)
	}
	if err := os.Rename(fresh, home); err != nil {
		return fmt.Errorf("%s cannot be put into place: %w", p, err)
	}
	return nil
}

// fillNPM installs the packages of the lock.
func (s Store) fillNPM(ctx context.Context, p Package, dir string) error {
	npm, err := exec.LookPath(cmp.Or(s.NPM, "npm"))
	if err != nil {
		return fmt.Errorf("%s comes from npm, which is not in PATH: install Node.js 20 or later, or run the tests with -short", p)
	}
	// "npm ci" refuses a lock that lacks a package for another platform, and not every
	// registry has all packages. "npm install" installs the versions that the lock names.
	get := exec.CommandContext(ctx, npm, "install", "--prefix", dir, "--no-audit", "--no-fund",
		"--ignore-scripts=false", "--loglevel=error")
	get.Dir = dir
	if out, err := run(ctx, get); err != nil {
		return fmt.Errorf("npm cannot install %s, so connect this machine to a registry or run the tests with -short: %w: %s", p, err, out)
	}
	return nil
}

// run runs a command in a process group of its own, ends the whole group when
// ctx is done, and returns the end of what it printed.
func run(ctx context.Context, cmd *exec.Cmd) (output string, err error) {
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	err = cmd.Run()
	if cause := context.Cause(ctx); err != nil && cause != nil {
		err = errors.Join(cause, err)
	}
	text := strings.TrimSpace(out.String())
	if len(text) > 600 {
		text = "…" + strings.ToValidUTF8(text[len(text)-600:], "")
	}
	return text, err
}
