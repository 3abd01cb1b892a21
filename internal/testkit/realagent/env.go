package realagent

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// Key is the dummy API key of closed runs.
const Key = "sk-test"

// ClosedEnv returns an environment without the user's settings and keys. Only the system's
// own commands are on the PATH.
func ClosedEnv(home, tmp string) map[string]string {
	return map[string]string{
		"HOME":   home,
		"TMPDIR": tmp,
		"PATH":   "/usr/local/bin:/usr/bin:/bin",
		"LANG":   "C.UTF-8",
		"TERM":   "dumb",
		"SHELL":  "/bin/sh",
		// Some agents ask npm for newer versions or plug-ins. This address does not answer.
		"npm_config_registry":      "http://127.0.0.1:9/",
		"npm_config_fetch_retries": "0",
	}
}

// Closed returns the whole environment of a kind whose command is at path. The
// programs of the agent's installation come before the machine's in PATH: some
// agents need a newer Node.js, or start a second program of their package.
func (k Kind) Closed(r Dirs, path string) map[string]string {
	env := ClosedEnv(r.Home, r.Tmp)
	if path != "" {
		env["PATH"] = filepath.Dir(path) + ":" + env["PATH"]
	}
	if k.Vars != nil {
		maps.Copy(env, k.Vars(r))
	}
	return env
}

// WriteFiles writes the kind's configuration files.
func (k Kind) WriteFiles(r Dirs) error {
	if k.Files == nil {
		return nil
	}
	for name, text := range k.Files(r) {
		file := filepath.Join(r.Home, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			return fmt.Errorf("settings of %s: %w", k.Name, err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			return fmt.Errorf("settings of %s: %w", k.Name, err)
		}
	}
	return nil
}

// Pairs returns an environment as processes take it.
func Pairs(env map[string]string) []string {
	out := make([]string, 0, len(env))
	for _, name := range slices.Sorted(maps.Keys(env)) {
		out = append(out, name+"="+env[name])
	}
	return out
}
