package agentkit

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"net/url"
	"strings"

	"github.com/tributary-dev/tributary/trace"
)

// Attachment is a file in a prompt.
type Attachment struct {
	Name   string // "(no name)" if it is not known
	Media  string // the media type, or ""
	URL    string
	Inline bool   // the URL holds the bytes
	Data   []byte // of an inline file
}

// Attached reads a file part of a prompt.
func Attached(p trace.InputPart) Attachment {
	a := Attachment{Name: cmp.Or(p.Filename, "(no name)"), URL: p.URL}
	media, data, inline := dataURL(p.URL)
	a.Media, a.Data, a.Inline = cmp.Or(media, p.MediaType), data, inline
	return a
}

// IsImage reports whether the file is an image.
func (a Attachment) IsImage() bool { return strings.HasPrefix(a.Media, "image/") }

// OnWeb reports whether the agent can fetch the file from the web.
func (a Attachment) OnWeb() bool {
	return strings.HasPrefix(a.URL, "http://") || strings.HasPrefix(a.URL, "https://")
}

// IsText reports whether the file is a text that is here.
func (a Attachment) IsText() bool {
	return a.Inline && (strings.HasPrefix(a.Media, "text/") || strings.HasSuffix(a.Media, "json") || strings.HasSuffix(a.Media, "xml"))
}

// Text is the file as text for the model. Of a file that is no text, the model learns
// that there is one, and where on the web. An address on this machine is kept back.
func (a Attachment) Text() string {
	switch {
	case a.IsText():
		return fmt.Sprintf("Attached file %s:\n\n%s", a.Name, strings.ToValidUTF8(string(a.Data), "\uFFFD"))
	case a.OnWeb():
		return fmt.Sprintf("[The user attached the file %s: %s]", a.Name, a.URL)
	default:
		return fmt.Sprintf("[The user attached the file %s of type %s, which cannot be passed on.]", a.Name, cmp.Or(a.Media, "unknown"))
	}
}

// dataURL takes a data URL apart.
func dataURL(address string) (media string, data []byte, ok bool) {
	address, ok = strings.CutPrefix(address, "data:")
	head, body, comma := strings.Cut(address, ",")
	if !ok || !comma {
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
