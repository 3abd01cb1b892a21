package chatbody

import (
	"strings"

	"github.com/tributary-dev/tributary/gateway/refusal"
	"github.com/tributary-dev/tributary/trace"
)

// This file reads the user message of a chat.

// maxMessageID is the longest id of a user message, in bytes.
const maxMessageID = 1000

// userMessage keeps the parts that an agent can read: text and files. Data parts of an app
// are left out.
func userMessage(id string, m map[string]any) (trace.UserMessage, error) {
	u := trace.UserMessage{ID: id}
	if len(id) > maxMessageID {
		return u, refusal.Malformed("The id of the user message is longer than %d bytes.", maxMessageID)
	}
	if !whole(id) {
		return u, refusal.Malformed("The id of the user message holds characters that are not UTF-8.")
	}
	parts, _ := m["parts"].([]any)
	if content, ok := m["content"].(string); ok && parts == nil { // AI SDK 4 and other clients
		parts = []any{map[string]any{"type": "text", "text": content}}
	}
	for _, p := range parts {
		part, ok := p.(map[string]any)
		if !ok {
			return u, refusal.Malformed("A part of the user message is not an object.")
		}
		str := func(key string) string { v, _ := part[key].(string); return v }
		switch str("type") {
		case "text":
			if strings.TrimSpace(str("text")) != "" {
				u.Parts = append(u.Parts, trace.InputPart{Type: trace.InputText, Text: str("text")})
			}
		case "file":
			u.Parts = append(u.Parts, trace.InputPart{Type: trace.InputFile, MediaType: str("mediaType"), URL: str("url"), Filename: str("filename")})
		}
	}
	if meta, ok := m["metadata"]; ok && meta != nil {
		raw, err := passThroughJSON("metadata", meta)
		if err != nil {
			return u, err
		}
		u.Metadata = raw
	}
	return u, nil
}
