//go:build unix

package codex_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tributary-dev/tributary/agent"
)

func TestTheListHoldsAllPagesAndOnlyThisWorkspace(t *testing.T) {
	t.Parallel()
	got, err := fakeRuntime(t, "plain").Conversations(t.Context(), agent.Config{Cwd: t.TempDir()})
	want := []agent.Conversation{
		{Token: "t1", Title: "hello", Updated: time.Unix(1772359200, 0)},
		{Token: "t3", Title: "A name", Updated: time.Unix(1772359201, 0)},
	}
	if d := cmp.Diff(want, got); err != nil || d != "" {
		t.Errorf("%v\n%s", err, d)
	}
}

func TestWhyThereIsNoList(t *testing.T) {
	t.Parallel()
	for how, want := range map[string]string{
		"no list":        "codex: it cannot list its conversations: the state cannot be read",
		"old":            "is too old",
		"crash at start": "the config file is broken",
	} {
		got, err := fakeRuntime(t, how).Conversations(t.Context(), agent.Config{Cwd: t.TempDir()})
		if err == nil || got != nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v", how, got, err)
		}
	}
}
