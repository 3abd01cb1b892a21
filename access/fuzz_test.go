package access

import (
	"bytes"
	"crypto/sha256"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
)

func FuzzAuthority(f *testing.F) {
	for _, s := range []string{
		"localhost", "LOCALHOST:80", "127.0.0.1:8787", "[::1]:8787", "[::ffff:127.0.0.1]", "::1", "localhost.", "a@b", "a:b",
		"[::1%25lo]", "127.0.0.1.evil.com", "a..b", "a:65536", "[", "]", "[]:1", ":1", "127.1",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		a, ok := parseAuthority(s)
		if !ok {
			return
		}
		if again, ok := parseAuthority(a.String()); !ok || again != a {
			t.Fatalf("%q is %+v, whose text is read as %+v, %v", s, a, again, ok)
		}
		// Another parser must see the same host, and nothing beside it.
		u, err := url.Parse("http://" + s)
		if err != nil {
			t.Fatalf("%q is accepted as %+v, but: %v", s, a, err)
		}
		if u.User != nil || u.Path != "" || u.RawQuery != "" || u.Fragment != "" || u.Port() != a.port {
			t.Fatalf("%q is accepted as %+v, and is %+v", s, a, u)
		}
		host := strings.ToLower(u.Hostname())
		if addr, err := netip.ParseAddr(host); err == nil {
			host = addr.String()
		}
		if host != a.host {
			t.Fatalf("%q has host %q here and %q there", s, a.host, host)
		}
		if a.loopback() && a.host != "localhost" {
			if addr, err := netip.ParseAddr(host); err != nil || !addr.Unmap().IsLoopback() {
				t.Fatalf("%q counts as loopback", s)
			}
		}
	})
}

func FuzzOrigin(f *testing.F) {
	for _, s := range []string{
		"null", "", "http://localhost:3000", "https://a.example", "HTTP://A.example:80", "http://a@b", "http://a/", "http://[::1]:1",
		"tauri://localhost", "://x", "http://http://a", "javascript://a", "http://a,http://b", "1a://b",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		o, ok := parseOrigin(s)
		if !ok {
			return
		}
		if again, ok := parseOrigin(o.String()); !ok || again != o {
			t.Fatalf("%q is %+v, whose text is read as %+v, %v", s, o, again, ok)
		}
		u, err := url.Parse(s)
		if err != nil || u.User != nil || u.Path != "" || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" || u.Scheme != o.scheme {
			t.Fatalf("%q is accepted as %+v, and is %+v, %v", s, o, u, err)
		}
		if o.loopback() && o.scheme != "http" && o.scheme != "https" {
			t.Fatalf("%q counts as a loopback page", s)
		}
	})
}

// FuzzCredentials sends headers to a guard: nobody comes in without the token.
func FuzzCredentials(f *testing.F) {
	const token = "0123456789abcdef0123456789abcdef"
	name := (&keyring{{digest: sha256.Sum256([]byte(token))}}).cookieName()
	cookie := name + "=0123456789"
	for _, s := range [][4]string{
		{"Bearer " + token, "", "", ""},
		{"bearer  " + token + " ", "", "http://localhost:3000", ""},
		{"Basic " + token, "", "", ""},
		{token, "", "", ""},
		{"", cookie, "", "same-origin"},
		{"", cookie, "http://localhost:8787", ""},
		{"", cookie, "http://localhost:3000", ""},
		{"", cookie, "null", "cross-site"},
		{"", "a=b; " + cookie + "; " + name + "=x", "", "none"},
		{"Bearer", cookie, "", "same-origin"},
		{"", `"`, "", ""},
	} {
		f.Add(s[0], s[1], s[2], s[3])
	}
	g, err := New(Config{Listen: "localhost:8787", Tokens: []Token{{Name: "ada", Token: token, Role: Collaborator}}})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, authorization, cookies, origin, site string) {
		r := httptest.NewRequest(http.MethodPost, "http://localhost:8787/api/chat", nil)
		for name, value := range map[string]string{"Authorization": authorization, "Cookie": cookies, "Origin": origin, "Sec-Fetch-Site": site} {
			if value != "" {
				r.Header.Set(name, value)
			}
		}
		let := false
		w := httptest.NewRecorder()
		g.Wrap(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			p, ok := From(r.Context())
			let = ok
			if p.ID != "ada" || p.Role != Collaborator {
				t.Errorf("came in as %+v", p)
			}
		})).ServeHTTP(w, r)
		switch {
		case let && strings.Contains(authorization, token):
		case let:
			t.Errorf("let in by %q, %q, %q, %q", authorization, cookies, origin, site)
		case w.Code != http.StatusUnauthorized && w.Code != http.StatusForbidden:
			t.Errorf("refused with %d", w.Code)
		}
	})
}

// FuzzExchange opens URLs: a URL with the token redirects to the same page without the
// token, on this host and no other.
func FuzzExchange(f *testing.F) {
	const token = "0123456789abcdef0123456789abcdef"
	for _, s := range [][2]string{{"/", ""}, {"//evil.example", "a=b"}, {"/\\evil.example", ""}, {"/a/%2f", "token=x&to%6ben=y&a"}, {"/x", "a;b&&c=%zz"}} {
		f.Add(s[0], s[1])
	}
	g, err := New(Config{Listen: "localhost:8787", Tokens: []Token{{Name: "ada", Token: token, Role: Admin}}, Public: func(*http.Request) bool { return true }})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, path, query string) {
		u, err := url.ParseRequestURI(path + "?token=" + token + "&" + query)
		if err != nil || u.Host != "" || !strings.HasPrefix(u.Path, "/") {
			return // net/http lets it through no more than this
		}
		r := httptest.NewRequest(http.MethodGet, "http://localhost:8787/", nil)
		r.URL = u
		w := httptest.NewRecorder()
		g.Wrap(http.NotFoundHandler()).ServeHTTP(w, r)
		if w.Code != http.StatusSeeOther {
			return // two tokens, for example
		}
		to, err := u.Parse(w.Header().Get("Location"))
		if err != nil || to.Host != "" && to.Host != "localhost:8787" || strings.Contains(w.Header().Get("Location"), token) && !strings.Contains(path+query, token) {
			t.Errorf("%q, %q leads to %q: %v", path, query, w.Header().Get("Location"), err)
		}
		if location := w.Header().Get("Location"); !strings.HasPrefix(location, "/") || strings.HasPrefix(location, "//") || strings.HasPrefix(location, "/\\") {
			t.Errorf("%q, %q leads to %q, which may be another host", path, query, location)
		}
	})
}

// FuzzReadToken reads token files.
func FuzzReadToken(f *testing.F) {
	for _, s := range []string{"", " \n", "0123456789abcdef0123456789abcdef\n", "a b", "\x00", "é", strings.Repeat("x", 5000)} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		token, err := readToken(bytes.NewReader(data), "file")
		if err != nil {
			return
		}
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Header.Set("Authorization", "Bearer "+token)
		if got, ok := bearer(r); !ok || got != token || token == "" || len(token) > maxTokenFile {
			t.Errorf("the token %q is read from a header as %q, %v", token, got, ok)
		}
	})
}
