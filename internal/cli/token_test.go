package cli

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// withToken sends a request with a bearer token.
func (s *server) withToken(token, method, path, body string) (int, string) {
	s.t.Helper()
	mine := *s
	mine.token = token
	return mine.do(method, path, body)
}

func TestTokensAreCreatedListedAndRevokedWhileTheGatewayRuns(t *testing.T) {
	t.Parallel()
	for name, db := range map[string]string{"SQLite": "", "PostgreSQL": postgres.Database(t)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data := filepath.Join(t.TempDir(), "data")
			on := []string{"--data", data}
			var start []string
			if db != "" {
				on, start = append(on, "--db", db), []string{"--db", db}
			}
			s := startServer(t, data, start...)
			tokenCommand := func(args ...string) result {
				return command(t, "", append(append([]string{"token"}, args...), on...)...)
			}
			created := tokenCommand("create", "ci", "--role", "viewer")
			created.want(t, exitOK, "This is the token of ci, with the role viewer. It is shown only now.\n")
			token := strings.TrimSuffix(created.out, "\n")
			if len(token) < 24 || strings.ContainsAny(token, " \n") {
				t.Fatalf("token create prints %q", created.out)
			}
			if status, body := s.withToken(token, "GET", "/api/sessions", ""); status != http.StatusOK {
				t.Errorf("the new token: %d %s", status, body)
			}
			if status, _ := s.withToken(token, "POST", "/api/chat", chat("s", "hello")); status != http.StatusForbidden {
				t.Errorf("a viewer prompts: %d", status)
			}
			tokenCommand("create", "ci").want(t, exitFailed, `there is a token "ci" already: revoke it first, or choose another name`)
			tokenCommand("create", "soon", "--expires", "720h").want(t, exitOK, "with the role collaborator")
			list := tokenCommand("list")
			list.want(t, exitOK, "")
			lines := strings.Split(strings.TrimSpace(list.out), "\n")
			if len(lines) != 3 || !strings.HasPrefix(lines[1], "ci ") || !strings.HasSuffix(lines[1], "never") || !strings.HasPrefix(lines[2], "soon") || strings.Contains(list.out, token) {
				t.Errorf("token list prints\n%s", list.out)
			}
			tokenCommand("revoke", "ci").want(t, exitOK, "")
			deadline := time.Now().Add(patience)
			for {
				status, _ := s.withToken(token, "GET", "/api/sessions", "")
				if status == http.StatusUnauthorized {
					break
				}
				if time.Now().After(deadline) {
					t.Fatalf("the revoked token still counts: %d", status)
				}
				time.Sleep(100 * time.Millisecond)
			}
			tokenCommand("revoke", "ci").want(t, exitFailed, "there is no token \"ci\": `tributary token list` shows the tokens")
		})
	}
}

func TestWhatIsWrongWithTheCommandsOfTokensIsOneSentence(t *testing.T) {
	t.Parallel()
	data, none := t.TempDir(), filepath.Join(t.TempDir(), "none")
	for _, c := range []struct {
		args   string
		status int
		want   string
	}{
		{"token create --data DATA", exitUsage, "the name is missing"},
		{"token create a --role root --data DATA", exitUsage, `--role: role "root" is unknown; use viewer, collaborator or admin`},
		{"token create a --role owner --data DATA", exitUsage, "is a role in a session"},
		{"token create a --expires tomorrow --data DATA", exitUsage, "--expires"},
		{"token create a --expires=-1h --data DATA", exitUsage, "--expires is -1h0m0s: write a time such as 720h"},
		{"token create " + strings.Repeat("x", 65) + " --data DATA", exitFailed, "cannot be used: write 1 to 64 characters"},
		{"token create a --data NONE", exitFailed, "there is no data directory"},
		{"token list --data NONE", exitFailed, "start the gateway once with `tributary serve`, or name its data directory with --data"},
		{"token list --db mysql://x --data DATA", exitUsage, "--db"},
		{"token revoke --data DATA", exitUsage, "the name is missing"},
		{"token revoke a --data DATA", exitFailed, `there is no token "a"`},
		{"token rename a --data DATA", exitUsage, "unexpected argument rename"},
		{"signins revoke --data DATA", exitUsage, "the id is missing"},
		{"signins revoke a --data DATA", exitFailed, `there is no sign-in "a": ` + "`tributary signins list` shows them"},
		{"signins list --data NONE", exitFailed, "there is no data directory"},
	} {
		args := strings.Fields(strings.NewReplacer("DATA", data, "NONE", none).Replace(c.args))
		r := command(t, "", args...)
		r.want(t, c.status, c.want)
		if strings.Count(r.errors, "\n") != 1 || r.out != "" {
			t.Errorf("%s: more than a sentence: %s%s", c.args, r.out, r.errors)
		}
	}
}

func TestATokenFileThatIsShortOrCutIsRefused(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	startServer(t, data).stop()
	whole := strings.TrimSpace(command(t, "", "token", "--data", data).out)
	for _, c := range []struct{ token, want string }{
		{whole[:36], "holds a token that was cut or changed; remove it and a new one is made"},
		{"a", "shorter than 24 characters; remove it and a new one is made"},
		{"", "is empty; remove it and a new one is made"},
	} {
		if err := writePrivate(filepath.Join(data, tokenFile), c.token); err != nil {
			t.Fatal(err)
		}
		command(t, "", "serve", "--listen", "127.0.0.1:0", "--cwd", t.TempDir(), "--data", data).want(t, exitUsage, c.want)
	}
}
