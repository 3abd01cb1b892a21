package cli

import (
	"crypto/tls"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/internal/cli/certs/certtest"
)

func writePrivate(path, content string) error { return os.WriteFile(path, []byte(content), 0o600) }

// pair writes a certificate and its key into a directory.
func pair(t *testing.T, dir string, ca *certtest.Authority, end time.Time) {
	t.Helper()
	cert, key := ca.Issue(t, end, "127.0.0.1", "localhost")
	if err := writePrivate(filepath.Join(dir, "cert.pem"), string(cert)); err != nil {
		t.Fatal(err)
	}
	if err := writePrivate(filepath.Join(dir, "key.pem"), string(key)); err != nil {
		t.Fatal(err)
	}
}

func inYear() time.Time { return time.Now().Add(365 * 24 * time.Hour) }

func TestServeOverTLS(t *testing.T) {
	t.Parallel()
	ca, dir := certtest.New(t), t.TempDir()
	pair(t, dir, ca, inYear())
	conf := filepath.Join(dir, "tributary.yaml")
	if err := writePrivate(conf, "tls: {cert: cert.pem, key: key.pem, hsts: 24h}\n"); err != nil {
		t.Fatal(err)
	}
	s := startServer(t, t.TempDir(), "--config", conf)
	if !strings.HasPrefix(s.url, "https://127.0.0.1:") {
		t.Fatalf("ready line %q", s.url)
	}
	s.base = s.url
	for _, protocol := range []string{"HTTP/1.1", "HTTP/2.0"} {
		transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: ca.Pool()}, ForceAttemptHTTP2: protocol == "HTTP/2.0"}
		t.Cleanup(transport.CloseIdleConnections)
		page := newBrowser(t, s.base, transport)
		page.open(s.token)
		for _, cookie := range page.client.Jar.Cookies(mustParse(t, s.base)) {
			if !strings.HasPrefix(cookie.Name, "__Host-tributary_page_") {
				t.Errorf("%s: the cookie %s", protocol, cookie.Name)
			}
		}
		id := strings.ToLower(protocol[5:6])
		res := page.send("POST", "/api/chat", chat("s"+id, "hello"))
		_ = res.Body.Close()
		if res.Proto != protocol || res.Header.Get("Strict-Transport-Security") != "max-age=86400" {
			t.Errorf("%s: answered by %s with HSTS %q", protocol, res.Proto, res.Header.Get("Strict-Transport-Security"))
		}
		if status, stream := page.ask("POST", "/api/chat", chat("t"+id, "hello")); status != 200 || !strings.HasSuffix(stream, "data: [DONE]\n\n") {
			t.Errorf("%s: chat: %d %s", protocol, status, stream)
		}
	}
	if _, err := tls.Dial("tcp", strings.TrimPrefix(s.base, "https://"), &tls.Config{RootCAs: ca.Pool(), MaxVersion: tls.VersionTLS11}); err == nil { //nolint:gosec,noctx // an old version is what is tried
		t.Error("TLS 1.1 is taken")
	}

	// New files count without a restart.
	before := serialOf(t, s.base, ca)
	pair(t, dir, ca, inYear())
	deadline := time.Now().Add(patience)
	for serialOf(t, s.base, ca) == before {
		if time.Now().After(deadline) {
			t.Fatalf("the old certificate stays: %s", s.errors)
		}
		time.Sleep(200 * time.Millisecond)
	}
}

func serialOf(t *testing.T, base string, ca *certtest.Authority) string {
	t.Helper()
	c, err := tls.Dial("tcp", strings.TrimPrefix(base, "https://"), &tls.Config{RootCAs: ca.Pool()}) //nolint:noctx // it is on loopback
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	return c.ConnectionState().PeerCertificates[0].SerialNumber.String()
}

