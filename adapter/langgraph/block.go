package langgraph

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/tributary-dev/tributary/trace"
)

// kind says what a block of content is.
type kind int

// The kinds of blocks that a user sees.
const (
	words kind = iota
	thought
	picture
)

// block is a piece of a message's content.
type block struct {
	kind      kind
	text      string
	signature string
	file      trace.File
	sources   []trace.Source
}

// blockForm is a block on the wire, in the words of LangChain and of its providers.
type blockForm struct {
	Type        string         `json:"type"`
	Text        trace.JSONText `json:"text"`
	Thinking    trace.JSONText `json:"thinking"`
	Reasoning   trace.JSONText `json:"reasoning"`
	Signature   string         `json:"signature"`
	Summary     []blockForm    `json:"summary"`
	Annotations []citation     `json:"annotations"`
	Citations   []citation     `json:"citations"`
	Data        string         `json:"data"`
	URL         string         `json:"url"`
	MimeType    string         `json:"mime_type"`
	MimeTypeJS  string         `json:"mimeType"`
	Base64      string         `json:"base64"`
	Filename    string         `json:"filename"`
	ImageURL    raw            `json:"image_url"`
	Source      struct {
		MediaType string `json:"media_type"`
		Data      string `json:"data"`
		URL       string `json:"url"`
	} `json:"source"`
	Extras struct {
		Signature string `json:"signature"`
	} `json:"extras"`
}

// citation is what a text cites.
type citation struct {
	URL   string `json:"url"`
	Title string `json:"title"`
}

// blocks reads content: a string, or a list of strings and blocks.
func blocks(content raw) []block {
	var s trace.JSONText
	if json.Unmarshal(content, &s) == nil {
		if s == "" {
			return nil
		}
		return []block{{kind: words, text: string(s)}}
	}
	var list []raw
	_ = json.Unmarshal(content, &list) // another form says nothing
	var all []block
	for _, one := range list {
		var f blockForm
		switch {
		case json.Unmarshal(one, &s) == nil:
			all = append(all, block{kind: words, text: string(s)})
		case json.Unmarshal(one, &f) == nil:
			all = append(all, f.blocks()...)
		}
	}
	return all
}

func (f blockForm) blocks() []block {
	switch f.Type {
	case "text", "output_text", "text_delta":
		return []block{{kind: words, text: string(f.Text), sources: sources(append(f.Annotations, f.Citations...))}}
	case "thinking", "reasoning", "thinking_delta", "reasoning_content":
		said := cmp.Or(f.Thinking, f.Reasoning, f.Text)
		for _, s := range f.Summary {
			said += s.Text
		}
		return []block{{kind: thought, text: string(said), signature: cmp.Or(f.Signature, f.Extras.Signature)}}
	case "image", "image_url", "file", "audio", "video":
		if url := f.address(); url != "" {
			return []block{{kind: picture, file: trace.File{URL: url, MediaType: f.mediaType(url), Filename: f.Filename}}}
		}
	}
	return nil // tool calls stand beside the content
}

// address is the URL of a file, or its data as a URL.
func (f blockForm) address() string {
	var nested struct {
		URL string `json:"url"`
	}
	read(f.ImageURL, &nested)
	data := cmp.Or(f.Data, f.Base64, f.Source.Data)
	if data != "" && !strings.HasPrefix(data, "data:") {
		data = "data:" + f.mediaType("") + ";base64," + data
	}
	return cmp.Or(f.URL, nested.URL, text(f.ImageURL), f.Source.URL, data)
}

func (f blockForm) mediaType(url string) string {
	guess := "application/octet-stream"
	if strings.HasPrefix(f.Type, "image") {
		guess = "image/png"
	}
	if data, ok := strings.CutPrefix(url, "data:"); ok {
		guess, _, _ = strings.Cut(data, ";")
	}
	return cmp.Or(f.MimeType, f.MimeTypeJS, f.Source.MediaType, guess)
}

func sources(all []citation) []trace.Source {
	var found []trace.Source
	for _, c := range all {
		if c.URL != "" {
			found = append(found, trace.Source{SourceID: c.URL, URL: c.URL, Title: c.Title})
		}
	}
	return found
}
