package agentkit

import (
	"slices"
	"strings"

	"github.com/tributary-dev/tributary/trace"
)

// RefuseCommands returns an error for a prompt that is one of the agent's own commands,
// such as /config. Some of them switch permission requests off, and a person who may
// prompt is not thereby one who may approve.
func RefuseCommands(m trace.UserMessage, commands []string) error {
	texts := []string{}
	for _, part := range m.Parts {
		if part.Type == trace.InputText {
			texts = append(texts, part.Text)
		}
	}
	for _, text := range append(texts, strings.Join(texts, "")) {
		name, slash := strings.CutPrefix(strings.TrimSpace(text), "/")
		words := strings.Fields(name)
		if !slash || len(words) == 0 || !slices.Contains(commands, strings.ToLower(words[0])) {
			continue
		}
		return &PromptError{Reason: "command_refused", Sentence: "The command /" + words[0] +
			" can switch the agent's permission requests off, so the gateway refuses it: change the setting in the agent's own configuration, on its machine."}
	}
	return nil
}
