package manual

import (
	"fmt"
	"strings"

	"github.com/tributary-dev/tributary/internal/cli/cmdline"
)

// Completion returns the completion script of a program for a shell: bash, zsh or fish.
func Completion(c *cmdline.Command, shell string) (string, error) {
	write, ok := map[string]func(*strings.Builder, *cmdline.Command){"bash": bash, "zsh": zsh, "fish": fish}[shell]
	if !ok {
		return "", fmt.Errorf("there is no completion for %q: write bash, zsh or fish", shell)
	}
	var b strings.Builder
	write(&b, c)
	return b.String(), nil
}

// names are all words that may come next: flags, commands, and choices of the argument.
func names(c *cmdline.Command) []string {
	var words []string
	for _, f := range flags(c) {
		words = append(words, "--"+f.Name)
	}
	for _, b := range c.Shown() {
		words = append(words, b.Name())
	}
	for _, a := range c.Args {
		words = append(words, a.Offers()...)
	}
	return words
}
