package langgraph

import (
	"cmp"
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

// blocks reads content: a string, or a list of strings and blocks.
func blocks(content raw) (all []block) {
	for _, one := range listed(content) {
		if s := text(one); s != "" {
			all = append(all, block{kind: words, text: s})
		} else if b, ok := blockOf(objectOf(one)); ok {
			all = append(all, b)
		}
	}
	return all
}

// blockOf reads a block in the words of LangChain and of its providers. Tool calls stand beside
// the content.
func blockOf(o object) (b block, ok bool) {
	switch o.text("type") {
	case "text", "output_text", "text_delta":
		b = block{kind: words, text: o.text("text")}
		for _, cited := range append(list[object](o["annotations"]), list[object](o["citations"])...) {
			if url := cited.text("url"); url != "" {
				b.sources = append(b.sources, trace.Source{SourceID: url, URL: url, Title: cited.text("title")})
			}
		}
		return b, true
	case "thinking", "reasoning", "thinking_delta", "reasoning_content":
		b = block{kind: thought, text: o.text("thinking", "reasoning", "text"), signature: cmp.Or(o.text("signature"), o.in("extras").text("signature"))}
		for _, s := range list[object](o["summary"]) {
			b.text += s.text("text")
		}
		return b, true
	case "image", "image_url", "file", "audio", "video":
		url := address(o)
		return block{kind: picture, file: trace.File{URL: url, MediaType: mediaType(o, url), Filename: o.text("filename")}}, url != ""
	}
	return b, false
}

// reasoning reads what some providers keep beside the content.
func reasoning(extra object) []block {
	b, _ := blockOf(object{"type": raw(`"reasoning"`), "thinking": extra["reasoning_content"], "summary": extra.in("reasoning")["summary"]})
	if b.text == "" {
		return nil
	}
	return []block{b}
}

// address is the URL of a file, or its data as a URL.
func address(o object) string {
	source := o.in("source")
	data := cmp.Or(o.text("data", "base64"), source.text("data"))
	if data != "" && !strings.HasPrefix(data, "data:") {
		data = "data:" + mediaType(o, "") + ";base64," + data
	}
	return cmp.Or(o.text("url"), o.in("image_url").text("url"), o.text("image_url"), source.text("url"), data)
}

func mediaType(o object, url string) string {
	guess := "application/octet-stream"
	if strings.HasPrefix(o.text("type"), "image") {
		guess = "image/png"
	}
	if data, ok := strings.CutPrefix(url, "data:"); ok {
		guess, _, _ = strings.Cut(data, ";")
	}
	return cmp.Or(o.text("mime_type", "mimeType"), o.in("source").text("media_type"), guess)
}
