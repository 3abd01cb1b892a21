package cli

import (
	"bytes"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/tributary-dev/tributary/access"
	"github.com/tributary-dev/tributary/policy/box"
)

// several is a configuration for more people than one.
const several = `
auth:
  mode: jwt
  jwt: {secret_env: TRIBUTARY_TEST_JWT_SECRET, default_role: collaborator}
agents: {demo: {}}
`

// words are what a file says that may be a token.
var words = regexp.MustCompile(`[A-Za-z0-9._~+/=-]{8,}`)

// Who reads all files of a gateway of several people, as an agent's command can, finds nothing
// with which one can sign in.
//
//evidence:for promise-hash
func TestTheDataOfAGatewayOfSeveralPeopleSignsNobodyIn(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	cmd := exec.CommandContext(t.Context(), os.Args[0], "serve", "--listen", "127.0.0.1:0", "--data", data, "--config", file(t, "t.yaml", several))
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), asProgram+"=1", "TRIBUTARY_TEST_JWT_SECRET=a-secret-of-the-team-0123456789-0123456789")
	var errs output
	cmd.Stderr = &errs
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
	})
	line := make([]byte, 200)
	n, err := out.Read(line)
	if err != nil {
		t.Fatalf("no ready line: %v\n%s", err, &errs)
	}
	s := &server{t: t, errors: &errs, base: strings.TrimSpace(string(line[:n]))}
	if strings.ContainsAny(s.base[len("http://"):], "?/") {
		t.Fatalf("the line on standard output is %q", s.base)
	}
	nobodySignsIn(t, s, data)
	reset := command(t, "", "token", "reset", "--data", data)
	reset.want(t, exitOK, "This is the new admin token.")
	admin := strings.TrimSpace(reset.out)
	created := command(t, "", "token", "create", "ci", "--data", data)
	created.want(t, exitOK, "It is shown only now.")
	b := newBrowser(t, s.base, nil)
	b.open(admin)
	if status, body := b.ask("POST", "/api/chat", chat("s1", "hello")); status != http.StatusOK {
		t.Fatalf("the admin: %d %s", status, body)
	}
	nobodySignsIn(t, s, data, admin, strings.TrimSpace(created.out), b.page)
	if status, _ := s.withToken(admin, "GET", "/auth/sign-ins", ""); status != http.StatusOK {
		t.Errorf("the admin's token: %d", status)
	}
}

// nobodySignsIn tries each word of the files of a data directory, and of the log, as a token.
func nobodySignsIn(t *testing.T, s *server, data string, secrets ...string) {
	t.Helper()
	tried := map[string]bool{}
	for _, text := range append(filesOf(t, data), []byte(s.errors.String())) {
		for _, secret := range secrets {
			if bytes.Contains(text, []byte(secret)) {
				t.Errorf("a file holds the secret %s", secret)
			}
		}
		for _, word := range words.FindAllString(string(text), -1) {
			if tried[word] || len(tried) > 5000 {
				continue
			}
			tried[word] = true
			if status, _ := s.withToken(word, "GET", "/auth/sign-ins", ""); status == http.StatusOK {
				t.Errorf("%q signs in", word)
			}
		}
	}
	if len(tried) < 20 {
		t.Errorf("only %d words were tried", len(tried))
	}
}

// filesOf are the contents of all files of a directory.
func filesOf(t *testing.T, dir string) (all [][]byte) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		all = append(all, text)
		return err
	})
	if err != nil || len(all) < 3 {
		t.Fatalf("%d files, %v", len(all), err)
	}
	return all
}

