package access

import (
	"crypto/sha256"
	"crypto/tls"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
)

const (
	viewToken = "view-01234567890123456789"
	workToken = "work-01234567890123456789"
)

// newGuard makes a guard in token mode with a minted admin token and two named
// ones, changed by edit.
func newGuard(t *testing.T, edit func(*Config)) *Guard {
	t.Helper()
	c := Config{
		Listen:    "127.0.0.1:8787",
		TokenFile: filepath.Join(t.TempDir(), "token"),
		Tokens: []Token{
			{Name: "wall", Token: viewToken, Role: Viewer},
			{Name: "ci", Token: workToken, Role: Collaborator},
		},
		Public: func(r *http.Request) bool { return r.URL.Path == "/healthz" || r.URL.Path == "/app.js" },
	}
	if edit != nil {
		edit(&c)
	}
	g, err := New(c)
	if err != nil {
		t.Fatalf("New: %v", err)
	}
	return g
}

func noneMode(c *Config) { c.Mode, c.Tokens = ModeNone, nil }

// reached answers 200 with who came through.
var reached = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
	p, ok := From(r.Context())
	if !ok {
		p.ID = "nobody"
	}
	_, _ = w.Write([]byte(p.ID + " " + p.Role.String()))
})

// ask sends "METHOD target" with "Name: value" headers; Host is a header here.
func ask(g *Guard, line string, headers ...string) *httptest.ResponseRecorder {
	method, target, _ := strings.Cut(line, " ")
	r := httptest.NewRequest(method, target, nil)
	r.Host, r.RemoteAddr = "127.0.0.1:8787", "127.0.0.1:40000"
	for h := range strings.SplitSeq(strings.Join(headers, "\n"), "\n") {
		name, value, _ := strings.Cut(h, ": ")
		switch name {
		case "":
		case "From":
			r.RemoteAddr = value
		case "Host":
			r.Host = value
		case "TLS":
			r.TLS = &tls.ConnectionState{}
		default:
			r.Header.Add(name, value)
		}
	}
	w := httptest.NewRecorder()
	g.Wrap(reached).ServeHTTP(w, r)
	return w
}

// signedIn opens the URL with a token, and returns the headers that the page then sends.
func signedIn(t *testing.T, g *Guard, token string, headers ...string) string {
	t.Helper()
	w := ask(g, "GET /?token="+token, headers...)
	cookie, err := http.ParseSetCookie(w.Header().Get("Set-Cookie"))
	if err != nil {
		t.Fatalf("%v: %d %s", err, w.Code, w.Body)
	}
	_, page, _ := strings.Cut(w.Header().Get("Location"), "#page=")
	return "Cookie: " + cookie.Name + "=" + cookie.Value + "\n" + pageHeader + ": " + page
}

type guardCase struct {
	name    string
	line    string
	headers []string
	want    string // the body of reached, or the code of a refusal
}

func runGuardCases(t *testing.T, g *Guard, cases []guardCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			line := c.line
			if line == "" {
				line = "GET /api/sessions"
			}
			w := ask(g, line, c.headers...)
			body := w.Body.String()
			if w.Code == http.StatusOK {
				if body != c.want {
					t.Fatalf("let through as %q, want %q", body, c.want)
				}
				return
			}
			if !strings.Contains(body, `"code":"`+c.want+`"`) {
				t.Fatalf("got %d %s, want %q", w.Code, body, c.want)
			}
			wantStatus := http.StatusForbidden
			if strings.HasPrefix(c.want, "token_") || strings.HasPrefix(c.want, "page_") || c.want == "sign_in_over" {
				wantStatus = http.StatusUnauthorized
			}
			if w.Code != wantStatus {
				t.Errorf("status %d, want %d", w.Code, wantStatus)
			}
			if got := w.Header().Get("Cache-Control"); got != "no-store" {
				t.Errorf("a refusal has Cache-Control %q", got)
			}
			if c.want == "origin_not_allowed" || c.want == "host_not_allowed" {
				if got := w.Header().Get("Access-Control-Allow-Origin"); got != "" {
					t.Errorf("a foreign page may read the refusal: Allow-Origin %q", got)
				}
			}
		})
	}
}

