package main

import (
	"context"
	"errors"
	"strings"
	"testing"
)

// A stage waits for those that it names, and for no others.
func TestAStageIsReadyWhenThoseThatItWaitsForHaveEnded(t *testing.T) {
	t.Parallel()
	all, err := parse(strings.Fields("install binary lint test-go:install,binary"))
	if err != nil {
		t.Fatal(err)
	}
	ready := func() (names []string) {
		for _, s := range all {
			if !s.ended && s.isReady() {
				names = append(names, s.name)
			}
		}
		return names
	}
	for _, want := range []string{"install binary lint", "binary lint", "lint test-go"} {
		if got := strings.Join(ready(), " "); got != want {
			t.Errorf("ready are %s, want %s", got, want)
		}
		for _, s := range all {
			if s.name == strings.Fields(want)[0] {
				s.ended = true
			}
		}
	}
}

// A stage that waits for the end of another one runs also when that has failed, and one that needs it does not.
func TestAStageRunsOnlyIfThoseThatItNeedsHavePassed(t *testing.T) {
	t.Parallel()
	all, err := parse(strings.Fields("page test:page? binary:page"))
	if err != nil {
		t.Fatal(err)
	}
	all[0].ended, all[0].err = true, errors.New("exit status 2")
	ctx, stop := context.WithCancel(t.Context())
	stop() // so that no stage begins
	for s, want := range map[*stage]string{all[1]: "not run: context canceled", all[2]: "not run, because page failed"} {
		s.run(ctx, func(string, ...any) {})
		if !s.isReady() || s.err == nil || s.err.Error() != want {
			t.Errorf("%s: ready %v, %v; want %s", s.name, s.isReady(), s.err, want)
		}
	}
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
