package scriptedmodel

import "testing"

func TestParseDirective(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, text string
		want       Directive
		found      bool
	}{
		{"none", "hello", Directive{}, false},
		{"bare", "[[script:plain]]", Directive{Name: "plain"}, true},
		{"argument", "please [[script:read /a b.txt]] now", Directive{"read", "/a b.txt"}, true},
		{"unicode", "[[script:say Grüße 👩‍🚀 – 日本]]", Directive{"say", "Grüße 👩‍🚀 – 日本"}, true},
		{"brackets in the argument", `[[script:call X {"a":[[1]]}]]`, Directive{"call", `X {"a":[[1]]}`}, true},
		{"one for a sub-agent inside", `[[script:call Task {"prompt":"[[script:plain]]"}]]`, Directive{"call", `Task {"prompt":"[[script:plain]]"}`}, true},
		{"the last line wins", "[[script:plain]]\nthen\n[[script:think]]\n", Directive{Name: "think"}, true},
		{"not closed", "[[script:plain]", Directive{}, false},
		{"closed on another line", "[[script:plain\n]]", Directive{}, false},
		{"empty", "[[script:]]", Directive{}, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got, found := ParseDirective(tc.text)
			if got != tc.want || found != tc.found {
				t.Errorf("ParseDirective(%q) = %+v, %v; want %+v, %v", tc.text, got, found, tc.want, tc.found)
			}
		})
	}
}

func TestDue(t *testing.T) {
	t.Parallel()
	user := func(text string) Turn { return Turn{Role: RoleUser, Text: text} }
	calls := Turn{Role: RoleAssistant, Calls: 2}
	results := Turn{Role: RoleTool, Results: []string{"a", "b"}}
	for _, tc := range []struct {
		name  string
		turns []Turn
		want  Directive
		step  int
	}{
		{"nothing at all", nil, Directive{}, 0},
		{"no directive", []Turn{user("hi")}, Directive{}, 0},
		{"first step", []Turn{user("[[script:plain]]")}, Directive{Name: "plain"}, 0},
		{"after a batch", []Turn{user("[[script:read x]]"), calls, results}, Directive{"read", "x"}, 1},
		{"a note without a directive", []Turn{user("[[script:read x]]"), calls, results, user("go on")}, Directive{"read", "x"}, 1},
		{"older batches do not count", []Turn{user("[[script:read x]]"), calls, results, user("[[script:think]]")}, Directive{Name: "think"}, 0},
		{"what the assistant said is no directive", []Turn{user("[[script:think]]"), {Role: RoleAssistant, Text: "[[script:empty]]"}, user("on")}, Directive{Name: "think"}, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got, step := Conversation{Turns: tc.turns}.Due()
			if got != tc.want || step != tc.step {
				t.Errorf("Due() = %+v, %d; want %+v, %d", got, step, tc.want, tc.step)
			}
		})
	}
}
