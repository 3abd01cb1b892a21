package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
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
	flip(t, data, `hurt.{1,90}\{"message":\{"id":"[^"]*","parts":\[\{"type":"text","text":"heron`)
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

// A database that is damaged, cut short or missing ends the start with one sentence that names the file
// and the ways out. What can be read is in the new database of `tributary recover`, and the old one stays.
//
//evidence:for promise-damage
func TestADamagedDatabaseIsRefused(t *testing.T) {
	t.Parallel()
	data, args := filled(t)
	whole, err := os.ReadFile(filepath.Join(data, "tributary.db"))
	if err != nil {
		t.Fatal(err)
	}
	const page = 4096
	of := bytes.Index(whole, []byte(`"text":"first words"`)) / page * page
	for name, c := range map[string]struct {
		damage         func([]byte) []byte
		start, recover string // what they say
	}{
		"a page of records": {func(b []byte) []byte { clear(b[of : of+page]); return b }, "is damaged: restore a back-up, or save what can be read with `tributary recover ", " records are lost"},
		"its end":           {func(b []byte) []byte { return b[:len(b)-2*page] }, "is damaged: restore a back-up", "cannot be read: "},
		"its head":          {func(b []byte) []byte { clear(b[:100]); return b }, "is damaged: restore a back-up", "nothing can be read of the database"},
		"all of it":         {func([]byte) []byte { return nil }, "is missing or empty, and this gateway has kept sessions in it: restore a back-up", "is no file that can be read"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			hurt := t.TempDir()
			if err := os.CopyFS(hurt, os.DirFS(data)); err != nil {
				t.Fatal(err)
			}
			path, saved := filepath.Join(hurt, "tributary.db"), filepath.Join(hurt, "saved.db")
			left := c.damage(bytes.Clone(whole))
			err := os.WriteFile(path, left, 0o600)
			if left == nil {
				err = os.Remove(path)
			}
			if err != nil {
				t.Fatal(err)
			}
			status, said := tributary(t, append([]string{"serve", "--listen", "127.0.0.1:0", "--data", hurt}, args...)...)
			if status != 1 || !strings.Contains(said, "tributary: the database "+path+" "+c.start) {
				t.Fatalf("the start ends with %d: %s", status, said)
			}
			if there, err := os.ReadFile(path); left != nil && (err != nil || !bytes.Equal(there, left)) {
				t.Errorf("the start that was refused has changed the database, or: %v", err)
			}
			status, said = tributary(t, "recover", path, saved)
			if !strings.Contains(said, c.recover) {
				t.Fatalf("recover ends with %d: %s", status, said)
			}
			if there, err := os.ReadFile(path); left != nil && (err != nil || !bytes.Equal(there, left)) {
				t.Errorf("recover has changed the database, or: %v", err)
			}
			if status != 0 {
				return
			}
			if again, said := tributary(t, "recover", path, saved); again != 1 || !strings.Contains(said, saved+" is there already") {
				t.Errorf("a second recover ends with %d: %s", again, said)
			}
			if err := os.Rename(saved, path); err != nil {
				t.Fatal(err)
			}
			p := start(t, hurt, os.Environ(), args...)
			var list struct{ Sessions []struct{ ID string } }
			if p.json("/api/sessions", &list); len(list.Sessions) != 2 {
				t.Errorf("%d sessions are listed", len(list.Sessions))
			}
			if status, said := tributary(t, "recover", path, saved); status != 1 || !strings.Contains(said, "is in use by process ") {
				t.Errorf("recover beside a gateway ends with %d: %s", status, said)
			}
			if s := p.chat("new", "on we go", nil); !s.done {
				t.Errorf("a turn in a new session: %q", s.text)
			}
			p.end()
		})
	}
}

// tributary runs the program to its end, and returns its status and what it prints.
func tributary(t *testing.T, args ...string) (status int, said string) {
	t.Helper()
	path, err := build()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), path, args...)
	out, err := cmd.CombinedOutput()
	if exit, is := errors.AsType[*exec.ExitError](err); err != nil && !is {
		t.Fatal(err)
	} else if is {
		status = exit.ExitCode()
	}
	return status, string(out)
}

