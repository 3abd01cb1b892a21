package permission

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/trace"
)

// FuzzFromText types answers: a request is granted for ever by no typed text, and
// granted at all only by a word for it or the name of an option.
func FuzzFromText(f *testing.F) {
	for _, s := range [][2]string{{"yes", "Allow"}, {" OK! ", "Always"}, {"always", "always"}, {"no", ""}, {"2", "2"}, {"allow_always", "x"}, {"Ja.", "ja"}, {"yes and no", "yes"}} {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, text, name string) {
		options := []trace.PermissionOption{
			{ID: "1", Name: "Always", OptionKind: trace.AllowAlways},
			{ID: "2", Name: name, OptionKind: trace.AllowOnce},
			{ID: "3", Name: "Never", OptionKind: trace.RejectAlways},
			{ID: "4", Name: "Deny", OptionKind: trace.RejectOnce},
		}
		answer, ok := FromText(options, text)
		if !ok {
			return
		}
		if answer.OptionKind != trace.AllowOnce && answer.OptionKind != trace.RejectOnce {
			t.Errorf("%q means %+v", text, answer)
		}
		word := strings.ToLower(strings.Trim(strings.TrimSpace(text), ".!"))
		said := slices.Contains([]string{"yes", "y", "ok", "allow", "approve", "approved", "2", string(trace.AllowOnce)}, strings.TrimSpace(word)) || strings.EqualFold(strings.TrimSpace(word), name)
		if answer.OptionKind == trace.AllowOnce && !said {
			t.Errorf("%q, where the option is called %q, grants it", text, name)
		}
	})
}

// FuzzGlob matches names of tools, and compares with another matcher.
func FuzzGlob(f *testing.F) {
	for _, s := range [][2]string{{"*", ""}, {"Bash*", "Bash"}, {"mcp__*__read?", "mcp__a__reads"}, {"*a*b*", "xaybz"}, {"?", "é"}, {"a.c", "abc"}} {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, pattern, name string) {
		if len(pattern) > 50 || len(name) > 200 {
			return
		}
		expression := regexp.QuoteMeta(string([]rune(pattern)))
		expression = strings.NewReplacer(`\*`, `(?s:.*)`, `\?`, `(?s:.)`).Replace(expression)
		want := regexp.MustCompile(`\A` + expression + `\z`).MatchString(string([]rune(name)))
		if got := like([]rune(pattern), []rune(name)); got != want {
			t.Errorf("%q and %q: %v", pattern, name, got)
		}
	})
}
