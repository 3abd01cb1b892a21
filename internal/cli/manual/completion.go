package manual

import (
	"fmt"
	"strings"

	"github.com/alecthomas/kong"
)

// Completion returns the completion script of a program for a shell: bash, zsh or fish.
func Completion(app *kong.Application, shell string) (string, error) {
	write, ok := map[string]func(*strings.Builder, command){"bash": bash, "zsh": zsh, "fish": fish}[shell]
	if !ok {
		return "", fmt.Errorf("there is no completion for %q: write bash, zsh or fish", shell)
	}
	var b strings.Builder
	write(&b, root(app))
	return b.String(), nil
}
