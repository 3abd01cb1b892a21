package cli

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/tributary-dev/tributary/internal/cli/certs/certtest"
	"github.com/tributary-dev/tributary/internal/testkit/installed"
)

// publicHost is the host of the configurations on the page about TLS and proxies.
const publicHost = "agents.example.com"

// fromDocs is the code block of that language on the page, as it stands.
func fromDocs(t *testing.T, language string) string {
	t.Helper()
	page, err := os.ReadFile("../../docs/deploy/reverse-proxy-tls.md")
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)```" + language + "\n(.*?)```").FindSubmatch(page)
	if block == nil {
		t.Fatalf("the page has no block of %s", language)
	}
	return string(block[1])
}

// changed replaces parts of a text. Each part must occur.
func changed(t *testing.T, text string, pairs ...string) string {
	t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		if !strings.Contains(text, pairs[i]) {
			t.Fatalf("%q is not in\n%s", pairs[i], text)
		}
		text = strings.ReplaceAll(text, pairs[i], pairs[i+1])
	}
	return text
}

// proxy is a real reverse proxy with the documented configuration, but for ports and files.
type proxy struct {
	name    string
	command func(t *testing.T, dir, conf string) *exec.Cmd
	conf    func(t *testing.T, dir, gateway, at string) string
}

func proxies() []proxy {
	return []proxy{
		{"nginx", func(t *testing.T, dir, conf string) *exec.Cmd {
			t.Helper()
			return exec.CommandContext(context.WithoutCancel(t.Context()), "nginx", "-p", dir, "-c", conf)
		}, func(t *testing.T, dir, gateway, at string) string {
			t.Helper()
			site := changed(t, fromDocs(t, "nginx"), "listen 443 ssl", "listen "+at+" ssl", "127.0.0.1:8787", gateway,
				"/etc/ssl/agents/fullchain.pem", filepath.Join(dir, "cert.pem"), "/etc/ssl/agents/privkey.pem", filepath.Join(dir, "key.pem"))
			return "daemon off;\nmaster_process off;\npid nginx.pid;\nerror_log stderr warn;\nevents {}\nhttp {\naccess_log off;\n" +
				"client_body_temp_path body;\nproxy_temp_path proxy;\nfastcgi_temp_path fastcgi;\nuwsgi_temp_path uwsgi;\nscgi_temp_path scgi;\n" + site + "}\n"
		}},
		{"caddy", func(t *testing.T, dir, conf string) *exec.Cmd {
			t.Helper()
			cmd := exec.CommandContext(context.WithoutCancel(t.Context()), "caddy", "run", "--adapter", "caddyfile", "--config", conf)
			cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_DATA_HOME="+dir, "XDG_CONFIG_HOME="+dir)
			return cmd
		}, func(t *testing.T, dir, gateway, at string) string {
			t.Helper()
			_, port, _ := strings.Cut(at, ":")
			site := changed(t, fromDocs(t, "caddy"), publicHost+" {", fmt.Sprintf("https://%s:%s {\n    bind 127.0.0.1\n    tls %s %s", publicHost, port, filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")), "127.0.0.1:8787", gateway)
			return "{\n    admin off\n    auto_https disable_redirects\n    skip_install_trust\n}\n" + site
		}},
	}
}

// start starts the proxy and returns how to reach it by its public name.
func (p proxy) start(t *testing.T, gateway string) *http.Transport {
	t.Helper()
	dir, ca := t.TempDir(), certtest.New(t)
	cert, key := ca.Issue(t, inYear(), publicHost)
	for name, content := range map[string][]byte{"cert.pem": cert, "key.pem": key} {
		if err := writePrivate(filepath.Join(dir, name), string(content)); err != nil {
			t.Fatal(err)
		}
	}
	at := fmt.Sprintf("127.0.0.1:%d", freePort(t))
	conf := filepath.Join(dir, "proxy.conf")
	if err := writePrivate(conf, p.conf(t, dir, gateway, at)); err != nil {
		t.Fatal(err)
	}
	p.listens(t, dir, conf, at)
	transport := &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: ca.Pool()},
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "tcp", at)
		},
	}
	t.Cleanup(transport.CloseIdleConnections)
	return transport
}

