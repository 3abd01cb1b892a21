package gateway_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/eventlog/memlog"
	"github.com/tributary-dev/tributary/gateway"
	"github.com/tributary-dev/tributary/session"
)

func TestFilesOfTheWorkspaceAreFoundByTheirNames(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for _, name := range []string{"main.go", "main_test.go", "readme.md", "secret"} {
		if err := os.WriteFile(filepath.Join(root, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(root, ".gitignore"), []byte("secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := newStandOn(t, memlog.New(), func(o *session.Options) {
		a := o.Agents["demo"]
		a.Cwd, a.Files = root, true
		o.Agents["demo"] = a
		a.Files = false
		o.Agents["elsewhere"] = a
	}, func(o *gateway.Options) { o.Private = true })
	ada := as("ada", "collaborator")
	s.do("POST", "/api/sessions", `{"id":"s"}`, ada...)
	s.do("POST", "/api/sessions", `{"id":"t","agent":"elsewhere"}`, ada...)
	s.do("PUT", "/api/sessions/s/members/vera", `{"role":"viewer"}`, ada...)
	for path, want := range map[string]string{
		"/api/sessions/s/files?q=MAIN":    `{"files":["main.go","main_test.go"],"more":false}`,
		"/api/sessions/s/files?limit=1":   `{"files":[".gitignore"],"more":true}`,
		"/api/sessions/s/files?q=secret":  `{"files":[],"more":false}`,
		"/api/sessions/s/files?q=../main": `{"files":[],"more":false}`,
		"/api/sessions/s/files?limit=0":   "`limit` must be a whole number from 1 to 200.",
		"/api/sessions/t/files":           `"code":"not_offered"`,
		"/api/sessions/s/controls":        `"files":true`,
		"/api/sessions/t/controls":        `"files":false`,
	} {
		if _, _, body := s.do("GET", path, "", ada...); !strings.Contains(body, want) {
			t.Errorf("%s: %s, want %s", path, body, want)
		}
	}
	s.all([]asked{
		{"vera", "collaborator", "GET", "/api/sessions/s/files", "", 403},
		{"bob", "collaborator", "GET", "/api/sessions/s/files", "", 404},
		{"root", "admin", "GET", "/api/sessions/s/files", "", 200},
	})
}
