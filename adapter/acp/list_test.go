package acp_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tributary-dev/tributary/agent"
)

func TestTheListHoldsAllPagesAndOnlyThisWorkspace(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	want := []agent.Conversation{
		{Token: "oldest", Title: "The oldest", Updated: time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)},
		{Token: "newest", Title: "The newest", Updated: time.Date(2026, 3, 2, 8, 0, 0, 5e8, time.UTC)},
		{Token: "untitled"},
	}
	for _, cwd := range []string{dir, link} {
		got, err := fakeRuntime(t, "lists").Conversations(t.Context(), agent.Config{Cwd: cwd})
		if d := cmp.Diff(want, got); err != nil || d != "" {
			t.Errorf("%s: %v\n%s", cwd, err, d)
		}
	}
}

func TestAListEndsThoughItsPagesDoNot(t *testing.T) {
	t.Parallel()
	got, err := fakeRuntime(t, "lists for ever").Conversations(t.Context(), agent.Config{Cwd: t.TempDir()})
	if err != nil || len(got) != 0 {
		t.Errorf("%v, %v", got, err)
	}
}

func TestAListUsesTheKeyInTheEnvironment(t *testing.T) {
	t.Parallel()
	got, err := fakeRuntime(t, "lists after a login", "FAKE_KEY=k").Conversations(t.Context(), agent.Config{Cwd: t.TempDir()})
	if err != nil || len(got) != 3 {
		t.Errorf("%v, %v", got, err)
	}
}

func TestWhyThereIsNoList(t *testing.T) {
	t.Parallel()
	for how, want := range map[string]string{
		"plain":               "fake: this agent does not list its conversations: begin a session without `resume`",
		"lists after a login": "Authentication required. Log in by",
		"another protocol":    "does not know the Agent Client Protocol",
		"crash at start":      "the config file is broken",
	} {
		got, err := fakeRuntime(t, how).Conversations(t.Context(), agent.Config{Cwd: t.TempDir()})
		if err == nil || got != nil || !strings.Contains(err.Error(), want) || errors.Is(err, agent.ErrNotListed) != (how == "plain") {
			t.Errorf("%s: %v, %v", how, got, err)
		}
	}
}