// drill follows the commands below a heading of docs/deploy/backup.md.
func drill(t *testing.T, heading, data, backup string, p *process, again func() *process) *process {
	t.Helper()
	page, err := os.ReadFile("../../docs/deploy/backup.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n## "+heading+"\n")
	_, section, _ = strings.Cut(section, "\n    sudo systemctl stop")
	section, _, _ = strings.Cut("    sudo systemctl stop"+section, "\n\n")
	binary, err := build()
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(section) {
		n++
		switch command := strings.TrimSpace(line); command {
		case "sudo systemctl stop tributary":
			if p != nil {
				p.end()
			}
		case "sudo systemctl start tributary":
			p = again()
		default:
			command = strings.NewReplacer("sudo -u tributary tributary ", binary+" ", "sudo ", "", "chown tributary:", "chown $(id -un):", "DATA", data, "/backup/tributary-20260301T030000Z", backup).Replace(command)
			if out, err := exec.CommandContext(t.Context(), "sh", "-c", command).CombinedOutput(); err != nil {
				t.Fatalf("%s: %v\n%s", command, err, out)
			}
		}
	}
	if n < 5 {
		t.Fatalf("the section %q has %d commands", heading, n)
	}
	return p
}

// The page about back-ups is followed command by command: a gateway writes a back-up, its database is
// damaged, what can be read is saved; then the back-up is restored.
//
//evidence:for promise-damage
func TestTheRestoreDrill(t *testing.T) {
	t.Parallel()
	data, args := filled(t)
	dir := filepath.Join(t.TempDir(), "backups")
	config := filepath.Join(t.TempDir(), "tributary.yaml")
	if err := os.WriteFile(config, []byte("backup: {dir: "+dir+", every: 1h, keep: 2}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	again := func() *process { return start(t, data, os.Environ(), append([]string{"--config", config}, args...)...) }
	p := again()
	var ready struct {
		Backup struct{ Last string }
	}
	for end := time.Now().Add(time.Minute); ready.Backup.Last == "" && time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		p.json("/readyz", &ready)
	}
	copies, err := filepath.Glob(filepath.Join(dir, "tributary-*Z"))
	if err != nil || len(copies) != 1 {
		t.Fatalf("the back-ups are %v, %v; /readyz says %v", copies, err, ready)
	}
	for _, name := range []string{"tributary.db", "access.db"} {
		if info, err := os.Stat(filepath.Join(copies[0], name)); err != nil || info.Mode() != 0o600 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	if s := p.chat("late", "after the back-up", nil); !s.done {
		t.Fatal(s.text)
	}
	sessions := func(want int) {
		t.Helper()
		var list struct{ Sessions []struct{ ID string } }
		if p.json("/api/sessions", &list); len(list.Sessions) != want {
			t.Errorf("the list has %v", list.Sessions)
		}
		if s := p.chat("well", "and on", nil); !s.done {
			t.Errorf("a turn: %q", s.text)
		}
	}
	p.end()
	path := filepath.Join(data, "tributary.db")
	stored, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const page = 4096
	at := bytes.Index(stored, []byte(`"text":"first words"`)) / page * page
	clear(stored[at : at+page])
	if err := os.WriteFile(path, stored, 0o600); err != nil {
		t.Fatal(err)
	}
	p = drill(t, "Damage", data, copies[0], nil, again)
	sessions(3)
	p = drill(t, "Restore SQLite", data, copies[0], p, again)
	sessions(2)
	p.end()
}

// flip changes the last bit of all that a regular expression finds in the database: pages keep older copies of what they held.
func flip(t *testing.T, data, text string) {
	t.Helper()
	name := filepath.Join(data, "tributary.db")
	stored, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	all := regexp.MustCompile(`(?s)`+text).FindAllIndex(stored, -1)
	if all == nil {
		t.Fatalf("%s is not in the database", text)
	}
	for _, at := range all {
		stored[at[1]-1] ^= 1
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
