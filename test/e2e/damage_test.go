package e2e

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// filled is a data directory with two sessions, of a gateway that has ended.
func filled(t *testing.T) (data string, args []string) {
	t.Helper()
	onSQLite(t)
	data, args = t.TempDir(), []string{"--agent", "echo", "--cwd", t.TempDir()}
	p := start(t, data, os.Environ(), args...)
	for _, said := range []string{"first words", "heron and egret", "last words"} {
		p.chat("hurt", said, nil)
		p.chat("well", said, nil)
	}
	p.end()
	return data, args
}

// A record whose bytes changed on disk is not passed off as it is: the history of its
// session says so, and the other sessions know nothing of it.
//
//evidence:for promise-damage
func TestARecordThatCannotBeRead(t *testing.T) {
	t.Parallel()
	data, args := filled(t)
	flip(t, data, `"session":"hurt"`, `heron`)
	p := start(t, data, os.Environ(), args...)
	hurt := p.history("hurt")
	if len(hurt) == 0 || hurt[0].Role != "system" || !strings.Contains(hurt[0].text(), "Some of this conversation is lost: record ") {
		t.Errorf("the history begins with %+v", hurt)
	}
	if well := p.history("well"); len(well) != 6 || !strings.Contains(well[3].text(), "heron and egret") {
		t.Errorf("the other session has %d messages", len(well))
	}
	for _, id := range []string{"well", "hurt"} {
		if s := p.chat(id, "and on", nil); !s.done || !strings.Contains(s.text, "and on") {
			t.Errorf("a turn in %s: %q", id, s.text)
		}
	}
	var list struct {
		Sessions []struct{ ID, Damaged string }
	}
	p.json("/api/sessions", &list)
	for _, s := range list.Sessions {
		if (s.ID == "hurt") != (s.Damaged != "") {
			t.Errorf("the list says of %s: %q", s.ID, s.Damaged)
		}
	}
	var ready struct {
		Sessions int `json:"damaged_sessions"`
	}
	if p.json("/readyz", &ready); len(list.Sessions) != 2 || ready.Sessions != 1 {
		t.Errorf("the list has %d sessions, and %d are said to be damaged", len(list.Sessions), ready.Sessions)
	}
	p.end()
}

// A database that is damaged, cut short or missing ends no start: what can be read is there, the
// damaged file stays, and the log and /readyz say so.
//
//evidence:for promise-damage
func TestADamagedDatabaseIsSalvaged(t *testing.T) {
	t.Parallel()
	data, args := filled(t)
	whole, err := os.ReadFile(filepath.Join(data, "tributary.db"))
	if err != nil {
		t.Fatal(err)
	}
	const page = 4096
	for name, c := range map[string]struct {
		sessions int
		damage   func([]byte) []byte
	}{
		"a page of zeros": {2, func(b []byte) []byte { clear(b[4*page : 5*page]); return b }},
		"its head":        {2, func(b []byte) []byte { clear(b[:100]); return b }},
		"half of it":      {2, func(b []byte) []byte { return b[:len(b)/2/page*page] }},
		"all of it":       {0, func([]byte) []byte { return nil }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			hurt := t.TempDir()
			if err := os.CopyFS(hurt, os.DirFS(data)); err != nil {
				t.Fatal(err)
			}
			var err error
			path := filepath.Join(hurt, "tributary.db")
			if left := c.damage(bytes.Clone(whole)); left == nil {
				err = os.Remove(path)
			} else {
				err = os.WriteFile(path, left, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
			p := start(t, hurt, os.Environ(), args...)
			var ready struct {
				Files int `json:"damaged_files"`
			}
			var list struct{ Sessions []struct{ ID string } }
			for began := time.Now(); len(list.Sessions) != c.sessions && time.Since(began) < 10*time.Second; time.Sleep(50 * time.Millisecond) {
				p.json("/api/sessions", &list)
			}
			if p.json("/readyz", &ready); ready.Files != 1 || len(list.Sessions) != c.sessions {
				t.Errorf("%d sessions are listed, and %d files are said to be damaged", len(list.Sessions), ready.Files)
			}
			if s := p.chat("new", "on we go", nil); !s.done {
				t.Errorf("a turn in a new session: %q", s.text)
			}
			p.end()
		})
	}
}

// flip changes a bit of a text in the record that holds both texts.
func flip(t *testing.T, data, session, text string) {
	t.Helper()
	name := filepath.Join(data, "tributary.db")
	stored, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for rest := stored; ; {
		at := bytes.Index(rest, []byte(session))
		if at < 0 {
			t.Fatalf("%q of %s is not in the database", text, session)
		}
		rest = rest[at:]
		if i := bytes.Index(rest[:min(len(rest), 300)], []byte(text)); i >= 0 {
			rest[i] ^= 1
			break
		}
		rest = rest[1:]
	}
	if err := os.WriteFile(name, stored, 0o600); err != nil {
		t.Fatal(err)
	}
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
