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
		name string
		part trace.InputPart
		want string // the address, or why there is none
	}{
		{"image", file("a.png", "image/png", png), png},
		{"image by its address alone", file("a.png", "", png), png},
		{"pdf", file("a.pdf", "application/pdf", "data:application/pdf;base64,AA=="), "data:application/pdf;base64,AA=="},
		{"text", file("a.txt", "text/plain", "data:text/plain,hello%20you"), "takes no text/plain"},
		{"not in base64", file("a.svg", "image/svg+xml", "data:image/svg+xml,%3Csvg/%3E"), "data:image/svg+xml;base64,PHN2Zy8+"},
		{"with a parameter", file("", "image/svg+xml", "data:image/svg+xml;charset=utf-8;base64,PHN2Zy8+"), "data:image/svg+xml;base64,PHN2Zy8+"},
		{"broken", file("a.svg", "image/svg+xml", "data:image/svg+xml,%zz"), "cannot be read"},
		{"an address", file("a.png", "image/png", "https://example.com/a.png"), "takes no addresses"},
		{"no comma", file("a.png", "image/png", "data:image/png"), "takes no addresses"},
		{"too large", file("a.png", "image/png", "data:image/png;base64,"+strings.Repeat("A", 90_000_000)), "larger than"},
		{"not too large", file("a.png", "image/png", "data:image/png;base64,"+strings.Repeat("A", 12_000_000)), "data:image/png"},
	} {
		files, dropped := attach(trace.UserMessage{Parts: []trace.InputPart{{Type: trace.InputText, Text: "x"}, c.part}})
		got := strings.Join(dropped, "")
		if len(files) == 1 {
			got = files[0].URL
		}
		if len(files)+len(dropped) != 1 || !strings.Contains(got, c.want) {
			t.Errorf("%s: %.100q, want %q", c.name, got, c.want)
		}
	}
	large := trace.UserMessage{Parts: []trace.InputPart{}}
	for range 3 {
		large.Parts = append(large.Parts, file("a.png", "image/png", "data:image/png;base64,"+strings.Repeat("A", 40_000_000)))
	}
	if files, dropped := attach(large); len(files) != 2 || len(dropped) != 1 || !strings.Contains(dropped[0], "together") {
		t.Errorf("of three large files %d are sent, and %q", len(files), dropped)
	}
}