// A client that is turned away reads the reason, on a page of any origin and without a token.
func TestTurnAway(t *testing.T) {
	t.Parallel()
	g := newGuard(t, func(c *Config) {
		c.TurnAway = func(w http.ResponseWriter, r *http.Request) bool {
			if r.Header.Get("X-Test-Full") == "" {
				return false
			}
			RefuseJSON(w, r, http.StatusServiceUnavailable, "full", "It is full.")
			return true
		}
	})
	const page, full = "Origin: http://localhost:3000", "X-Test-Full: yes"
	for _, c := range []struct {
		name, line string
		headers    []string
		status     int
		shared     bool
	}{
		{"no token", "POST /api/chat", []string{full}, 503, false},
		{"a page's, no token", "POST /api/chat", []string{full, page}, 503, true},
		{"a page's, with a token", "GET /api/sessions", []string{full, page, "Authorization: Bearer " + viewToken}, 503, true},
		{"a public path", "GET /healthz", []string{full}, 503, false},
		{"the exchange", "GET /?token=" + g.minted, []string{full}, 503, false},
		{"a preflight", "OPTIONS /api/chat", []string{full, page, "Access-Control-Request-Method: POST"}, 204, true},
		{"another host", "GET /healthz", []string{full, "Host: elsewhere.example"}, 403, false},
		{"another origin", "POST /api/chat", []string{full, "Origin: https://elsewhere.example"}, 403, false},
		{"another site", "POST /api/chat", []string{full, "Sec-Fetch-Site: cross-site"}, 403, false},
		{"not turned away", "GET /healthz", []string{page}, 200, true},
	} {
		w := ask(g, c.line, c.headers...)
		if shared := w.Header().Get("Access-Control-Allow-Origin") != ""; w.Code != c.status || shared != c.shared {
			t.Errorf("%s: %d, shared %v: %s", c.name, w.Code, shared, w.Body)
		}
	}
}

// A wrong token whose hash begins like that of a good one is wrong.
func TestATokenWhoseHashBeginsLikeAGoodOneIsWrong(t *testing.T) {
	t.Parallel()
	g, good := newGuard(t, nil), sha256.Sum256([]byte(viewToken))
	for i, found := 0, 0; found < 3; i++ {
		wrong := fmt.Sprintf("wrong-%020d", i)
		if hash := sha256.Sum256([]byte(wrong)); hash[0] != good[0] {
			continue
		}
		found++
		runGuardCases(t, g, []guardCase{{wrong, "", []string{"Authorization: Bearer " + wrong}, "token_wrong"}})
	}
}

