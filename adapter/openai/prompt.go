package openai

import (
	"cmp"
	"encoding/base64"
	"net/url"
	"strings"

	"github.com/tributary-dev/tributary/trace"
)

// system is the system prompt.
func (m *model) system() string {
	if m.System != "" {
		return m.System
	}
	return "You are a helpful agent in the directory " + m.cfg.Cwd + " of the user's machine. " +
		"Use your tools to look at files, to change them and to run commands; paths are relative to that directory. " +
		"A tool call that was denied must not be tried again in another way: ask the user instead. " +
		"Be brief, and say what you did."
}

// form is how a part of a prompt is sent.
type form int

const (
	formText form = iota
	formImage
	formFile
)

// formOf sorts a part, and returns the text of those that are sent as text.
func formOf(p trace.InputPart) (form, string) {
	data, isData := decodeData(p.URL)
	name := cmp.Or(p.Filename, "file")
	switch {
	case p.Type == trace.InputText:
		return formText, p.Text
	case strings.HasPrefix(p.MediaType, "image/") && (isData || isWeb(p.URL)):
		return formImage, ""
	case isData && isText(p.MediaType):
		return formText, "<file name=\"" + name + "\">\n" + string(data) + "\n</file>"
	case isData:
		return formFile, name
	case isWeb(p.URL):
		return formText, "[attached: " + name + ", " + p.URL + "]"
	default: // an address on this machine is nobody's to hand out
		return formText, "[attached: " + name + ", which cannot be read]"
	}
}

func isWeb(address string) bool {
	u, err := url.Parse(address)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != ""
}

func isText(mediaType string) bool {
	return strings.HasPrefix(mediaType, "text/") || strings.HasSuffix(mediaType, "json") || strings.HasSuffix(mediaType, "xml")
}

func decodeData(address string) ([]byte, bool) {
	rest, ok := strings.CutPrefix(address, "data:")
	head, body, comma := strings.Cut(rest, ",")
	if !ok || !comma {
		return nil, false
	}
	if strings.HasSuffix(head, ";base64") {
		data, err := base64.StdEncoding.DecodeString(body)
		return data, err == nil
	}
	text, err := url.PathUnescape(body)
	return []byte(text), err == nil
}
