package e2e

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
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

// A record whose bytes changed on disk is not passed off as what was said: the
// history of its session says so, and the other sessions know nothing of it.
func TestARecordThatCannotBeRead(t *testing.T) {
	t.Parallel()
	data, args := filled(t)
	flip(t, data, `"session":"hurt"`, `"type":"prompt"`)
	p := start(t, data, os.Environ(), args...)
	res := p.request(t.Context(), http.MethodGet, "/api/sessions/hurt/messages", nil)
	said, err := io.ReadAll(res.Body)
	_ = res.Body.Close()
	if err != nil || res.StatusCode != http.StatusInternalServerError {
		t.Errorf("the history: %s %v %s", res.Status, err, said)
	}
	if well := p.history("well"); len(well) != 6 || !strings.Contains(well[3].text(), "heron and egret") {
		t.Errorf("the other session has %d messages", len(well))
	}
	if s := p.chat("well", "and on", nil); !s.done || !strings.Contains(s.text, "and on") {
		t.Errorf("a turn in the other session: %q", s.text)
	}
	var list struct{ Sessions []struct{ ID string } }
	p.json("/api/sessions", &list)
	if len(list.Sessions) != 2 {
		t.Errorf("the list has %d sessions", len(list.Sessions))
	}
	p.end()
}

// A database that is damaged, cut short or missing ends the start with a sentence.
// The gateway neither hangs nor begins without its sessions.
func TestADamagedDatabaseIsNotOpened(t *testing.T) {
	t.Parallel()
	data, args := filled(t)
	whole, err := os.ReadFile(filepath.Join(data, "tributary.db"))
	if err != nil {
		t.Fatal(err)
	}
	const page = 4096
	for name, c := range map[string]struct {
		says   string
		damage func([]byte) []byte
	}{
		"a page of zeros": {"is damaged: restore a back-up", func(b []byte) []byte { clear(b[5*page : 6*page]); return b }},
		"its head":        {"is damaged: restore a back-up", func(b []byte) []byte { clear(b[:100]); return b }},
		"half of it":      {"is damaged: restore a back-up", func(b []byte) []byte { return b[:len(b)/2/page*page] }},
		"all of it":       {"is missing in a data directory that had one", func([]byte) []byte { return nil }},
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
			program, err := build()
			if err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			out, err := exec.CommandContext(t.Context(), program, append([]string{"serve", "--listen", "127.0.0.1:0", "--data", hurt}, args...)...).CombinedOutput()
			if err == nil || !strings.Contains(string(out), c.says) || time.Since(began) > 20*time.Second {
				t.Errorf("%v after %s: %s", err, time.Since(began), out)
			}
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