func TestTokens(t *testing.T) {
	t.Parallel()
	g := newGuard(t, nil)
	bearer := "Authorization: Bearer " + g.minted
	cookie := signedIn(t, g, g.minted)
	alone, page, _ := strings.Cut(cookie, "\n")
	_, value, _ := strings.Cut(alone, "=")
	_, secret, _ := strings.Cut(page, ": ")
	_, other, _ := strings.Cut(signedIn(t, g, viewToken), "\n")
	const ours = "Sec-Fetch-Site: same-origin"
	runGuardCases(t, g, []guardCase{
		{"none", "", nil, "token_missing"},
		{"minted", "", []string{bearer}, "operator admin"},
		{"used again", "POST /api/chat", []string{bearer}, "operator admin"},
		{"named viewer", "", []string{"Authorization: Bearer " + viewToken}, "wall viewer"},
		{"named collaborator", "", []string{"Authorization: Bearer " + workToken}, "ci collaborator"},
		{"scheme in lower case", "", []string{"authorization: bearer " + g.minted}, "operator admin"},
		{"scheme in upper case", "", []string{"AUTHORIZATION: BEARER " + g.minted}, "operator admin"},
		{"token in other case", "", []string{"Authorization: Bearer " + strings.ToUpper(viewToken)}, "token_wrong"},
		{"prefix of the token", "", []string{"Authorization: Bearer " + g.minted[:40]}, "token_wrong"},
		{"token and more", "", []string{bearer + "x"}, "token_wrong"},
		{"empty", "", []string{"Authorization: Bearer "}, "token_wrong"},
		{"scheme only", "", []string{"Authorization: Bearer"}, "token_wrong"},
		{"two headers", "", []string{bearer, bearer}, "token_wrong"},
		{"basic is no token", "", []string{"Authorization: Basic b3duZXI6b3duZXI="}, "token_missing"},
		{"basic of a proxy beside our cookie", "", []string{"Authorization: Basic eDp5", cookie, ours}, "operator admin"},
		{"wrong bearer beside a good cookie", "", []string{"Authorization: Bearer x", cookie, ours}, "token_wrong"},
		{"the cookie's value as bearer", "", []string{"Authorization: Bearer " + value}, "token_wrong"},
		{"the page's secret as bearer", "", []string{"Authorization: Bearer " + secret}, "token_wrong"},
		{"the token as cookie", "", []string{"Cookie: " + g.cookie + "=" + g.minted, ours}, "sign_in_over"},
		{"the cookie alone", "", []string{alone, ours}, "page_secret_missing"},
		{"the cookie alone, to write", "POST /api/chat", []string{alone, "Origin: http://127.0.0.1:8787"}, "page_secret_missing"},
		{"the page's secret alone", "", []string{page, ours}, "token_missing"},
		{"the cookie with another page's secret", "", []string{alone, other, ours}, "page_secret_wrong"},
		{"the cookie with two secrets", "", []string{cookie, page, ours}, "page_secret_wrong"},
		{"cookie", "", []string{cookie, ours}, "operator admin"},
		{"cookie, typed by hand", "", []string{cookie, "Sec-Fetch-Site: none"}, "operator admin"},
		{"cookie, own origin", "POST /api/chat", []string{cookie, "Origin: http://127.0.0.1:8787"}, "operator admin"},
		{"cookie of a named token", "", []string{signedIn(t, g, viewToken), ours}, "wall viewer"},
		{"cookie tampered", "", []string{alone + "A", page, ours}, "sign_in_over"},
		{"cookie cut", "", []string{alone[:len(alone)-1], page, ours}, "sign_in_over"},
		{"cookie empty", "", []string{"Cookie: " + g.cookie + "=", ours}, "sign_in_over"},
		{"cookie of another name", "", []string{"Cookie: Tributary_Page=" + value, ours}, "token_missing"},
		{"cookie planted before ours", "", []string{"Cookie: " + g.cookie + "=evil; " + g.cookie + "=" + value, page, ours}, "operator admin"},
		{"token in the URL of the API", "GET /api/sessions?token=" + g.minted, nil, "token_missing"},
		{"public", "GET /healthz", nil, "nobody none"},
		{"public, known", "GET /healthz", []string{bearer}, "operator admin"},
		{"public, wrong token", "GET /app.js", []string{"Authorization: Bearer x"}, "nobody none"},
		{"public is for reading", "POST /healthz", nil, "token_missing"},
		{"public has no OPTIONS", "OPTIONS /healthz", nil, "token_missing"},
		{"OPTIONS that is no preflight", "OPTIONS /api/chat", []string{"Origin: http://localhost:3000"}, "token_missing"},
	})
}

