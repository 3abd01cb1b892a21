package claude

import (
	"encoding/base64"
	"slices"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/trace"
)

// userLine is the line that prompts the agent. Words alone are one string, because a
// string may be a command of the agent.
func userLine(p agent.Prompt, blocks []any) []byte {
	var content any = blocks
	if !slices.ContainsFunc(p.Message.Parts, func(part trace.InputPart) bool { return part.Type != trace.InputText }) {
		content = p.Text()
	}
	return agentkit.Encode(map[string]any{
		"type": "user", "parent_tool_use_id": nil, "session_id": "",
		"message": map[string]any{"role": "user", "content": content},
	})
}

// blocks are the content blocks of a message.
func blocks(parts []trace.InputPart) []any {
	var list []any
	for _, part := range parts {
		switch {
		case part.Type != trace.InputText:
			list = append(list, fileBlock(part))
		case part.Text != "":
			list = append(list, textBlock(part.Text))
		}
	}
	return list
}

func textBlock(text string) map[string]any { return map[string]any{"type": "text", "text": text} }

// fileBlock makes of a file what the model can take: an image or a document as such, and
// all else as text.
func fileBlock(part trace.InputPart) map[string]any {
	file := agentkit.Attached(part)
	typ := "document"
	if file.IsImage() {
		typ = "image"
	}
	shown := file.IsImage() || file.Media == "application/pdf"
	switch {
	case shown && file.Inline:
		return map[string]any{"type": typ, "source": map[string]any{"type": "base64", "media_type": file.Media, "data": base64.StdEncoding.EncodeToString(file.Data)}}
	case shown && file.OnWeb():
		return map[string]any{"type": typ, "source": map[string]any{"type": "url", "url": file.URL}}
	}
	return textBlock(file.Text())
}
