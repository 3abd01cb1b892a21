package codex

import (
	"cmp"

	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/trace"
)

// inputs are the parts of a prompt as Codex takes them: images by their URL, and all
// else as text.
func inputs(parts []trace.InputPart) []userInput {
	var all []userInput
	for _, p := range parts {
		file := agentkit.Attached(p)
		switch {
		case p.Type == trace.InputText && p.Text == "":
		case p.Type == trace.InputText:
			all = append(all, userInput{Type: "text", Text: p.Text})
		case file.IsImage() && (file.Inline || file.OnWeb()):
			all = append(all, userInput{Type: "image", URL: p.URL})
		default:
			all = append(all, userInput{Type: "text", Text: file.Text()})
		}
	}
	return all
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
