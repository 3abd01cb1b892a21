package agentkit

import (
	"slices"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/trace"
)

// RefuseCommands returns an error for a prompt that is one of the agent's own commands,
// such as /config. Some of them switch permission requests off, and a person who may
// prompt is not thereby one who may approve.
func RefuseCommands(m trace.UserMessage, commands []string) error {
	for _, name := range agent.Commands(m) {
		if slices.Contains(commands, name) {
			return &PromptError{Reason: "command_refused", Sentence: "The command /" + name +
				" can switch the agent's permission requests off, so the gateway refuses it: change the setting in the agent's own configuration, on its machine."}
		}
	}
	return nil
}
