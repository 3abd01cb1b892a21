package agentops

import (
	"strings"
	"testing"

	wire "github.com/tributary-dev/tributary/agentops"

	"github.com/tributary-dev/tributary/trace"
)

func TestB11_AChannelIsAThreadOrAChannelOfItsType(t *testing.T) {
	for channel, want := range map[string]place{
		"":               {},
		"thread:abc":     {thread: "abc"},
		"slack:C0123:17": {channel: wire.Channel{ChannelType: "slack", ChannelID: "C0123:17"}},
		"slack-123":      {channel: wire.Channel{ChannelType: "web", ChannelID: "slack-123"}},
		"thread:":        {},
	} {
		if got := parsePlace(channel); got != want {
			t.Errorf("%q is %+v, want %+v", channel, got, want)
		}
	}
}

// What a server would drop without a word is not sent, and its sender is told.
func TestAttachmentsThatAServerWouldDropAreTold(t *testing.T) {
	file := func(name, media, url string) trace.InputPart {
		return trace.InputPart{Type: trace.InputFile, Filename: name, MediaType: media, URL: url}
	}
	png := "data:image/png;base64,iVBORw0KGgo="
	for _, c := range []struct {
		name  string
		older bool
		part  trace.InputPart
		want  string // the address, or why there is none
	}{
		{"image", true, file("a.png", "image/png", png), png},
		{"image by its address alone", false, file("a.png", "", png), png},
		{"pdf", false, file("a.pdf", "application/pdf", "data:application/pdf;base64,AA=="), "data:application/pdf;base64,AA=="},
		{"pdf for an older server", true, file("a.pdf", "application/pdf", "data:application/pdf;base64,AA=="), "takes no application/pdf"},
		{"text", false, file("a.txt", "text/plain", "data:text/plain,hello%20you"), "takes no text/plain"},
		{"not in base64", false, file("a.svg", "image/svg+xml", "data:image/svg+xml,%3Csvg/%3E"), "data:image/svg+xml;base64,PHN2Zy8+"},
		{"with a parameter", false, file("", "image/svg+xml", "data:image/svg+xml;charset=utf-8;base64,PHN2Zy8+"), "data:image/svg+xml;base64,PHN2Zy8+"},
		{"broken", false, file("a.svg", "image/svg+xml", "data:image/svg+xml,%zz"), "cannot be read"},
		{"an address", false, file("a.png", "image/png", "https://example.com/a.png"), "takes no addresses"},
		{"no comma", false, file("a.png", "image/png", "data:image/png"), "takes no addresses"},
		{"too large", true, file("a.png", "image/png", "data:image/png;base64,"+strings.Repeat("A", 12_000_000)), "larger than"},
		{"not too large for a newer one", false, file("a.png", "image/png", "data:image/png;base64,"+strings.Repeat("A", 12_000_000)), "data:image/png"},
	} {
		files, dropped := limitsOf(c.older).attach(trace.UserMessage{Parts: []trace.InputPart{{Type: trace.InputText, Text: "x"}, c.part}})
		got := strings.Join(dropped, "")
		if len(files) == 1 {
			got = files[0].URL
		}
		if len(files)+len(dropped) != 1 || !strings.Contains(got, c.want) {
			t.Errorf("%s: %.100q, want %q", c.name, got, c.want)
		}
	}
	many := trace.UserMessage{}
	for range 9 {
		many.Parts = append(many.Parts, file("a.png", "image/png", png))
	}
	if files, dropped := limitsOf(true).attach(many); len(files) != 8 || len(dropped) != 1 || !strings.Contains(dropped[0], "at most 8") {
		t.Errorf("of nine files %d are sent, and %q", len(files), dropped)
	}
	large := trace.UserMessage{Parts: []trace.InputPart{}}
	for range 3 {
		large.Parts = append(large.Parts, file("a.png", "image/png", "data:image/png;base64,"+strings.Repeat("A", 10_000_000)))
	}
	if files, dropped := limitsOf(true).attach(large); len(files) != 2 || len(dropped) != 1 || !strings.Contains(dropped[0], "together") {
		t.Errorf("of three large files %d are sent, and %q", len(files), dropped)
	}
}
