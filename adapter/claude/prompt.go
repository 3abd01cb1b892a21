package claude

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/trace"
)

// prompt takes a user's message. While a turn runs the agent queues it, and so
// does the Decoder.
func (d *Decoder) prompt(l line, t agent.Turns) {
	parts := inputParts(l.Message.Content)
	if len(parts) == 0 || l.Synthetic {
		return
	}
	d.prompted = true
	d.prompts++
	id := l.UUID
	if id == "" {
		id = fmt.Sprintf("prompt-%d", d.prompts)
	}
	d.waiting = append(d.waiting, trace.Prompt{Message: trace.UserMessage{ID: id, Parts: parts}})
	if d.current(t) == nil {
		d.need(t)
	}
}

// replayed takes the agent's echo of a user's message. A recording of the output
// alone has nothing else of the message.
func (d *Decoder) replayed(l line, t agent.Turns) {
	text := strings.TrimSpace(l.Message.Content.text())
	if l.Origin.Kind == backgroundTask || strings.HasPrefix(text, "<local-command-") || strings.HasPrefix(text, "<command-") {
		return
	}
	if !d.prompted || d.echoes {
		d.echoes = true
		d.prompt(l, t)
	}
	d.echoing = true
	if c := d.current(t); c != nil {
		c.echoed = true
	}
}

func inputParts(c content) []trace.InputPart {
	var parts []trace.InputPart
	for _, b := range c {
		switch {
		case b.Type == "text" && b.Text != "":
			parts = append(parts, trace.InputPart{Type: trace.InputText, Text: string(b.Text)})
		case b.Source != nil:
			if at, media := b.Source.url(); at != "" {
				parts = append(parts, trace.InputPart{Type: trace.InputFile, MediaType: media, URL: at, Filename: b.Title})
			}
		}
	}
	return parts
}

// url returns where the bytes are, which may be in the URL itself.
func (s source) url() (address, mediaType string) {
	switch {
	case s.URL != "":
		return s.URL, s.MediaType
	case s.Data == "":
		return "", ""
	case s.Type == "text":
		return "data:text/plain;charset=utf-8," + url.PathEscape(s.Data), "text/plain"
	default:
		return "data:" + s.MediaType + ";base64," + s.Data, s.MediaType
	}
}