// TestForeignPages puts the token guard in front of pages of another program.
//
//evidence:for promise-token
func TestForeignPages(t *testing.T) {
	t.Parallel()
	g := newGuard(t, nil)
	bearer := "Authorization: Bearer " + g.minted
	cookie := signedIn(t, g, g.minted)
	const (
		evil   = "Origin: https://evil.com"
		vite   = "Origin: http://localhost:5173"
		ownURL = "Origin: http://127.0.0.1:8787"
		plain  = "Content-Type: text/plain;charset=UTF-8"
		form   = "Content-Type: application/x-www-form-urlencoded"
		multi  = "Content-Type: multipart/form-data; boundary=x"
	)
	runGuardCases(t, g, []guardCase{
		{"no token", "", []string{evil}, "origin_not_allowed"},
		{"a good token", "", []string{evil, bearer}, "origin_not_allowed"},
		{"a good cookie", "", []string{evil, cookie}, "origin_not_allowed"},
		{"claims to be ours by Sec-Fetch-Site", "", []string{evil, cookie, "Sec-Fetch-Site: same-origin"}, "origin_not_allowed"},
		{"public path", "GET /healthz", []string{evil}, "origin_not_allowed"},
		{"stream", "GET /api/chat/x/stream", []string{evil, bearer}, "origin_not_allowed"},
		{"WebSocket", "GET /api/sessions/x/ws?role=client", []string{evil, cookie, "Connection: Upgrade", "Upgrade: websocket"}, "origin_not_allowed"},
		{"WebSocket, other port, cookie", "GET /api/sessions/x/ws?role=client", []string{vite, cookie, "Connection: Upgrade", "Upgrade: websocket"}, "cookie_cross_origin"},
		{"WebSocket, ours", "GET /api/sessions/x/ws?role=client", []string{ownURL, cookie, "Connection: Upgrade", "Upgrade: websocket"}, "operator admin"},
		{"null", "", []string{"Origin: null", bearer}, "origin_not_allowed"},
		{"null, POST, cookie", "POST /api/chat", []string{"Origin: null", cookie, plain}, "origin_not_allowed"},
		{"empty Origin", "", []string{"Origin: ", bearer}, "origin_not_allowed"},
		{"two Origins", "", []string{ownURL, evil, bearer}, "origin_not_allowed"},
		{"two in one", "", []string{ownURL + ", https://evil.com", bearer}, "origin_not_allowed"},
		{"text/plain POST", "POST /api/chat", []string{evil, plain, cookie}, "origin_not_allowed"},
		{"form POST", "POST /api/chat", []string{evil, form, cookie}, "origin_not_allowed"},
		{"multipart POST", "POST /api/chat", []string{evil, multi, cookie}, "origin_not_allowed"},
		{"text/plain POST, other port, cookie", "POST /api/chat", []string{vite, plain, cookie}, "cookie_cross_origin"},
		{"form POST, other port, cookie", "POST /api/chat", []string{vite, form, cookie}, "cookie_cross_origin"},
		{"text/plain POST, other port, nothing", "POST /api/chat", []string{vite, plain}, "token_missing"},
		{"text/plain POST, other port, to a public path", "POST /healthz", []string{vite, plain}, "token_missing"},
		{"text/plain POST, other port, bearer (was preflighted)", "POST /api/chat", []string{vite, plain, bearer}, "operator admin"},
		{"text/plain POST, ours", "POST /api/chat", []string{ownURL, plain, cookie}, "operator admin"},
		{"POST without Origin, cross-site, bearer", "POST /api/chat", []string{"Sec-Fetch-Site: cross-site", bearer}, "cross_site"},
		{"POST without Origin, cross-site, cookie", "POST /api/chat", []string{"Sec-Fetch-Site: cross-site", cookie}, "cross_site"},
		{"DELETE without Origin, same-site", "DELETE /api/sessions/x", []string{"Sec-Fetch-Site: same-site", cookie}, "cross_site"},
		{"POST, two Sec-Fetch-Site", "POST /api/chat", []string{"Sec-Fetch-Site: same-origin", "Sec-Fetch-Site: cross-site", cookie}, "cross_site"},
		{"GET without Origin, cross-site, cookie", "", []string{"Sec-Fetch-Site: cross-site", cookie}, "cookie_cross_origin"},
		{"GET without Origin, same-site, cookie", "", []string{"Sec-Fetch-Site: same-site", cookie}, "cookie_cross_origin"},
		{"GET without either, cookie", "", []string{cookie}, "cookie_cross_origin"},
		{"POST without either, cookie", "POST /api/chat", []string{cookie}, "cookie_cross_origin"},
		{"POST without either, bearer", "POST /api/chat", []string{bearer}, "operator admin"},
		{"other port, bearer", "", []string{vite, bearer}, "operator admin"},
		{"other port, cookie only", "", []string{vite, cookie}, "cookie_cross_origin"},
		{"other port, cookie, claims same-origin", "", []string{vite, cookie, "Sec-Fetch-Site: same-origin"}, "cookie_cross_origin"},
		{"IPv6 loopback page, bearer", "", []string{"Origin: http://[::1]:3000", bearer}, "operator admin"},
		{"https loopback page, bearer", "", []string{"Origin: https://localhost:3000", bearer}, "operator admin"},
		{"same host, https where we are http, cookie", "", []string{"Origin: https://127.0.0.1:8787", cookie}, "cookie_cross_origin"},
		{"same host, no port, cookie", "", []string{"Origin: http://127.0.0.1", cookie}, "cookie_cross_origin"},
		{"localhost is not 127.0.0.1 to a browser", "", []string{"Origin: http://localhost:8787", cookie}, "cookie_cross_origin"},
		{"localhost.evil.com", "", []string{"Origin: http://localhost.evil.com:8787", bearer}, "origin_not_allowed"},
		{"127.0.0.1.evil.com", "", []string{"Origin: http://127.0.0.1.evil.com:8787", bearer}, "origin_not_allowed"},
		{"evil-localhost", "", []string{"Origin: http://evil-localhost", bearer}, "origin_not_allowed"},
		{"userinfo", "", []string{"Origin: http://127.0.0.1:8787@evil.com", bearer}, "origin_not_allowed"},
		{"userinfo before us", "", []string{"Origin: http://evil.com@127.0.0.1:8787", bearer}, "origin_not_allowed"},
		{"path", "", []string{"Origin: http://127.0.0.1:8787/", bearer}, "origin_not_allowed"},
		{"trailing dot", "", []string{"Origin: http://localhost.:8787", bearer}, "origin_not_allowed"},
		{"desktop shell on localhost", "", []string{"Origin: tauri://localhost", bearer}, "origin_not_allowed"},
		{"no scheme", "", []string{"Origin: 127.0.0.1:8787", bearer}, "origin_not_allowed"},
		{"no host", "", []string{"Origin: http://", bearer}, "origin_not_allowed"},
		{"upper case of ours", "", []string{"Origin: HTTP://127.0.0.1:8787", cookie}, "operator admin"},
	})
}

