package acp

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"strings"
	"unicode/utf8"

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

func textBlock(text string) map[string]any { return map[string]any{"type": "text", "text": text} }

// fileBlock makes of a file what the agent can take: an image or a sound as such,
// another file as a resource, an address as a link. The agent is told of any other file.
func fileBlock(part trace.InputPart, h hello) any {
	media, data, inline := dataURL(part.URL)
	media = orElse(media, orElse(part.MediaType, "application/octet-stream"))
	name := orElse(part.Filename, "file")
	encoded := base64.StdEncoding.EncodeToString(data)
	kind, _, _ := strings.Cut(media, "/")
	plain := inline && utf8.Valid(data) && (kind == "text" || media == "application/json")
	switch {
	case inline && (kind == "image" && h.Can.Prompt.Image || kind == "audio" && h.Can.Prompt.Audio):
		return map[string]any{"type": kind, "data": encoded, "mimeType": media}
	case plain && h.Can.Prompt.Context:
		return resource(name, map[string]any{"text": string(data), "mimeType": media})
	case plain:
		return textBlock(fmt.Sprintf("Attached file %s:\n\n%s", name, data))
	case inline && h.Can.Prompt.Context:
		return resource(name, map[string]any{"blob": encoded, "mimeType": media})
	case !inline:
		return map[string]any{"type": "resource_link", "uri": part.URL, "name": orElse(part.Filename, base(part.URL)), "mimeType": media}
	default:
		return textBlock(fmt.Sprintf("[The user attached the file %s of type %s, which this agent cannot take.]", name, media))
	}
}

func resource(name string, content map[string]any) any {
	content["uri"] = "attachment:///" + url.PathEscape(name)
	return map[string]any{"type": "resource", "resource": content}
}

// dataURL takes a data URL apart.
func dataURL(address string) (mediaType string, data []byte, ok bool) {
	rest, ok := strings.CutPrefix(address, "data:")
	head, body, comma := strings.Cut(rest, ",")
	if !ok || !comma {
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
