package main

import (
	"slices"
	"strings"
	"testing"
)

// A stage waits for those that it names, and for no others.
func TestAStageMayBeginWhenThoseThatItWaitsForHaveEnded(t *testing.T) {
	t.Parallel()
	all, err := parse(strings.Fields("install binary lint test-go:install,binary"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"install binary lint", "binary lint", "lint test-go"} {
		if got := strings.Join(beginning(all, nil), " "); got != want {
			t.Errorf("%s may begin, want %s", got, want)
		}
		for _, s := range all {
			if s.name == strings.Fields(want)[0] {
				s.ended = true
			}
		}
	}
}

// Two stages run at a time. Those with a plus run beside them, and count for nobody.
func TestTwoStagesAndThoseBesideThemRunAtATime(t *testing.T) {
	t.Parallel()
	all, err := parse(strings.Fields("a b +c d +e"))
	if err != nil {
		t.Fatal(err)
	}
	a, b, c := all[0], all[1], all[2]
	for _, s := range []struct {
		running []*stage
		want    string
	}{
		{nil, "a b c d e"},
		{[]*stage{a, c}, "b d e"},
		{[]*stage{a, b}, "c e"},
		{[]*stage{a, b, c}, "e"},
	} {
		if got := strings.Join(beginning(all, s.running), " "); got != s.want {
			t.Errorf("beside %d stages %s may begin, want %s", len(s.running), got, s.want)
		}
	}
}

// beginning are the names of the stages that may begin.
func beginning(all, running []*stage) (names []string) {
	for _, s := range all {
		if !s.ended && !slices.Contains(running, s) && s.mayBegin(running) {
			names = append(names, s.name)
		}
	}
	return names
}

func TestStagesThatWouldWaitForEverAreRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ args, want string }{
		{"a b a", "the stage a stands there twice: name each stage once"},
		{"a:b b", "the stage a waits for \"b\", which does not stand before it"},
		{"a:a", "the stage a waits for \"a\", which does not stand before it"},
		{"a b:", "the stage b waits for \"\", which does not stand before it"},
	} {
		if _, err := parse(strings.Fields(c.args)); err == nil || err.Error() != c.want {
			t.Errorf("%s: %v, want %s", c.args, err, c.want)
		}
	}
}