//evidence:for promise-token
func TestHosts(t *testing.T) {
	t.Parallel()
	g := newGuard(t, func(c *Config) {
		c.Listen = "box.lan:8787"
		c.AllowHosts = []string{"chat.example.com", "other.example.com:8443", "2001:db8::1", "10.0.0.5:8787"}
	})
	for host, ok := range map[string]bool{
		"127.0.0.1:8787":          true,
		"127.0.0.1":               true,
		"127.8.9.10:1":            true,
		"localhost":               true,
		"LocalHost:3000":          true,
		"[::1]:8787":              true,
		"[::1]":                   true,
		"[0:0:0:0:0:0:0:1]:8787":  true,
		"[::ffff:127.0.0.1]:8787": true,
		"box.lan":                 true,
		"BOX.lan:9":               true,
		"chat.example.com":        true,
		"chat.example.com:9000":   true,
		"other.example.com:8443":  true,
		"[2001:db8::1]:8787":      true,
		"10.0.0.5:8787":           true,

		"":                          false,
		"evil.com":                  false,
		"evil.com:8787":             false,
		"localhost.evil.com":        false,
		"127.0.0.1.evil.com:8787":   false,
		"127.0.0.1.nip.io:8787":     false,
		"foo.localhost:8787":        false,
		"localhost.":                false,
		"localhost.:8787":           false,
		"127.0.0.1.:8787":           false,
		"chat.example.com.":         false,
		"sub.chat.example.com":      false,
		"example.com":               false,
		"other.example.com":         false,
		"other.example.com:443":     false,
		"10.0.0.5":                  false,
		"10.0.0.5:80":               false,
		"192.168.1.2:8787":          false,
		"0.0.0.0:8787":              false,
		"[::]:8787":                 false,
		"127.1:8787":                false,
		"2130706433:8787":           false,
		"0x7f.0.0.1:8787":           false,
		"0177.0.0.1:8787":           false,
		"::1":                       false,
		"::1:8787":                  false,
		"[::1":                      false,
		"[::1]8787":                 false,
		"[::1%25lo]:8787":           false,
		"[::1%lo]:8787":             false,
		"[127.0.0.1]:8787":          false,
		"[localhost]":               false,
		"127.0.0.1:":                false,
		"127.0.0.1:0":               false,
		"127.0.0.1:08787":           false,
		"127.0.0.1:+80":             false,
		"127.0.0.1:65536":           false,
		"127.0.0.1:8787:80":         false,
		"127.0.0.1:8787@evil.com":   false,
		"evil.com@127.0.0.1:8787":   false,
		"evil.com, 127.0.0.1":       false,
		"127.0.0.1 evil.com":        false,
		"127.0.0.1/evil":            false,
		"127.0.0.1#":                false,
		"127.0.0.1?x":               false,
		"localhost\x00.evil.com":    false,
		"ｌｏｃａｌｈｏｓｔ":                 false,
		"ſ.lan":                     false,
		strings.Repeat("a.", 4000):  false,
		".localhost":                false,
		"localhost..":               false,
		"*":                         false,
		"localhost:8787\r\nX: evil": false,
	} {
		for _, line := range []string{"GET /healthz", "POST /api/chat", "OPTIONS /api/chat", "GET /?token=" + g.minted} {
			w := ask(g, line, "Host: "+host, "Authorization: Bearer "+g.minted)
			if got := !strings.Contains(w.Body.String(), "host_not_allowed"); got != ok {
				t.Errorf("%s, Host %q: allowed is %v, want %v (%d %s)", line, host, got, ok, w.Code, w.Body)
			}
			if !ok && w.Header().Get("Set-Cookie") != "" {
				t.Errorf("%s, Host %q: a refused host got a cookie", line, host)
			}
		}
	}
}

