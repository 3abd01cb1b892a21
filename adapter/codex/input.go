package codex

import (
	"cmp"

	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/trace"
)

// inputs are the parts of a prompt as Codex takes them: images that the prompt holds, and all
// else as text. Codex fails a turn with an image on the web.
func inputs(parts []trace.InputPart, inside func(path string) bool) []userInput {
	text := func(words string) userInput { return userInput{Type: "text", Text: words} }
	return agentkit.Blocks(parts, inside, text, func(file agentkit.Attachment) (userInput, bool) {
		return userInput{Type: "image", URL: file.Address()}, file.IsImage() && file.Inline
	})
}

// prompt is a message that the agent was given.
func prompt(id string, all []userInput) trace.Prompt {
	p := trace.Prompt{Message: trace.UserMessage{ID: id, Parts: []trace.InputPart{}}}
	for _, in := range all {
		part := trace.InputPart{Type: trace.InputFile, URL: in.URL, Filename: cmp.Or(in.Name, in.Path)}
		switch in.Type {
		case "text":
			part = trace.InputPart{Type: trace.InputText, Text: in.Text}
		case "image", "localImage":
			part.MediaType = "image/*"
		}
		p.Message.Parts = append(p.Message.Parts, part)
	}
	return p
}