// listens runs the proxy until the test ends, and waits until it listens.
func (p proxy) listens(t *testing.T, dir, conf, at string) {
	t.Helper()
	_, err := exec.LookPath(p.name)
	installed.Needed(t, err == nil, p.name+" is not installed: `apt-get install "+p.name+"` does it")
	said := &output{}
	cmd := p.command(t, dir, conf)
	cmd.Stdout, cmd.Stderr = said, said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	for deadline := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		c, err := net.Dial("tcp", at) //nolint:noctx // it is on loopback
		if err == nil {
			_ = c.Close()
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s does not listen: %v\n%s", p.name, err, said)
		}
	}
}

// Two people use the page behind a proxy that ends TLS: one prompts, the other approves.
func TestThePageWorksBehindProxiesThatEndTLS(t *testing.T) {
	t.Parallel()
	for _, p := range proxies() {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			data := filepath.Join(t.TempDir(), "data")
			port := freePort(t)
			conf := file(t, "tributary.yaml", fmt.Sprintf("listen: 127.0.0.1:%d\npublic_url: https://%s\ntrusted_proxies: [127.0.0.1]\nagents: {demo: {options: {pace: 30ms}}}\n", port, publicHost))
			s := startServer(t, data, "--config", conf, "--listen", fmt.Sprintf("127.0.0.1:%d", port))
			if s.url != "https://"+publicHost {
				t.Errorf("ready line %q", s.url)
			}
			transport := p.start(t, fmt.Sprintf("127.0.0.1:%d", port))
			created := command(t, "", "token", "create", "ada", "--data", data)
			created.want(t, exitOK, "only now")
			ada, root := newBrowser(t, "https://"+publicHost, transport), newBrowser(t, "https://"+publicHost, transport)
			if status, page := ada.ask("GET", "/", ""); status != 200 || !strings.Contains(page, "Tributary") {
				t.Errorf("the page: %d %s", status, page)
			}
			ada.open(strings.TrimSpace(created.out))
			root.open(s.token)
			for _, c := range ada.client.Jar.Cookies(mustParse(t, "https://"+publicHost)) {
				if !strings.HasPrefix(c.Name, "__Host-") {
					t.Errorf("the cookie %s", c.Name)
				}
			}
			if cookies := ada.client.Jar.Cookies(mustParse(t, "http://"+publicHost)); len(cookies) > 0 {
				t.Errorf("cookies without TLS: %v", cookies)
			}

			// A token as long as the gateway takes one comes through: the gateway refuses it, and not the proxy.
			long, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+publicHost+"/api/auth/me", nil)
			if err != nil {
				t.Fatal(err)
			}
			long.Header.Set("Authorization", "Bearer "+strings.Repeat("x", 16<<10))
			refused, err := transport.RoundTrip(long)
			if err != nil {
				t.Fatal(err)
			}
			_ = refused.Body.Close()
			if refused.StatusCode != http.StatusUnauthorized {
				t.Errorf("a token of 16 KB: %s", refused.Status)
			}

			// The first word comes long before the last.
			res := ada.send("POST", "/api/chat", chat("s1", "hello"))
			first := make([]byte, 1)
			if _, err := io.ReadFull(res.Body, first); err != nil {
				t.Fatal(err)
			}
			from := time.Now()
			rest, err := io.ReadAll(res.Body)
			_ = res.Body.Close()
			if err != nil || !strings.HasSuffix(string(rest), "data: [DONE]\n\n") || time.Since(from) < 100*time.Millisecond {
				t.Errorf("the stream comes at once, or not whole: %v after %s\n%s", err, time.Since(from), rest)
			}

			// Approval by the other person, and resume.
			_, stream := ada.ask("POST", "/api/chat", chat("s2", "approve"))
			request := regexp.MustCompile(`"approvalId":"([^"]+)"`).FindStringSubmatch(stream)
			if request == nil {
				t.Fatalf("nothing is asked: %s", stream)
			}
			answer := "/api/sessions/s2/permissions/" + request[1]
			if status, body := ada.ask("POST", answer, `{"approved":true}`); status != 403 {
				t.Errorf("a collaborator approves: %d %s", status, body)
			}
			if status, body := root.ask("POST", answer, `{"approved":true}`); status != 200 {
				t.Errorf("an admin approves: %d %s", status, body)
			}
			if status, stream := ada.ask("GET", "/api/chat/s2/stream", ""); status != 200 && status != 204 || status == 200 && !strings.Contains(stream, `allowed `) {
				t.Errorf("resume: %d %s", status, stream)
			}
			deadline := time.Now().Add(patience)
			for {
				_, history := ada.ask("GET", "/api/sessions/s2/messages", "")
				if strings.Contains(history, "I was allowed to run it: echo hello") {
					break
				}
				if time.Now().After(deadline) {
					t.Fatalf("the turn does not go on: %s", history)
				}
				time.Sleep(50 * time.Millisecond)
			}

			ada.socket(transport)

			// Forged headers do not reach the gateway, and other origins are refused.
			for name, value := range map[string]string{"X-Forwarded-Host": "evil.example", "X-Forwarded-Proto": "http", "Forwarded": "host=evil.example;proto=http", "X-Forwarded-For": "127.0.0.1"} {
				if status := ada.with(name, value); status != 200 {
					t.Errorf("with %s: %s the own page gets %d", name, value, status)
				}
			}
			if status := ada.with("Origin", "http://"+publicHost); status != 403 {
				t.Errorf("the page of the same name without TLS: %d", status)
			}
			if status := ada.with("Host", "evil.example"); status == 200 {
				t.Error("the gateway answers to another host")
			}
			if status, body := ada.ask("POST", "/auth/sign-out", ""); status != 204 {
				t.Errorf("sign out: %d %s", status, body)
			}
			if status, _ := ada.ask("GET", "/api/sessions", ""); status != 401 {
				t.Errorf("after signing out: %d", status)
			}
		})
	}
}