// TestRebinding is the whole attack: the page's name now points at us, so that
// to the browser it is same-origin.
//
//evidence:for promise-token
func TestRebinding(t *testing.T) {
	t.Parallel()
	for name, edit := range map[string]func(*Config){"token": nil, "none": noneMode} {
		g := newGuard(t, edit)
		w := ask(g, "POST /api/chat", "Host: evil.com:8787", "Origin: http://evil.com:8787",
			"Sec-Fetch-Site: same-origin", "Content-Type: application/json")
		if w.Code != http.StatusForbidden || !strings.Contains(w.Body.String(), "host_not_allowed") {
			t.Errorf("mode %s: %d %s", name, w.Code, w.Body)
		}
	}
}

//evidence:for promise-token
func TestModeNone(t *testing.T) {
	t.Parallel()
	g := newGuard(t, noneMode)
	const (
		vite = "Origin: http://localhost:5173"
		ours = "Origin: http://127.0.0.1:8787"
	)
	runGuardCases(t, g, []guardCase{
		{"a program", "", nil, "operator admin"},
		{"a program that posts", "POST /api/chat", nil, "operator admin"},
		{"our page", "POST /api/chat", []string{ours}, "operator admin"},
		{"our page reads", "", []string{"Sec-Fetch-Site: same-origin"}, "operator admin"},
		{"typed by hand", "GET /", []string{"Sec-Fetch-Site: none"}, "operator admin"},
		{"page on another port", "", []string{vite}, "origin_not_allowed"},
		{"page on another port, text/plain", "POST /api/chat", []string{vite, "Content-Type: text/plain"}, "origin_not_allowed"},
		{"page on another port, invented token", "", []string{vite, "Authorization: Bearer x"}, "origin_not_allowed"},
		{"page on another port, WebSocket", "GET /api/sessions/x/ws", []string{vite, "Upgrade: websocket"}, "origin_not_allowed"},
		{"page on another port, no Origin", "", []string{"Sec-Fetch-Site: same-site"}, "cross_site"},
		{"page on another port, no Origin, POST", "POST /api/chat", []string{"Sec-Fetch-Site: same-site"}, "cross_site"},
		{"script tag elsewhere", "", []string{"Sec-Fetch-Site: cross-site"}, "cross_site"},
		{"link elsewhere to a public page", "GET /app.js", []string{"Sec-Fetch-Site: cross-site"}, "nobody none"},
		{"null", "", []string{"Origin: null"}, "origin_not_allowed"},
		{"foreign", "POST /api/chat", []string{"Origin: https://evil.com"}, "origin_not_allowed"},
		{"an old URL with a token", "GET /?token=x", nil, "operator admin"},
	})
	if got := g.URL("http://127.0.0.1:8787"); got != "http://127.0.0.1:8787" {
		t.Errorf("URL in mode none: %s", got)
	}
}

