package agentkit

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"mime"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"github.com/tributary-dev/tributary/trace"
)

// Attachment is a file in a prompt, as an agent may get it.
type Attachment struct {
	Name   string // "" if it is not known
	Media  string // type/subtype in small letters, without parameters; "" if it is not known
	URL    string // on the web, or "": agents would read an address on their machine
	Inline bool   // the prompt holds the bytes
	Data   []byte // of an inline file
	raw    string // the data URL of an inline file as it came, if it may be passed on
}

// Attached reads a file part of a prompt. A media type or an address that is malformed counts
// as not known. Browsers know no type of most source files: of an inline file without a type
// the name's ending tells it, or the content.
func Attached(p trace.InputPart) Attachment {
	media, data, inline := dataURL(p.URL)
	a := Attachment{Name: p.Filename, Media: cmp.Or(known(mediaType(media)), known(mediaType(p.MediaType)), mediaType(media), mediaType(p.MediaType)), URL: webAddress(p.URL), Inline: inline, Data: data}
	head, body, _ := strings.Cut(p.URL, ",")
	simple := slices.Contains([]string{"", ";base64", ";charset=utf-8", ";charset=utf-8;base64"}, strings.TrimPrefix(head, "data:"+mediaType(media)))
	if odd := func(r rune) bool { return r <= ' ' || r > '~' || r == '@' }; inline && simple && !strings.ContainsFunc(body, odd) {
		a.raw = p.URL
	}
	if inline {
		a.sniff()
	}
	return a
}

// mediaType returns the type without parameters, or "" if it is malformed.
func mediaType(s string) string {
	s, _, _ = strings.Cut(s, ";")
	media, _, err := mime.ParseMediaType(s)
	if err != nil || !strings.Contains(media, "/") {
		return ""
	}
	return media
}

// webAddress returns an address on the web, without an @ and white space. Agents make text of
// addresses, and an address that tells a password is not passed on.
func webAddress(s string) string {
	u, err := url.Parse(s)
	spaces := func(r rune) bool { return unicode.IsSpace(r) || unicode.In(r, unicode.Cc, unicode.Cf) }
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || strings.ContainsFunc(s, spaces) {
		return ""
	}
	return noSigns.Replace(s)
}

// noSigns writes each sign of a mention as a URL may write it.
//
//nolint:gochecknoglobals // read only
var noSigns = strings.NewReplacer("@", "%40", "\uFF20", "%EF%BC%A0", "\uFE6B", "%EF%B9%AB")

// Address is the web address of the file, or a data URL with its bytes, or "".
func (a Attachment) Address() string {
	if !a.Inline || a.raw != "" {
		return cmp.Or(a.raw, a.URL)
	}
	return "data:" + cmp.Or(a.Media, "application/octet-stream") + ";base64," + base64.StdEncoding.EncodeToString(a.Data)
}

// IsImage reports whether the file is an image.
func (a Attachment) IsImage() bool { return strings.HasPrefix(a.Media, "image/") }

// OnWeb reports whether the agent can fetch the file from the web.
func (a Attachment) OnWeb() bool { return a.URL != "" }

// IsText reports whether the file is a text that is here.
func (a Attachment) IsText() bool {
	return a.Inline && (ofText(a.Media) || !ofBytes(a.Media) && readable(a.Data))
}

// isBinary reports whether no agent reads the file as text.
func (a Attachment) isBinary() bool { return !a.IsText() && ofBytes(a.Media) }

// Text is the file as text for the model. Of a file that is no text, the model learns
// that there is one, and where on the web. An address on this machine is kept back.
func (a Attachment) Text() string {
	name := cmp.Or(a.Name, "(no name)")
	switch {
	case a.IsText():
		return fmt.Sprintf("Attached file %s:\n\n%s", name, strings.ToValidUTF8(string(a.Data), "\uFFFD"))
	case a.OnWeb():
		return fmt.Sprintf("[The user attached the file %s: %s]", name, a.URL)
	default:
		return fmt.Sprintf("[The user attached the file %s of type %s, which cannot be passed on.]", name, cmp.Or(a.Media, "unknown"))
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
	if strings.HasSuffix(strings.ToLower(head), ";base64") {
		data, err = base64.StdEncoding.DecodeString(body)
	} else {
		body, err = url.PathUnescape(body)
		data = []byte(body)
	}
	return media, data, err == nil
}