// with sends a request of the page with one more header.
func (b *browser) with(name, value string) int {
	b.t.Helper()
	req, err := http.NewRequestWithContext(b.t.Context(), http.MethodGet, b.base+"/api/sessions", nil)
	if err != nil {
		b.t.Fatal(err)
	}
	req.Header.Set("X-Tributary-Page", b.page)
	req.Header.Set("Sec-Fetch-Site", "same-origin")
	req.Header.Set(name, value)
	if name == "Host" {
		req.Host = value
	}
	res, err := b.client.Do(req)
	if err != nil {
		return 0
	}
	body, _ := io.ReadAll(res.Body)
	_ = res.Body.Close()
	if len(body) == 0 { // Caddy itself, for a host that it does not have
		return 0
	}
	return res.StatusCode
}

// socket opens a WebSocket as a page does: without a header of its own.
func (b *browser) socket(transport *http.Transport) {
	b.t.Helper()
	at := "wss://" + publicHost + "/api/sessions/s1/ws?role=client"
	for _, c := range []struct {
		secret, origin string
		opens          bool
	}{{b.page, b.base, true}, {"wrong", b.base, false}, {b.page, "https://evil.example", false}} {
		conn, res, err := websocket.Dial(b.t.Context(), at, &websocket.DialOptions{
			HTTPClient: &http.Client{Transport: transport, Jar: wsJar{b.client.Jar, b.base}}, HTTPHeader: http.Header{"Origin": {c.origin}},
			Subprotocols: []string{"agent-ops", "page." + c.secret},
		})
		if opened := err == nil; opened != c.opens {
			b.t.Errorf("a WebSocket of %s with the secret %.5s…: %v", c.origin, c.secret, err)
		}
		if err != nil {
			if res != nil && res.Body != nil {
				_ = res.Body.Close()
			}
			continue
		}
		if _, frame, err := conn.Read(b.t.Context()); err != nil || len(frame) == 0 {
			b.t.Errorf("the first frame: %q, %v", frame, err)
		}
		_ = conn.Close(websocket.StatusNormalClosure, "")
	}
}

// wsJar has the cookies of https for a WebSocket, as browsers do.
type wsJar struct {
	http.CookieJar

	base string
}

func (j wsJar) Cookies(u *url.URL) []*http.Cookie {
	mine := *u
	mine.Scheme = "https"
	return j.CookieJar.Cookies(&mine)
}
