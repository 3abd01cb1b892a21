package agenttest

import (
	"bytes"
	"encoding/base64"
	"slices"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/trace"
)

// file is a file of a prompt.
type file struct{ name, media, url, data string }

// address is the URL of the part.
func (f file) address() string {
	if f.url != "" {
		return f.url
	}
	return "data:" + f.media + ";base64," + base64.StdEncoding.EncodeToString([]byte(f.data))
}

// traces are what shows that an agent was sent the file itself.
func (f file) traces() []string {
	if f.url != "" {
		return []string{f.url}
	}
	all := []string{base64.StdEncoding.EncodeToString([]byte(f.data))}
	if strings.HasPrefix(f.media, "text/") {
		all = append(all, f.data)
	}
	return all
}

// A picture of one point.
const onePixel = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f\x15\xc4\x89\x00\x00\x00\r" +
	"IDATx\xdacd\xf8\xcfP\x0f\x00\x03\x86\x01\x80Z4}k\x00\x00\x00\x00IEND\xaeB`\x82"

func files() []file {
	return []file{
		{name: "point.png", media: "image/png", data: onePixel},
		{name: "notes.txt", media: "text/plain", data: "The heron stands in the reeds."},
		{name: "paper.pdf", media: "application/pdf", data: "%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n"},
		{name: "things.zip", media: "application/zip", data: "PK\x05\x06" + strings.Repeat("\x00", 18)},
		{name: "web.png", media: "image/png", url: "https://files.example/web.png"},
		{name: "web.txt", media: "text/plain", url: "https://files.example/web.txt"},
	}
}

// FileParts are the words of a prompt and its files: point.png, notes.txt, paper.pdf and
// things.zip are in the prompt, web.png and web.txt are on the web.
func FileParts(words string) []trace.InputPart {
	parts := []trace.InputPart{{Type: trace.InputText, Text: words}}
	for _, f := range files() {
		parts = append(parts, trace.InputPart{Type: trace.InputFile, MediaType: f.media, Filename: f.name, URL: f.address()})
	}
	return parts
}

// CheckFiles checks what an agent was sent of the prompt with FileParts. The agent takes the files
// of these names. Of each other file it learns that there is one, and the file's name.
func CheckFiles(t testing.TB, sent []byte, taken ...string) {
	t.Helper()
	for _, f := range files() {
		holds := func(s string) bool { return bytes.Contains(sent, []byte(s)) }
		switch {
		case !slices.Contains(taken, f.name) && !holds(f.name):
			t.Errorf("the agent does not learn of the file %s: it is sent %.2000s", f.name, sent)
		case slices.Contains(taken, f.name) && !slices.ContainsFunc(f.traces(), holds):
			t.Errorf("the file %s does not reach the agent: it is sent %.2000s", f.name, sent)
		}
	}
}
