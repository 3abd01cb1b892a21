package agent

import (
	"strings"

	"github.com/tributary-dev/tributary/trace"
)

// Commands returns the names of the commands that an agent may find in a message, such as
// config in "/config model=x". A path such as /tmp/a is no command.
func Commands(m trace.UserMessage) (names []string) {
	var texts []string
	for _, part := range m.Parts {
		if part.Type == trace.InputText {
			texts = append(texts, part.Text)
		}
	}
	for _, text := range append(texts, strings.Join(texts, "")) {
		line, slash := strings.CutPrefix(strings.TrimSpace(text), "/")
		words := strings.Fields(line)
		if slash && len(words) > 0 && !strings.HasPrefix(line, " ") && !strings.Contains(words[0], "/") {
			names = append(names, strings.ToLower(words[0]))
		}
	}
	return names
}
