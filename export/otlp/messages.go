package otlp

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/tributary-dev/tributary/export/reader"
	"github.com/tributary-dev/tributary/trace"
)

// This file writes what was said in the form of the conventions: messages with parts.

const (
	// mostAttr bounds an attribute, in bytes.
	mostAttr = 1 << 20
	// mostData bounds a data URL in an attribute, in bytes. A larger one is named by its hash.
	mostData = 64 << 10
)

type said struct {
	Role         string `json:"role"`
	Parts        []part `json:"parts"`
	FinishReason string `json:"finish_reason,omitempty"`
}

// answered is a text of the agent.
func answered(text, finish string) said {
	return said{Role: "assistant", Parts: []part{{Type: "text", Content: text}}, FinishReason: finish}
}

type part struct {
	Type      string          `json:"type"`
	Content   string          `json:"content,omitempty"`
	ID        string          `json:"id,omitempty"`
	Name      string          `json:"name,omitempty"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
	Response  *string         `json:"response,omitempty"`
	Modality  string          `json:"modality,omitempty"`
	MimeType  string          `json:"mime_type,omitempty"`
	URI       string          `json:"uri,omitempty"`
}

// userMessage is a prompt, and its text. A message of which nothing is left has no parts.
func userMessage(p *reader.Prompt) (m said, text string) {
	m.Role = "user"
	var texts []string
	for _, in := range p.Message.Parts {
		if in.Type == trace.InputText {
			m.Parts, texts = append(m.Parts, part{Type: "text", Content: in.Text}), append(texts, in.Text)
			continue
		}
		uri := in.URL
		if strings.HasPrefix(uri, "data:") && len(uri) > mostData {
			uri = digest(uri)
		}
		modality, _, _ := strings.Cut(in.MediaType, "/")
		m.Parts = append(m.Parts, part{Type: "uri", Modality: modality, MimeType: in.MediaType, URI: uri})
	}
	return m, strings.Join(texts, "\n\n")
}

// outputOf is what the model wrote in a step.
func outputOf(st *reader.Step) (m said) {
	m.Role = "assistant"
	m.Parts = []part{}
	for _, p := range st.Parts {
		switch {
		case p.Call != nil:
			m.Parts = append(m.Parts, part{Type: "tool_call", ID: p.Call.ToolCallID, Name: p.Call.RawName, Arguments: valid(p.Call.Input)})
		case p.Text == "":
		case p.Thought:
			m.Parts = append(m.Parts, part{Type: "reasoning", Content: p.Text})
		default:
			m.Parts = append(m.Parts, part{Type: "text", Content: p.Text})
		}
	}
	return m
}

func valid(v json.RawMessage) json.RawMessage {
	if !json.Valid(v) {
		return nil
	}
	return v
}

// encoded is the JSON of messages. Where they are too long together, each text is cut until they
// are not, so that what is left is JSON.
func encoded(all []said) string {
	for most := mostAttr; ; most /= 4 {
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		if e.Encode(all) != nil { // all of it is JSON
			return "[]"
		}
		if b.Len() <= mostAttr || most < 256 {
			return cut(strings.TrimSuffix(b.String(), "\n"), mostAttr)
		}
		all = shorter(all, most/4)
	}
}

// shorter cuts each text of the messages.
func shorter(all []said, most int) []said {
	out := make([]said, len(all))
	for i, m := range all {
		out[i] = said{Role: m.Role, FinishReason: m.FinishReason, Parts: make([]part, len(m.Parts))}
		for j, p := range m.Parts {
			p.Content = cut(p.Content, most)
			p.URI = cut(p.URI, most)
			if len(p.Arguments) > most {
				p.Arguments, _ = json.Marshal(cut(string(p.Arguments), most)) // a string always can be
			}
			if p.Response != nil {
				response := cut(*p.Response, most)
				p.Response = &response
			}
			out[i].Parts[j] = p
		}
	}
	return out
}

// cut keeps the beginning of a text that is too long, and says what it was.
func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	at := most
	for at > 0 && !utf8.RuneStart(s[at]) {
		at--
	}
	return s[:at] + fmt.Sprintf("… [cut: %d bytes, %s]", len(s), digest(s))
}

func digest(s string) string { return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(s))) }