func TestWhatIsWrongWithTheFrontIsOneSentence(t *testing.T) {
	t.Parallel()
	ca, dir := certtest.New(t), t.TempDir()
	pair(t, dir, ca, inYear())
	_, other := ca.Issue(t, inYear(), "localhost")
	if err := writePrivate(filepath.Join(dir, "other.pem"), string(other)); err != nil {
		t.Fatal(err)
	}
	const oidc = "public_url: http://127.0.0.1:1\nauth: {oidc: {issuer: 'https://id.example', client_id: a, default_role: viewer, %s}}"
	for _, c := range []struct{ conf, want string }{
		{"tls: {cert: none.pem, key: key.pem}", "none.pem, does not exist: correct tls.cert"},
		{"tls: {cert: cert.pem, key: other.pem}", "is not the key of the certificate"},
		{fmt.Sprintf(oidc, "client_secret_env: TRIBUTARY_TEST_UNSET_SECRET"), "names TRIBUTARY_TEST_UNSET_SECRET, which is not set"},
		{fmt.Sprintf(oidc, "client_secret_file: none"), "auth.oidc.client_secret_file names " + filepath.Join(dir, "none") + ", which cannot be read: no such file or directory"},
		{strings.Replace(fmt.Sprintf(oidc, "user_info: true"), "https://id.example", "id.example", 1), "is no URL; write https://host or https://host/path"},
		{strings.Replace(fmt.Sprintf(oidc, "user_info: true"), "https://id.example", "http://id.example", 1), "is not safe; use https, or http on this machine"},
		{strings.Replace(fmt.Sprintf(oidc, "user_info: true"), "http://127.0.0.1:1", "http://agents.example", 1), "oidc needs https, and public_url is http://agents.example"},
		{strings.Replace(fmt.Sprintf(oidc, "user_info: true"), "auth: {", "auth: {mode: none, ", 1), "access mode none signs nobody in"},
		{"public_url: https://agents.example\nauth: {mode: none}", "so that it must not be public"},
		{"trusted_proxies: [127.0.0.1]\nauth: {mode: none}", "so that no proxy may pass requests on"},
	} {
		conf := filepath.Join(dir, "t.yaml")
		if err := writePrivate(conf, c.conf); err != nil {
			t.Fatal(err)
		}
		r := command(t, "", "serve", "--listen", "127.0.0.1:0", "--cwd", t.TempDir(), "--data", t.TempDir(), "--config", conf)
		if r.status == exitOK || !strings.Contains(r.errors, c.want) || strings.Count(r.errors, "\n") != 1 || r.out != "" {
			t.Errorf("%s:\n%d %s%s", c.conf, r.status, r.out, r.errors)
		}
	}
}

func TestPeopleWhoAreAllViewersOfPrivateSessionsAreAWarning(t *testing.T) {
	t.Parallel()
	const oidc = "public_url: https://agents.example\nagents: {demo: {}}\nauth: {%s oidc: {issuer: 'https://id.example', client_id: a, %s}}"
	const jwt = "agents: {demo: {}}\nauth: {%s mode: jwt, jwt: {issuer: 'https://id.example', audience: [a], %s}}"
	for conf, warns := range map[string]bool{
		fmt.Sprintf(oidc, "", "default_role: viewer"):                    true,
		fmt.Sprintf(oidc, "", "default_role: collaborator"):              false,
		fmt.Sprintf(oidc, "", "default_role: viewer, role_claim: roles"): false,
		fmt.Sprintf(oidc, "sessions: shared,", "default_role: viewer"):   false,
		fmt.Sprintf(jwt, "", "leeway: 30s"):                              true,
		fmt.Sprintf(jwt, "", "default_role: collaborator"):               false,
		fmt.Sprintf(jwt, "sessions: shared,", "leeway: 30s"):             false,
	} {
		r := command(t, "", "config", "check", "--config", file(t, "tributary.yaml", conf))
		if said := strings.Contains(r.errors, "a viewer can make no session: set default_role to collaborator"); said != warns || r.status != exitOK {
			t.Errorf("%s:\n%d %s", conf, r.status, r.errors)
		}
	}
}

func TestWithPrivateSessionsAViewerCannotPrompt(t *testing.T) {
	t.Parallel()
	token := strings.Repeat("v", 24)
	conf := "agents: {demo: {}}\nauth: {sessions: private, tokens: [{name: vera, role: viewer, token_file: " + file(t, "vera", token) + "}]}"
	s := startServer(t, t.TempDir(), "--config", file(t, "tributary.yaml", conf))
	if status, body := s.withToken(token, "POST", "/api/chat", chat("s", "hello")); status != http.StatusForbidden || body != "Your role is viewer; this needs collaborator." {
		t.Errorf("%d %q", status, body)
	}
}

func TestClearTextBeyondThisMachineIsAWarning(t *testing.T) {
	t.Parallel()
	ca, dir := certtest.New(t), t.TempDir()
	pair(t, dir, ca, inYear())
	for _, c := range []struct {
		listen, conf string
		warns        bool
	}{
		{"0.0.0.0:0", "{}", true},
		{"127.0.0.1:0", "{}", false},
		{"0.0.0.0:0", "public_url: https://agents.example", false},
		{"0.0.0.0:0", "public_url: http://agents.example", true},
		{"0.0.0.0:0", "tls: {cert: cert.pem, key: key.pem}", false},
	} {
		conf := filepath.Join(dir, "t.yaml")
		if err := writePrivate(conf, c.conf); err != nil {
			t.Fatal(err)
		}
		s := startServer(t, t.TempDir(), "--config", conf, "--listen", c.listen)
		s.stop()
		if got := strings.Contains(s.errors.String(), "in clear text"); got != c.warns {
			t.Errorf("%s %s: warns %v: %s", c.listen, c.conf, got, s.errors)
		}
	}
}

func mustParse(t *testing.T, s string) *url.URL {
	t.Helper()
	u, err := url.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return u
}
