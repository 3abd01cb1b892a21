package access

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

func TestExchange(t *testing.T) {
	t.Parallel()
	g := newGuard(t, nil)
	tok := g.minted
	for _, c := range []struct{ line, location string }{
		{"GET /?token=" + tok, "/"},
		{"GET /?a=1&token=" + tok + "&b=%20x", "/?a=1&b=%20x"},
		{"GET /?%74oken=" + tok, "/"},
		{"GET /?&&x&token=" + tok, "/?x"},
		{"GET /app.js?token=" + tok, "/app.js"},
		{"GET /?token=" + viewToken, "/"},
	} {
		// Twice: a token is not used up.
		for range 2 {
			w := ask(g, c.line)
			location, page, _ := strings.Cut(w.Header().Get("Location"), "#page=")
			if w.Code != http.StatusSeeOther || location != c.location || len(page) < 26 {
				t.Fatalf("%s: %d %q, want 303 %q with a secret of the page", c.line, w.Code, w.Header().Get("Location"), c.location)
			}
			if got := w.Header().Get("Referrer-Policy"); got != "no-referrer" {
				t.Errorf("%s: Referrer-Policy %q", c.line, got)
			}
			if got := w.Header().Get("Cache-Control"); got != "no-store" {
				t.Errorf("%s: Cache-Control %q", c.line, got)
			}
		}
	}
}

//evidence:for promise-token
func TestExchangeRefused(t *testing.T) {
	t.Parallel()
	g := newGuard(t, nil)
	for _, line := range []string{
		"GET /?token=",
		"GET /?token=wrong",
		"GET /?token=" + g.minted + "x",
		"GET /?token=" + g.minted + "&token=wrong",
		"GET /?token=wrong&token=" + g.minted,
		"GET /api/sessions?token=" + g.minted,
		"GET /api/chat/x/stream?token=" + g.minted,
		"POST /?token=" + g.minted,
		"GET /?Token=" + g.minted,
	} {
		w := ask(g, line)
		if w.Code != http.StatusUnauthorized || w.Header().Get("Set-Cookie") != "" || w.Header().Get("Location") != "" {
			t.Errorf("%s: %d %v", line, w.Code, w.Header())
		}
		if strings.Contains(w.Body.String(), g.minted) {
			t.Errorf("%s: the refusal repeats the token", line)
		}
	}
	if w := ask(g, "GET /?token="+g.minted, "Origin: https://evil.com"); w.Code != http.StatusForbidden || w.Header().Get("Set-Cookie") != "" {
		t.Errorf("a foreign page exchanged a token: %d %v", w.Code, w.Header())
	}
}

// A page of another site cannot sign a browser in with a token of its own.
//
//evidence:for promise-token
func TestOnlyTheUserExchangesAToken(t *testing.T) {
	t.Parallel()
	g := newGuard(t, nil)
	for _, site := range []string{"", "none", "same-origin", "same-site", "cross-site"} {
		w := ask(g, "GET /?token="+g.minted, "Sec-Fetch-Mode: navigate", "Sec-Fetch-Site: "+site)
		mine := site == "" || site == "none" || site == "same-origin"
		if in := w.Header().Get("Set-Cookie") != ""; in != mine || !mine && w.Code != http.StatusForbidden {
			t.Errorf("from %q: %d %v", site, w.Code, w.Header())
		}
	}
}

func TestExchangeCookie(t *testing.T) {
	t.Parallel()
	g := newGuard(t, nil)
	for _, c := range []struct {
		secure  bool
		headers []string
	}{{false, nil}, {true, []string{"TLS: on"}}, {false, []string{"X-Forwarded-Proto: https"}}} {
		w := ask(g, "GET /?token="+g.minted, c.headers...)
		cookie, err := http.ParseSetCookie(w.Header().Get("Set-Cookie"))
		if err != nil {
			t.Fatal(err)
		}
		if strings.TrimPrefix(cookie.Name, "__Host-") != g.cookie || !strings.HasPrefix(g.cookie, "tributary_page_") || strings.HasPrefix(cookie.Name, "__Host-") != c.secure || cookie.Path != "/" || cookie.Domain != "" || !cookie.HttpOnly ||
			cookie.SameSite != http.SameSiteStrictMode || cookie.Secure != c.secure {
			t.Errorf("%v: cookie %v", c.headers, cookie)
		}
		if strings.Contains(cookie.Value, g.minted) || strings.Contains(g.minted, cookie.Value) {
			t.Error("the cookie shows the token")
		}
		_, page, _ := strings.Cut(w.Header().Get("Location"), "#page=")
		back := append([]string{"Cookie: " + cookie.Name + "=" + cookie.Value, pageHeader + ": " + page, "Sec-Fetch-Site: same-origin"}, c.headers...)
		if w := ask(g, "GET /api/sessions", back...); w.Code != http.StatusOK {
			t.Errorf("the cookie does not work: %d %s", w.Code, w.Body)
		}
	}
}

// TestExchangeStaysHere: the redirect names a path, never another host.
func TestExchangeStaysHere(t *testing.T) {
	t.Parallel()
	g := newGuard(t, func(c *Config) { c.Public = func(*http.Request) bool { return true } })
	base := &url.URL{Scheme: "http", Host: "127.0.0.1:8787", Path: "/"}
	for _, path := range []string{
		"//evil.com/", "///evil.com", "/%5Cevil.com", "/\\evil.com", "/\\/evil.com", "//evil.com@x/", "/%2F%2Fevil.com",
		"/..//evil.com", "/a//b", "/%0d%0aSet-Cookie:x=y", "/https://evil.com", "/%09/evil.com",
	} {
		w := ask(g, "GET http://127.0.0.1:8787"+path+"?token="+g.minted+"&next=//evil.com")
		location := w.Header().Get("Location")
		// A browser reads a backslash as a slash.
		u, err := base.Parse(strings.ReplaceAll(location, "\\", "/"))
		if w.Code != http.StatusSeeOther || err != nil || u.Host != base.Host || strings.ContainsAny(location, "\r\n\t") {
			t.Errorf("%s redirects with %d to %q", path, w.Code, location)
		}
	}
}

func TestURL(t *testing.T) {
	t.Parallel()
	g := newGuard(t, nil)
	for base, want := range map[string]string{
		"http://127.0.0.1:8787":     "http://127.0.0.1:8787/?token=" + g.minted,
		"http://127.0.0.1:8787/":    "http://127.0.0.1:8787/?token=" + g.minted,
		"http://[::1]:8787":         "http://[::1]:8787/?token=" + g.minted,
		"http://localhost/?x=1":     "http://localhost/?token=" + g.minted + "&x=1",
		"http://127.0.0.1:bad:port": "http://127.0.0.1:bad:port",
	} {
		if got := g.URL(base); got != want {
			t.Errorf("URL(%q) = %q, want %q", base, got, want)
		}
	}
	u, err := url.Parse(g.URL("http://127.0.0.1:8787"))
	if err != nil {
		t.Fatal(err)
	}
	if w := ask(g, "GET "+u.RequestURI()); w.Code != http.StatusSeeOther {
		t.Errorf("the printed URL does not let in: %d %s", w.Code, w.Body)
	}
	named := newGuard(t, func(c *Config) { c.TokenFile = "" })
	if got := named.URL("http://127.0.0.1:8787"); got != "http://127.0.0.1:8787" {
		t.Errorf("a configured token is printed: %s", got)
	}
}
