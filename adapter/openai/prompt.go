package openai

import (
	"cmp"

	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/trace"
)

// system is the system prompt.
func (m *model) system() string {
	if m.System != "" {
		return m.System
	}
	return "You are a helpful agent in the directory " + m.cfg.Cwd + " of the user's machine. " +
		"Use your tools to look at files, to change them and to run commands; paths are relative to that directory. " +
		"A tool call that was denied must not be tried again in another way: ask the user instead. " +
		"Be brief, and say what you did."
}

// form is how a part of a prompt is sent.
type form int

const (
	formText form = iota
	formImage
	formFile
)

// formOf sorts a part, and returns the text of those that are sent as text.
func formOf(p trace.InputPart) (form, string) {
	file := agentkit.Attached(p)
	switch {
	case p.Type == trace.InputText:
		return formText, p.Text
	case file.IsImage() && (file.Inline || file.OnWeb()):
		return formImage, ""
	case file.Inline && !file.IsText():
		return formFile, cmp.Or(file.Name, "(no name)")
	default:
		return formText, file.Text()
	}
}