func TestAllowOrigins(t *testing.T) {
	t.Parallel()
	const bearer = "Authorization: Bearer " + viewToken
	replaced := newGuard(t, func(c *Config) {
		c.AllowOrigins = []string{"https://App.example.com", "http://10.0.0.7:3000", "chrome-extension://abcdef"}
	})
	added := newGuard(t, func(c *Config) { c.AllowOrigins = []string{LoopbackOrigins, "https://app.example.com"} })
	empty := newGuard(t, func(c *Config) { c.AllowOrigins = []string{} })
	for _, c := range []struct {
		name   string
		g      *Guard
		origin string
		ok     bool
	}{
		{"listed", replaced, "https://app.example.com", true},
		{"listed, default port", replaced, "https://app.example.com:443", true},
		{"listed, other port", replaced, "https://app.example.com:8443", false},
		{"listed, other scheme", replaced, "http://app.example.com", false},
		{"below listed", replaced, "https://x.app.example.com", false},
		{"listed and more", replaced, "https://app.example.com.evil.com", false},
		{"listed address", replaced, "http://10.0.0.7:3000", true},
		{"listed extension", replaced, "chrome-extension://abcdef", true},
		{"loopback is replaced", replaced, "http://localhost:3000", false},
		{"own stays", replaced, "http://127.0.0.1:8787", true},
		{"added", added, "https://app.example.com", true},
		{"loopback kept", added, "http://localhost:3000", true},
		{"empty list: own", empty, "http://127.0.0.1:8787", true},
		{"empty list: loopback", empty, "http://localhost:3000", false},
	} {
		w := ask(c.g, "POST /api/chat", "Origin: "+c.origin, bearer)
		if ok := w.Code == http.StatusOK; ok != c.ok {
			t.Errorf("%s: %s got %d %s", c.name, c.origin, w.Code, w.Body)
		}
	}
	w := ask(replaced, "POST /api/chat", "Origin: https://app.example.com", signedIn(t, replaced, viewToken))
	if w.Code != http.StatusForbidden {
		t.Errorf("a listed page used the cookie: %d %s", w.Code, w.Body)
	}
}

func TestOwnOriginOverTLS(t *testing.T) {
	t.Parallel()
	g := newGuard(t, func(c *Config) { c.AllowHosts = []string{"chat.example.com"} })
	const host = "Host: chat.example.com"
	plain, cookie := signedIn(t, g, g.minted), signedIn(t, g, g.minted, host, "TLS: on")
	if w := ask(g, "POST /api/chat", "TLS: on", host, cookie, "Origin: https://chat.example.com"); w.Code != http.StatusOK {
		t.Errorf("own page over TLS: %d %s", w.Code, w.Body)
	}
	if w := ask(g, "POST /api/chat", "TLS: on", host, cookie, "Origin: http://chat.example.com"); w.Code != http.StatusForbidden {
		t.Errorf("plain page of the same name: %d %s", w.Code, w.Body)
	}
	if w := ask(g, "POST /api/chat", host, plain, "Origin: http://chat.example.com"); w.Code != http.StatusOK {
		t.Errorf("default port left out: %d %s", w.Code, w.Body)
	}
}

func TestRefuse(t *testing.T) {
	t.Parallel()
	g := newGuard(t, func(c *Config) {
		c.Refuse = func(w http.ResponseWriter, _ *http.Request, status int, code, sentence string) {
			http.Error(w, code+"|"+sentence, status)
		}
	})
	w := ask(g, "GET /api/sessions", "Origin: http://localhost:3000")
	if w.Code != http.StatusUnauthorized || !strings.HasPrefix(w.Body.String(), "token_missing|A token is needed") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if got := w.Header().Get("WWW-Authenticate"); got != `Bearer realm="tributary"` {
		t.Errorf("WWW-Authenticate %q", got)
	}
	if got := w.Header().Get("Access-Control-Allow-Origin"); got != "http://localhost:3000" {
		t.Errorf("an allowed page cannot read why: Allow-Origin %q", got)
	}
	w = ask(g, "GET /", "Host: "+strings.Repeat("x", 5000)+"\x1b[31m<b>")
	if body := w.Body.String(); len(body) > 400 || strings.ContainsAny(body, "\x1b<") {
		t.Errorf("a refusal repeats what was sent: %q", body)
	}
}
