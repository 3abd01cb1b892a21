package eventlog_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/trace"
)

func TestTheWordsOfAText(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                             "",
		" ,.;":                         "",
		"Go 1.26, go!":                 "go 1 26",
		"ÉTÉ été":                      "été",
		"snake_case camelCase a-b/c":   "snake case camelcase a b c",
		"東京タワー tower":                  "東 京 タ ワ ー tower",
		"e\u0301t\u0301":               "e\u0301t\u0301",
		"\x00\xff x":                   "x",
		"'; DROP TABLE texts; --":      "drop table texts",
		strings.Repeat("a", 100) + "b": strings.Repeat("a", 64),
	} {
		if got := strings.Join(eventlog.Words(text), " "); got != want {
			t.Errorf("%.40q has the words %q, want %q", text, got, want)
		}
	}
}

//evidence:for limit-search-text
func TestTheWordsOfATextHaveABound(t *testing.T) {
	t.Parallel()
	if words := eventlog.Words(strings.Repeat("word ", 256<<10/5+10) + "late"); slices.Contains(words, "late") {
		t.Error("a word behind 256 KB is found")
	}
	var many strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&many, "%x ", i)
	}
	if words := eventlog.Words(many.String()); len(words) != 10_000 {
		t.Errorf("%d words are found", len(words))
	}
}

func TestASearchLooksInPromptsAndAnswers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		payload trace.Payload
		want    string
	}{
		{trace.Prompt{Message: trace.UserMessage{Parts: []trace.InputPart{{Type: trace.InputText, Text: "a"}, {Type: trace.InputFile, Filename: "f"}, {Type: trace.InputText, Text: "b"}}}}, "a\nb"},
		{trace.Message{Role: trace.RoleAssistant, Text: "an answer"}, "an answer"},
		{trace.Message{Role: trace.RoleAssistant, Text: "replaced", Superseded: true}, ""},
		{trace.Message{Role: trace.RoleSystem, Text: "a notice"}, ""},
		{trace.Thought{Text: "reasoning"}, ""},
	} {
		if got := eventlog.SearchedText(c.payload); got != c.want {
			t.Errorf("in %+v: %q", c.payload, got)
		}
	}
}