func TestANewAdminTokenReachesTheGatewayThatRuns(t *testing.T) {
	t.Parallel()
	for name, db := range map[string]string{"SQLite": "", "PostgreSQL": postgres.Database(t)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data := filepath.Join(t.TempDir(), "data")
			var on []string
			if db != "" {
				on = []string{"--db", db}
			}
			s := startServer(t, data, on...)
			first := s.token
			b := newBrowser(t, s.base, nil)
			b.open(first)
			reset := func() string {
				t.Helper()
				r := command(t, "", append([]string{"token", "reset", "--data", data}, on...)...)
				r.want(t, exitOK, "This is the new admin token.")
				return strings.TrimSpace(r.out)
			}
			status := func(token string) int {
				t.Helper()
				status, _ := s.withToken(token, "GET", "/api/sessions", "")
				return status
			}
			second := reset()
			if status(second) != http.StatusOK || status(first) != http.StatusUnauthorized {
				t.Errorf("the new token %d, the old one %d", status(second), status(first))
			}
			if got, _ := b.ask("GET", "/api/sessions", ""); got != http.StatusUnauthorized {
				t.Errorf("a sign-in of the old token: %d", got)
			}
			// One person finds their token in the file.
			show := command(t, "", "token", "--data", data)
			if show.want(t, exitOK, ""); show.out != second+"\n" {
				t.Errorf("token prints %q", show.out)
			}

			// A created token makes it a gateway of several people, at once.
			command(t, "", append([]string{"token", "create", "ci", "--data", data}, on...)...).want(t, exitOK, "Several people use the gateway now, so "+filepath.Join(data, tokenFile)+" keeps the hash of the admin token only.")
			command(t, "", "token", "--data", data).want(t, exitFailed, "`tributary token reset` prints a new one and ends the old one")
			if status(second) != http.StatusOK {
				t.Errorf("the token that is kept as a hash: %d", status(second))
			}
			command(t, "", "sessions", "list", "--url", s.base, "--data", data).want(t, exitUsage, "set TRIBUTARY_TOKEN to a token of yours")
			reset()
			command(t, "", "token", "--data", data).want(t, exitFailed, "keeps its hash only")
			s.stop()
			again := startServer(t, data, on...)
			if got, _ := again.withToken(second, "GET", "/api/sessions", ""); got != http.StatusUnauthorized {
				t.Errorf("the old token after a restart: %d", got)
			}
		})
	}
	command(t, "", "token", "reset", "--data", filepath.Join(t.TempDir(), "none")).want(t, exitFailed, "there is no data directory")
}

// An existing token stays valid when a gateway gets more users, and the log says what to do.
func TestAGatewayThatGetsMoreUsersForgetsTheTextOfItsToken(t *testing.T) {
	t.Setenv("TRIBUTARY_TEST_JWT_SECRET", "a-secret-of-the-team-0123456789-0123456789")
	data := t.TempDir()
	alone := startServer(t, data)
	token := alone.token
	alone.stop()
	if text, err := os.ReadFile(filepath.Join(data, tokenFile)); err != nil || string(text) != token+"\n" {
		t.Fatalf("for one person the file holds %q, %v", text, err)
	}
	config := file(t, "t.yaml", several)
	s := startServerAsIs(t, data, "--config", config)
	if text, err := os.ReadFile(filepath.Join(data, tokenFile)); err != nil || strings.Contains(string(text), token) || !strings.HasPrefix(string(text), "sha256:") {
		t.Errorf("the file holds %q, %v", text, err)
	}
	if status, _ := s.withToken(token, "GET", "/api/sessions", ""); status != http.StatusOK {
		t.Errorf("the existing token: %d", status)
	}
	t.Setenv(tokenVariable, token)
	command(t, "", "sessions", "list", "--url", s.base, "--data", data).want(t, exitOK, "")
	t.Setenv(tokenVariable, "wrong-wrong-wrong-wrong-wrong")
	command(t, "", "sessions", "list", "--url", s.base, "--data", data).want(t, exitFailed, "does not know the token in "+tokenVariable)
	command(t, "", "sessions", "list", "--config", file(t, "far.yaml", "listen: 192.0.2.1:80"), "--data", data).want(t, exitUsage, "name its file with --token-file")
	s.stop()
	if log := s.errors.String(); strings.Count(log, "the token stays valid, set TRIBUTARY_TOKEN to it") != 1 || strings.Contains(log, token) {
		t.Errorf("the log says %s", log)
	}
	if _, err := access.ReadTokenFile(filepath.Join(data, tokenFile)); err == nil {
		t.Error("the file has a token again")
	}
}

