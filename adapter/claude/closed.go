package claude

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tributary-dev/tributary/policy/workspace"
)

// askForCommands makes Claude Code ask for every command. By default it runs commands that
// only read, such as grep -r, in its directory without a request.
const askForCommands = `{"permissions":{"ask":["Bash"]}}`

// ownHooksOnly leaves out the hooks of settings files. Those of the gateway, which it registers in
// the request initialize, come all the same.
const ownHooksOnly = `{"allowManagedHooksOnly":true}`

// closedArgs are the arguments by which Claude Code leaves files and directories alone. It
// reads its directory without a request, and in the mode acceptEdits it writes there, too. A
// rule for reads binds all tools that read files, searches as well, and commands that name
// the file. If something closed is below the directory, it asks for all commands.
func closedArgs(closed []string, cwd string) []string {
	var rules []string
	below := false
	for _, path := range closed {
		_, err := os.Stat(path)
		for _, p := range workspace.Places(path) {
			rel, outside := filepath.Rel(workspace.Resolved(cwd), p)
			below = below || err == nil && outside == nil && filepath.IsLocal(rel)
			p = pattern(p)
			rules = append(rules, "Read(/"+p+")", "Read(/"+p+"/**)", "Edit(/"+p+")", "Edit(/"+p+"/**)")
		}
	}
	if len(rules) == 0 {
		return nil
	}
	args := slices.Concat([]string{"--disallowedTools"}, rules)
	if below {
		args = append(args, "--settings", askForCommands)
	}
	return args
}

// pattern writes a path as a pattern of a rule, which begins with two slashes. A character
// that means something in a rule becomes a ?, which stands for any one character.
func pattern(path string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("*?[]{}!#\\(),:\"'` ", r) || r < ' ' {
			return '?'
		}
		return r
	}, filepath.ToSlash(path))
}
