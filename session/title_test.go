package session_test

import (
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/trace"
)

// A title is the beginning of the first prompt, on one line.
func TestTitles(t *testing.T) {
	t.Parallel()
	const sixty = "123456789 123456789 123456789 123456789 123456789 123456789Ü"
	for _, c := range []struct {
		words []string
		want  string
	}{
		{nil, ""},
		{[]string{" \n"}, ""},
		{[]string{"  what is\n\there? "}, "what is here?"},
		{[]string{"look at", "", " this"}, "look at this"},
		{[]string{sixty}, sixty},
		{[]string{sixty, ""}, sixty},
		{[]string{sixty + "x"}, strings.TrimSuffix(sixty, "Ü") + "…"},
		{[]string{sixty[:50] + "6789 and more"}, sixty[:50] + "6789 and…"},
		{[]string{strings.Repeat("x", 10<<20)}, strings.Repeat("x", 59) + "…"},
	} {
		var m trace.UserMessage
		for _, words := range c.words {
			m.Parts = append(m.Parts, trace.InputPart{Type: trace.InputText, Text: words}, trace.InputPart{Type: trace.InputFile})
		}
		if got := session.Titled(m); got != c.want {
			t.Errorf("%.80q gives %q, want %q", c.words, got, c.want)
		}
	}
}
