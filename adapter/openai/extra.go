package openai

import (
	"cmp"
	"encoding/json"
	"net/url"
	"strings"

	"github.com/tributary-dev/tributary/trace"
)

// This file takes what an answer has beside words: sources and pictures.

// citation is a source in one of the forms of OpenAI, OpenRouter and Perplexity.
type citation struct {
	URL, Title, Filename word
	FileID               word      `json:"file_id"`
	Nested               *citation `json:"url_citation"`
}

// UnmarshalJSON implements json.Unmarshaler. An address alone is a source, too.
func (c *citation) UnmarshalJSON(value []byte) error {
	type plain citation
	var address word
	if json.Unmarshal(value, &address) == nil && address != "" {
		c.URL = address
		return nil
	}
	_ = json.Unmarshal(value, (*plain)(c))
	return nil
}

// cite puts sources on record, each once.
func (a *answer) cite(all list[citation]) {
	for _, c := range all {
		if c.Nested != nil {
			c = *c.Nested
		}
		source := trace.Source{Title: string(c.Title)}
		if webAddress(string(c.URL)) {
			source.URL = string(c.URL)
		} else if source.Filename = string(cmp.Or(c.Filename, c.FileID)); source.Filename == "" {
			continue
		}
		key := cmp.Or(source.URL, source.Filename)
		if a.cited[key] || len(a.cited) == maxSources || !a.takes(len(key)+len(source.Title)) {
			continue
		}
		if a.cited == nil {
			a.cited = map[string]bool{}
		}
		a.cited[key], a.spoken = true, true
		a.to.Emit(source)
	}
}

func webAddress(address string) bool {
	u, err := url.Parse(address)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}

// picture is an image in one of the forms of OpenAI and OpenRouter.
type picture struct {
	ImageURL nestedURL `json:"image_url"`
	Base64   word      `json:"b64_json"`
	Address  word      `json:"url"`
	Format   word      `json:"output_format"`
	Media    word      `json:"mime_type"`
}

// nestedURL is an address, or an object that has it.
type nestedURL string

// UnmarshalJSON implements json.Unmarshaler.
func (n *nestedURL) UnmarshalJSON(value []byte) error {
	var text word
	var nested struct{ URL word }
	if json.Unmarshal(value, &text) != nil || text == "" {
		_ = json.Unmarshal(value, &nested)
		text = nested.URL
	}
	*n = nestedURL(text)
	return nil
}

// address is a web address or a data URL of an image, or "".
func (p picture) address() string {
	at := cmp.Or(string(p.ImageURL), string(p.Address))
	switch {
	case at == "" && p.Base64 != "":
		return "data:" + cmp.Or(imageType(string(p.Media)), "image/"+cmp.Or(simple(string(p.Format)), "png")) + ";base64," + string(p.Base64)
	case strings.HasPrefix(at, "data:image/"), webAddress(at):
		return at
	default:
		return ""
	}
}

// show puts pictures on record as files.
func (a *answer) show(all []picture) {
	for _, p := range all {
		at := p.address()
		if at == "" || a.pictures == maxPictures || !a.takes(len(at)) {
			continue
		}
		a.pictures++
		a.endPart("")
		a.spoken = true
		head, _, _ := strings.Cut(strings.TrimPrefix(at, "data:"), ",")
		media, _, _ := strings.Cut(head, ";")
		a.to.Emit(trace.File{URL: at, MediaType: cmp.Or(imageType(media), imageType(string(p.Media)), "image/png")})
	}
}

func imageType(media string) string {
	if sub, ok := strings.CutPrefix(media, "image/"); ok && simple(sub) != "" {
		return media
	}
	return ""
}

// simple is a word of a media type, or "".
func simple(sub string) string {
	if len(sub) > 20 || strings.ContainsFunc(sub, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '+' && r != '-' && r != '.'
	}) {
		return ""
	}
	return sub
}
