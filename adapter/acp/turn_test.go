package acp_test

import (
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/trace"
)

func prompt(text string) agent.Prompt {
	return agent.Prompt{By: "tester", Message: trace.UserMessage{ID: "u", Parts: []trace.InputPart{{Type: trace.InputText, Text: text}}}}
}
