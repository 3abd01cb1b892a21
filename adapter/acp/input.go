package acp

import (
	"cmp"
	"encoding/base64"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/trace"
)

// blocks are the content blocks of a prompt, in the forms that the agent takes.
func blocks(parts []trace.InputPart, inside func(path string) bool, h hello) []object {
	text := func(words string) object { return object{"type": "text", "text": words} }
	return agentkit.Blocks(parts, inside, text, func(file agentkit.Attachment) (object, bool) { return fileBlock(file, h) })
}

// fileBlock makes of a file what the agent can take: an image or a sound as such,
// another file as a resource, an address as a link. The agent learns of any other file by its name.
func fileBlock(file agentkit.Attachment, h hello) (object, bool) {
	media := cmp.Or(file.Media, "application/octet-stream")
	name := cmp.Or(file.Name, "file")
	encoded := base64.StdEncoding.EncodeToString(file.Data)
	kind, _, _ := strings.Cut(media, "/")
	plain := file.IsText() && utf8.Valid(file.Data)
	switch {
	case file.Inline && (kind == "image" && h.Can.Prompt.Image || kind == "audio" && h.Can.Prompt.Audio):
		return object{"type": kind, "data": encoded, "mimeType": media}, true
	case plain && h.Can.Prompt.Context:
		return resource(name, object{"text": string(file.Data), "mimeType": media}), true
	case file.Inline && !plain && h.Can.Prompt.Context:
		return resource(name, object{"blob": encoded, "mimeType": media}), true
	case file.OnWeb():
		return object{"type": "resource_link", "uri": file.URL, "name": cmp.Or(file.Name, base(file.URL)), "mimeType": media}, true
	}
	return nil, false
}

func resource(name string, content object) object {
	content["uri"] = "attachment:///" + strings.ReplaceAll(url.PathEscape(name), "@", "%40")
	return object{"type": "resource", "resource": content}
}
