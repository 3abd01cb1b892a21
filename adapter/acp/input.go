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
func blocks(parts []trace.InputPart, h hello) []any {
	var all []any
	for _, part := range parts {
		switch {
		case part.Type != trace.InputText:
			all = append(all, fileBlock(part, h))
		case part.Text != "":
			all = append(all, textBlock(part.Text))
		}
	}
	return all
}

func textBlock(text string) object { return object{"type": "text", "text": text} }

// fileBlock makes of a file what the agent can take: an image or a sound as such,
// another file as a resource, an address as a link. The agent learns of any other file by its name.
func fileBlock(part trace.InputPart, h hello) any {
	file := agentkit.Attached(part)
	media := cmp.Or(file.Media, "application/octet-stream")
	name := cmp.Or(part.Filename, "file")
	encoded := base64.StdEncoding.EncodeToString(file.Data)
	kind, _, _ := strings.Cut(media, "/")
	plain := file.IsText() && utf8.Valid(file.Data)
	switch {
	case file.Inline && (kind == "image" && h.Can.Prompt.Image || kind == "audio" && h.Can.Prompt.Audio):
		return object{"type": kind, "data": encoded, "mimeType": media}
	case plain && h.Can.Prompt.Context:
		return resource(name, object{"text": string(file.Data), "mimeType": media})
	case file.Inline && !plain && h.Can.Prompt.Context:
		return resource(name, object{"blob": encoded, "mimeType": media})
	case file.OnWeb(): // an agent would read an address on this machine, and ask nobody
		return object{"type": "resource_link", "uri": part.URL, "name": cmp.Or(part.Filename, base(part.URL)), "mimeType": media}
	}
	return textBlock(file.Text())
}

func resource(name string, content object) any {
	content["uri"] = "attachment:///" + url.PathEscape(name)
	return object{"type": "resource", "resource": content}
}
