package claude

import (
	"encoding/base64"
	"slices"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/trace"
)

// userLine is the line that prompts the agent, or nil for a prompt without content. Words alone
// are one string, because a string may be a command of the agent.
func userLine(p agent.Prompt, inside func(path string) bool) []byte {
	content := any(agentkit.PromptText(p, inside))
	if slices.ContainsFunc(p.Message.Parts, func(part trace.InputPart) bool { return part.Type != trace.InputText }) {
		content = agentkit.Blocks(p.Message.Parts, inside, func(words string) any { return map[string]any{"type": "text", "text": words} }, fileBlock)
	}
	if content == "" {
		return nil
	}
	return agentkit.Encode(map[string]any{
		"type": "user", "parent_tool_use_id": nil, "session_id": "",
		"message": map[string]any{"role": "user", "content": content},
	})
}

// fileBlock makes of a file what the model can take: an image or a document.
func fileBlock(file agentkit.Attachment) (any, bool) {
	typ := "document"
	if file.IsImage() {
		typ = "image"
	}
	shown := file.IsImage() || file.Media == "application/pdf"
	switch {
	case shown && file.Inline:
		return map[string]any{"type": typ, "source": map[string]any{"type": "base64", "media_type": file.Media, "data": base64.StdEncoding.EncodeToString(file.Data)}}, true
	case shown && file.OnWeb():
		return map[string]any{"type": typ, "source": map[string]any{"type": "url", "url": file.URL}}, true
	}
	return nil, false
}
