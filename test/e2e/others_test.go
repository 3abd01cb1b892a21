package e2e

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	_ "github.com/tributary-dev/tributary/eventlog/sqllog" // the driver of the database
)

// asPerson sends a request in somebody's name.
func (p *process) asPerson(who, method, path string, body any) (status int, answer string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), 30*time.Second)
	defer cancel()
	raw, err := json.Marshal(body)
	if err != nil {
		p.t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(ctx, method, p.Base()+path, bytes.NewReader(raw))
	if err != nil {
		p.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+tokenOf(who))
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		p.t.Fatal(err)
	}
	defer res.Body.Close()
	all, err := io.ReadAll(res.Body)
	if err != nil {
		p.t.Error(err)
	}
	return res.StatusCode, string(all)
}

func tokenOf(who string) string { return "token-of-" + who + "-0123456789abcdef" }

// Private sessions stay private, whatever is damaged. The id of a damaged session is not
// given again. A session that is lost as a whole has nothing to show.
//
//evidence:for promise-damage
func TestDamageDoesNotShowAnotherUsersSession(t *testing.T) {
	t.Parallel()
	onSQLite(t)
	data, conf, dir := t.TempDir(), "auth:\n  sessions: private\n  tokens:\n", t.TempDir()
	for _, who := range []string{"ann", "bob"} {
		file := filepath.Join(dir, who)
		if err := os.WriteFile(file, []byte(tokenOf(who)), 0o600); err != nil {
			t.Fatal(err)
		}
		conf += fmt.Sprintf("    - {name: %s, role: collaborator, token_file: %q}\n", who, file)
	}
	config := filepath.Join(dir, "tributary.yaml")
	if err := os.WriteFile(config, []byte(conf), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"--config", config, "--agent", "echo", "--cwd", t.TempDir()}
	const anns, bobs = "anns", "bobs"
	p := start(t, data, os.Environ(), args...)
	for id, who := range map[string]string{anns: "ann", bobs: "bob"} {
		if status, text := p.asPerson(who, http.MethodPost, "/api/chat", prompt(id, "the secret of "+who)); status != http.StatusOK || !strings.Contains(text, "secret") {
			t.Fatal(status, text)
		}
	}
	p.end()
	for what, damage := range map[string]string{
		"the id of an entry":         "UPDATE sessions SET id = 'annt' WHERE id = 'anns'",
		"the creator":                "UPDATE sessions SET created_by = 'bob' WHERE id = 'anns'",
		"the document":               "UPDATE sessions SET doc = replace(doc, 'ann', 'bob') WHERE id = 'anns'",
		"an entry that became Bob's": "UPDATE sessions SET id = 'bobt' WHERE id = 'bobs'; UPDATE sessions SET id = 'bobs' WHERE id = 'anns'",
		"no entry":                   "DELETE FROM sessions WHERE id = 'anns'",
		"no entry and no place":      "DELETE FROM sessions WHERE id = 'anns'; DELETE FROM places WHERE session = 'anns'",
		"a member more":              "INSERT INTO members (session, person, role, sum) VALUES ('anns', 'bob', 'owner', 0)",
		"records that became Bob's":  "UPDATE records SET session = 'bobs', seq = seq + 100 WHERE session = 'anns'",
		"a place that became Bob's":  "UPDATE places SET session = 'bobt' WHERE session = 'bobs'; UPDATE places SET session = 'bobs' WHERE session = 'anns'",
		"the tables that say whose":  "DELETE FROM sessions; DELETE FROM places; DELETE FROM members",
	} {
		t.Run(what, func(t *testing.T) {
			hurt := t.TempDir()
			if err := os.CopyFS(hurt, os.DirFS(data)); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(hurt, "tributary.db")
			db, err := sql.Open("sqlite", path)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := db.ExecContext(t.Context(), damage); err != nil {
				t.Fatal(err)
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			p := start(t, hurt, os.Environ(), args...)
			for range 2 { // before and after Bob has tried to take Ann's session
				for _, id := range []string{anns, "annt", bobs} {
					for _, path := range []string{"", "/messages", "/trace?deltas=1"} {
						if _, text := p.asPerson("bob", http.MethodGet, "/api/sessions/"+id+path, nil); strings.Contains(text, "secret of ann") {
							t.Errorf("GET %s%s: %s", id, path, text)
						}
					}
				}
				if _, text := p.asPerson("bob", http.MethodGet, "/api/sessions", nil); strings.Contains(text, "secret of ann") {
					t.Errorf("Bob's list: %s", text)
				}
				if status, text := p.asPerson("bob", http.MethodPost, "/api/chat", prompt(anns, "give me that")); strings.Contains(text, "secret of ann") || status == http.StatusOK {
					t.Errorf("a prompt of Bob in Ann's session: %d %s", status, text)
				}
				if status, text := p.asPerson("bob", http.MethodPost, "/api/sessions", map[string]string{"id": anns}); status == http.StatusCreated {
					t.Errorf("Bob has made a session with Ann's id: %s", text)
				}
			}
			p.end()
		})
	}
}
