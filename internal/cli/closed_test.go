package cli

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/internal/testkit/scriptedmodel"
)

// A configuration in the workspace is the default place of it, and the files that it names
// stand beside it: a collaborator whose agent reads the workspace gets none of them.
//
//evidence:for promise-closed
func TestTheSecretsOfAConfigurationInTheWorkspaceAreClosed(t *testing.T) {
	t.Parallel()
	model := httptest.NewServer(scriptedmodel.New(scriptedmodel.Options{}))
	t.Cleanup(model.Close)
	dir := t.TempDir()
	put := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const admin = "an-admin-token-of-the-team-0123456789"
	put("ci-token", admin)
	put("jwt-secret", "a-secret-of-the-team-0123456789-0123456789")
	put("model-token", "a-key-of-the-team")
	put("off-token", "another-key-of-the-team")
	put("notes/plan.txt", "nothing of the-team, only a plan")
	put("tributary.yaml", fmt.Sprintf(`
auth:
  mode: jwt
  jwt: {secret_file: jwt-secret, default_role: collaborator}
  approver: collaborator
  tokens:
    - {name: ci, role: admin, token_file: ./ci-token}
    - {name: bob, role: collaborator, token_file: %s}
agents:
  model: {adapter: openai, url: %s/v1, model: m, token_file: model-token, policy: {rules: [{kinds: [read, search, edit], inside: true, then: allow}]}}
  off: {adapter: openai, enabled: false, url: %[2]s/v1, model: m, token_file: off-token}
default_agent: model
# the-team
`, file(t, "bob", "the-token-of-a-collaborator-0123456789"), model.URL))
	if err := os.Symlink("ci-token", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	s := startServer(t, filepath.Join(t.TempDir(), "data"), "--config", filepath.Join(dir, "tributary.yaml"), "--cwd", dir)
	turn := 0
	says := func(tool, input string) string {
		t.Helper()
		turn++
		status, stream := s.withToken("the-token-of-a-collaborator-0123456789", "POST", "/api/chat", chat(fmt.Sprint("s", turn), fmt.Sprintf("[[script:call %s %s]]", tool, input)))
		if status != http.StatusOK {
			t.Fatalf("%s %s: %d %s", tool, input, status, stream)
		}
		return stream
	}
	for _, path := range []string{"ci-token", "./notes/../ci-token", filepath.Join(dir, "ci-token"), "link", "jwt-secret", "model-token", "off-token", "tributary.yaml"} {
		for tool, input := range map[string]string{"read_file": `{"path":%q}`, "write_file": `{"path":%q,"content":"x"}`, "grep": `{"pattern":".","path":%q}`} {
			if stream := says(tool, fmt.Sprintf(input, path)); strings.Contains(stream, "of-the-team") || strings.Contains(stream, "tool-approval-request") || !strings.Contains(stream, "are closed to agents") {
				t.Errorf("%s %s is not denied:\n%s", tool, path, stream)
			}
		}
	}
	if stream := says("grep", `{"pattern":"the-team"}`); !strings.Contains(stream, "tool-approval-request") {
		t.Errorf("a search of the workspace is not asked:\n%s", stream)
	}
	if stream := says("grep", `{"pattern":"the-team","path":"notes"}`); !strings.Contains(stream, "only a plan") || strings.Contains(stream, "tool-approval-request") {
		t.Errorf("a search of another directory does not run unasked:\n%s", stream)
	}
	if stream := says("list_dir", `{"path":"."}`); strings.Contains(stream, "ci-token") || !strings.Contains(stream, "notes/") {
		t.Errorf("a list of the workspace shows\n%s", stream)
	}
	if status, list := s.withToken("the-token-of-a-collaborator-0123456789", "GET", "/api/sessions/s1/files?q=", ""); status != http.StatusOK || strings.Contains(list, "token") || strings.Contains(list, "yaml") || !strings.Contains(list, "plan.txt") {
		t.Errorf("the files of the workspace: %d %s", status, list)
	}
	s.stop()
	if log := s.errors.String(); !strings.Contains(log, "ci-token lies in its workspace") {
		t.Errorf("the log does not warn: %s", log)
	}
	r := command(t, "", "run", "--config", filepath.Join(dir, "tributary.yaml"), "--cwd", dir, `[[script:call read_file {"path":"ci-token"}]]`)
	if strings.Contains(r.out, "of-the-team") || !strings.Contains(r.out, "are closed to agents") {
		t.Errorf("one turn in the terminal reads the token: %s %s", r.out, r.errors)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "ci-token")); err != nil || string(text) != admin {
		t.Errorf("the token is now %q, %v", text, err)
	}
}
