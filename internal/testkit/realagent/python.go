//go:build unix

package realagent

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

// leastPython is the condition that a Python must meet for the agents.
const leastPython = "import sys; sys.exit(sys.version_info < (3, 12))"

// fillPyPI makes a virtual environment with the packages of the lock. pip accepts only
// files with the digests of the lock, and runs no code of the packages.
func (s Store) fillPyPI(ctx context.Context, p Package, dir string) error {
	python, err := s.python(ctx)
	if err != nil {
		return fmt.Errorf("%s: %w", p, err)
	}
	venv := filepath.Join(dir, "venv")
	for _, args := range [][]string{
		{python, "-m", "venv", venv},
		{
			filepath.Join(venv, "bin", "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input",
			"--require-hashes", "--no-deps", "--only-binary", ":all:", "-r", "requirements.txt",
		},
	} {
		get := exec.CommandContext(ctx, args[0], args[1:]...)
		get.Dir = dir
		if out, err := run(ctx, get); err != nil {
			return fmt.Errorf("pip cannot install %s, so connect this machine to a registry or run the tests with -short: %w: %s", p, err, out)
		}
	}
	return nil
}

// python finds a Python that is new enough. pyenv keeps its Pythons outside PATH.
func (s Store) python(ctx context.Context) (string, error) {
	candidates := []string{s.Python}
	if s.Python == "" {
		candidates = []string{"python3.14", "python3.13", "python3.12", "python3"}
		if home, err := os.UserHomeDir(); err == nil {
			kept, _ := filepath.Glob(filepath.Join(home, ".pyenv", "versions", "3.*", "bin", "python3"))
			candidates = slices.Concat(candidates, kept)
		}
	}
	for _, name := range candidates {
		path, err := exec.LookPath(name)
		if err == nil && exec.CommandContext(ctx, path, "-c", leastPython).Run() == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("it comes from PyPI, and there is no Python for it: install Python 3.12 or later, or run the tests with -short")
}

// moveScript lets a script of a virtual environment name its Python where the
// environment will be.
func moveScript(path, from, to string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return os.WriteFile(path, bytes.ReplaceAll(text, []byte(from), []byte(to)), 0o755)
}
