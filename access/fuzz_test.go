package access

import (
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
