package codex

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"strings"

	"github.com/tributary-dev/tributary/trace"
)

// userInput is a piece of a user's message.
type userInput struct {
	Type string `json:"type"`
	Text string `json:"text,omitempty"`
	URL  string `json:"url,omitempty"`
	Path string `json:"path,omitempty"`
	Name string `json:"name,omitempty"`
}

// inputs are the parts of a prompt as Codex takes them: text, and images by their URL.
// A text file becomes text. Codex cannot read other files from a message, and learns
// that there is one.
func inputs(parts []trace.InputPart) []userInput {
	var all []userInput
	for _, p := range parts {
		media, data, inline := dataURL(p.URL)
		media = orElse(media, p.MediaType)
		name := orElse(p.Filename, "(no name)")
		switch {
		case p.Type == trace.InputText:
			if p.Text != "" {
				all = append(all, userInput{Type: "text", Text: p.Text})
			}
		case strings.HasPrefix(media, "image/") && (inline || strings.HasPrefix(p.URL, "http")):
			all = append(all, userInput{Type: "image", URL: p.URL})
		case inline && (strings.HasPrefix(media, "text/") || media == "application/json"):
			all = append(all, userInput{Type: "text", Text: fmt.Sprintf("Attached file %s:\n\n%s", name, strings.ToValidUTF8(string(data), "\uFFFD"))})
		default:
			all = append(all, userInput{Type: "text", Text: fmt.Sprintf("[The user attached the file %s of type %s, which cannot be passed on.]", name, orElse(media, "unknown"))})
		}
	}
	return all
}

// prompt is a message that the agent was given.
func prompt(id string, all []userInput) trace.Prompt {
	p := trace.Prompt{Message: trace.UserMessage{ID: id, Parts: []trace.InputPart{}}}
	for _, in := range all {
		part := trace.InputPart{Type: trace.InputFile, URL: in.URL, Filename: orElse(in.Name, in.Path)}
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

// dataURL takes a data URL apart.
func dataURL(address string) (media string, data []byte, ok bool) {
	head, body, _ := strings.Cut(address, ",")
	if head, ok = strings.CutPrefix(head, "data:"); !ok {
		return "", nil, false
	}
	media, _, _ = strings.Cut(head, ";")
	var err error
	if strings.HasSuffix(head, ";base64") {
		data, err = base64.StdEncoding.DecodeString(body)
	} else {
		body, err = url.PathUnescape(body)
		data = []byte(body)
	}
	return media, data, err == nil
}
