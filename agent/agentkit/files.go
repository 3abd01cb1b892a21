package agentkit

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// This file writes the files that the variables of an agent's environment name.

// writeFiles makes Spec.Files for a process, and tells what its environment is then, and which directories it has to read. remove
// removes them.
func (s Spec) writeFiles() (env, read []string, remove func(), err error) {
	env, remove = slices.Clone(s.Env), func() {}
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(s.Files)), func(name string) bool {
		return slices.ContainsFunc(env, func(kv string) bool { return strings.HasPrefix(kv, name+"=") })
	})
	if len(names) == 0 {
		return env, nil, remove, nil
	}
	dir, err := os.MkdirTemp("", "tributary-settings-")
	if err == nil {
		remove = func() { _ = os.RemoveAll(dir) } // what stays, stays among temporary files
		err = os.Chmod(dir, 0o755)                //nolint:gosec // the agent may be another user
	}
	for _, name := range names {
		path := filepath.Join(dir, name+".json")
		if err == nil {
			err = os.WriteFile(path, []byte(s.Files[name]), 0o644) //nolint:gosec // as above
		}
		env = append(env, name+"="+path)
	}
	if err != nil {
		remove()
		return nil, nil, nil, fmt.Errorf("%s: make a file with settings: %w", s.Adapter, err)
	}
	return env, []string{dir}, remove, nil
}
