package e2e

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A byte that changed on disk while the gateway was away damages one session. It
// is said wherever somebody might look, what is left can be read, the session
// goes on, and the others know nothing of it.
func TestFlippedByte(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	args := []string{"--agent", "echo", "--cwd", t.TempDir()}
	p := start(t, data, os.Environ(), args...)
	for _, said := range []string{"first words", "heron and egret", "last words"} {
		p.chat("hurt", said, nil)
		p.chat("well", said, nil)
	}
	well := p.history("well")
	p.end()
	flip(t, data, `"session":"hurt"`, "heron and egret")

	p = start(t, data, os.Environ(), args...)
	for range 2 { // the first reading finds it, and may break off
		res := p.request(t.Context(), http.MethodGet, "/api/sessions/hurt/messages", nil)
		_, _ = io.Copy(io.Discard, res.Body)
		_ = res.Body.Close()
	}
	history := p.history("hurt")
	if first := history[0]; first.Role != "system" || !strings.HasPrefix(first.text(), "Some of this conversation is lost: ") {
		t.Errorf("the history begins with %+v", first)
	}
	if last := history[len(history)-1]; !strings.Contains(last.text(), "last words") {
		t.Errorf("the history ends with %q", last.text())
	}
	for _, m := range history {
		if strings.Contains(m.text(), "her") && !strings.Contains(m.text(), "heron and egret") {
			t.Errorf("a changed text is passed off as what was said: %q", m.text())
		}
	}
	var ready struct {
		Status  string `json:"status"`
		Damaged int    `json:"damaged_sessions"`
	}
	p.json("/readyz", &ready)
	if ready.Status != "ready" || ready.Damaged != 1 {
		t.Errorf("%+v", ready)
	}
	var list struct {
		Sessions []struct{ ID, Damaged string }
	}
	p.json("/api/sessions", &list)
	for _, s := range list.Sessions {
		if (s.Damaged != "") != (s.ID == "hurt") {
			t.Errorf("session %s is damaged: %q", s.ID, s.Damaged)
		}
	}
	if again := p.history("well"); len(again) != len(well) || again[len(again)-1].text() != well[len(well)-1].text() {
		t.Errorf("the other session has %d messages, it had %d", len(again), len(well))
	}
	for _, id := range []string{"hurt", "well"} {
		if s := p.chat(id, "and on", nil); !s.done || !strings.Contains(s.text, "and on") {
			t.Errorf("a turn in %s: %q", id, s.text)
		}
	}
	p.end()
}

// flip changes a bit of a text in the stored message that holds both texts.
func flip(t *testing.T, data, session, text string) {
	t.Helper()
	blocks, err := filepath.Glob(filepath.Join(data, "nats", "jetstream", "*", "streams", "tributary_wholes", "msgs", "*.blk"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range blocks {
		stored, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		at := bytes.Index(stored, []byte(session))
		for at >= 0 {
			line, _, _ := bytes.Cut(stored[at:], []byte("\n"))
			if i := bytes.Index(line, []byte(text)); i >= 0 {
				stored[at+i] ^= 1
				if err := os.WriteFile(name, stored, 0o600); err != nil {
					t.Fatal(err)
				}
				return
			}
			next := bytes.Index(stored[at+1:], []byte(session))
			if next < 0 {
				break
			}
			at += 1 + next
		}
	}
	t.Fatalf("%q of %s is in no block", text, session)
}

// json reads an answer of the gateway.
func (p *process) json(path string, into any) {
	p.t.Helper()
	res := p.request(p.t.Context(), http.MethodGet, path, nil)
	defer res.Body.Close()
	if err := json.NewDecoder(res.Body).Decode(into); err != nil {
		p.t.Fatalf("%s: %s: %v", path, res.Status, err)
	}
}
