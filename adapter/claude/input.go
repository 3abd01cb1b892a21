package claude

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"strings"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/trace"
)

// userLine is the line that prompts the agent.
func userLine(p agent.Prompt) []byte {
	var content any = p.Text()
	for _, part := range p.Message.Parts {
		if part.Type != trace.InputText {
			content = blocks(p.Message.Parts)
			break
		}
	}
	return encode(map[string]any{
		"type": "user", "parent_tool_use_id": nil, "session_id": "",
		"message": map[string]any{"role": "user", "content": content},
	})
}

// blocks are the content blocks of a message that is more than text.
func blocks(parts []trace.InputPart) []any {
	list := make([]any, 0, len(parts))
	for _, part := range parts {
		if part.Type == trace.InputText {
			if part.Text != "" {
				list = append(list, textBlock(part.Text))
			}
			continue
		}
		list = append(list, fileBlock(part))
	}
	return list
}

func textBlock(text string) map[string]any { return map[string]any{"type": "text", "text": text} }

// fileBlock makes of a file what the model can take: an image or a document as
// such, text as text. Of anything else it is told that it is there.
func fileBlock(part trace.InputPart) map[string]any {
	media, data, inline := dataURL(part.URL)
	media = orElse(media, part.MediaType)
	typ := "document"
	if strings.HasPrefix(media, "image/") {
		typ = "image"
	}
	switch {
	case inline && (typ == "image" || media == "application/pdf"):
		return map[string]any{"type": typ, "source": map[string]any{"type": "base64", "media_type": media, "data": base64.StdEncoding.EncodeToString(data)}}
	case inline && (strings.HasPrefix(media, "text/") || media == "application/json"):
		return textBlock(fmt.Sprintf("Attached file %s:\n\n%s", orElse(part.Filename, "(no name)"), strings.ToValidUTF8(string(data), "\uFFFD")))
	case !inline && (typ == "image" || media == "application/pdf") && strings.HasPrefix(part.URL, "http"):
		return map[string]any{"type": typ, "source": map[string]any{"type": "url", "url": part.URL}}
	default:
		return textBlock(fmt.Sprintf("[The user attached the file %s of type %s, which cannot be passed on.]", orElse(part.Filename, "(no name)"), orElse(media, "unknown")))
	}
}

// dataURL takes a data URL apart.
func dataURL(address string) (mediaType string, data []byte, ok bool) {
	rest, ok := strings.CutPrefix(address, "data:")
	if !ok {
		return "", nil, false
	}
	head, body, ok := strings.Cut(rest, ",")
	if !ok {
		return "", nil, false
	}
	mediaType, _, _ = strings.Cut(head, ";")
	var err error
	if strings.HasSuffix(head, ";base64") {
		data, err = base64.StdEncoding.DecodeString(body)
	} else {
		body, err = url.PathUnescape(body)
		data = []byte(body)
	}
	return mediaType, data, err == nil
}