// The admin token can be switched off where others are admins. The one of an earlier start opens
// nothing then.
func TestAGatewayWithoutTheAdminToken(t *testing.T) {
	const roots = "the-token-of-an-admin-0123456789"
	t.Setenv("TRIBUTARY_TEST_TOKEN", roots)
	data := filepath.Join(t.TempDir(), "data")
	conf := func(auth string) string {
		return file(t, "t.yaml", "data: "+data+"\nagents: {demo: {}}\nauth: {admin_token: off, "+auth+"}\n")
	}
	startServer(t, data).stop()
	off := conf("tokens: [{name: root, role: admin, token_env: TRIBUTARY_TEST_TOKEN}]")
	s := startServer(t, data, "--config", off)
	if status, body := s.withToken(s.token, "GET", "/api/sessions", ""); status != http.StatusUnauthorized {
		t.Errorf("the admin token: %d %s", status, body)
	}
	if status, body := s.withToken(roots, "GET", "/api/workspaces", ""); status != http.StatusOK {
		t.Errorf("an admin with a token of their own: %d %s", status, body)
	}
	for _, args := range [][]string{{"token"}, {"token", "reset"}} {
		command(t, "", append(args, "--config", off)...).want(t, exitUsage, "auth.admin_token is off, so there is no admin token")
	}
	for auth, want := range map[string]string{
		"tokens: [{name: bob, role: collaborator, token_env: TRIBUTARY_TEST_TOKEN}]": "auth.admin_token is off, and nobody else can be admin",
		"mode: none": "auth.admin_token means nothing in mode none",
	} {
		for _, line := range []string{"serve", "config check"} {
			command(t, "", append(strings.Fields(line), "--config", conf(auth))...).want(t, exitUsage, want)
		}
	}
}

// Who approves the commands of an agent on this machine owns the gateway.
func TestAGatewayWarnsIfEveryCollaboratorApprovesCommands(t *testing.T) {
	t.Setenv("TRIBUTARY_TEST_TOKEN", "the-token-of-a-collaborator-0123456789")
	const warning, weaker = "every collaborator may approve its commands", "runs as the gateway's user, and several people use"
	for _, c := range []struct {
		approver, tokens, agents string
		warns, weakly            bool
	}{
		{"collaborator", "[{name: bob, role: collaborator, token_env: TRIBUTARY_TEST_TOKEN}]", "{claude: {}}", true, false},
		{"[admin, viewer]", "[{name: bob, role: collaborator, token_env: TRIBUTARY_TEST_TOKEN}]", "{claude: {}}", true, false},
		{"collaborator", "[{name: bob, role: collaborator, token_env: TRIBUTARY_TEST_TOKEN}]", "{m: {adapter: openai, url: 'http://127.0.0.1:1/v1', model: m}}", true, false},
		{"collaborator", "[{name: bob, role: collaborator, token_env: TRIBUTARY_TEST_TOKEN}]", "{demo: {}}", false, false},
		{"admin", "[{name: bob, role: collaborator, token_env: TRIBUTARY_TEST_TOKEN}]", "{far: {adapter: agui, url: 'http://127.0.0.1:1'}}", false, false},
		{"[admin, 'group:approvers']", "[{name: bob, role: collaborator, token_env: TRIBUTARY_TEST_TOKEN}]", "{claude: {box: {form: guard}}}", false, true},
		{"[admin, 'group:approvers']", "[{name: bob, role: collaborator, token_env: TRIBUTARY_TEST_TOKEN}]", "{codex: {}}", false, true},
		{"[admin, 'group:approvers']", "[{name: bob, role: collaborator, token_env: TRIBUTARY_TEST_TOKEN}]", "{claude: {box: {form: 'off'}}}", false, true},
		{"[admin, 'group:approvers']", "[{name: bob, role: collaborator, token_env: TRIBUTARY_TEST_TOKEN}]", "{claude: {}}", false, box.Available(box.Strict) != nil},
		{"collaborator", "[]", "{claude: {}}", false, false},
	} {
		dir := t.TempDir()
		config := filepath.Join(dir, "t.yaml")
		if err := os.WriteFile(config, []byte("cwd: "+t.TempDir()+"\ndata: "+t.TempDir()+"\nauth: {approver: "+c.approver+", tokens: "+c.tokens+"}\nagents: "+c.agents+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		r := command(t, "", "config", "check", "--config", config)
		if r.status != exitOK || strings.Contains(r.errors, warning) != c.warns || strings.Contains(r.errors, weaker) != c.weakly {
			t.Errorf("%+v: exit status %d\n%s", c, r.status, r.errors)
		}
	}
}
