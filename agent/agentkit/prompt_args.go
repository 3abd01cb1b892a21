package agentkit

import (
	"slices"
	"strings"
)

// Placeholder stands for the prompt in an argument of a program. Without it, standard
// input has the prompt.
const Placeholder = "{prompt}"

// WithPrompt fills the Placeholder in arguments. It reports whether there was one.
func WithPrompt(args []string, prompt string) (filled []string, given bool) {
	filled = slices.Clone(args)
	for i, a := range filled {
		if !strings.Contains(a, Placeholder) {
			continue
		}
		given = true
		filled[i] = strings.ReplaceAll(a, Placeholder, strings.ReplaceAll(prompt, "\x00", ""))
		if strings.HasPrefix(a, Placeholder) && strings.HasPrefix(prompt, "-") {
			filled[i] = " " + filled[i] // the program must not read a prompt as an option
		}
	}
	return filled, given
}
