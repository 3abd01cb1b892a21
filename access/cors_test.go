package access

import (
	"net/http"
	"slices"
	"strings"
	"testing"
)

func TestPreflight(t *testing.T) {
	t.Parallel()
	g := newGuard(t, nil)
	w := ask(g, "OPTIONS /api/chat", "Origin: http://localhost:5173",
		"Access-Control-Request-Method: POST",
		"Access-Control-Request-Headers: Authorization, content-type,X-My-Header , bad name,*,x\x01y,X-MY-HEADER,"+strings.Repeat("h", 65))
	h := w.Header()
	if w.Code != http.StatusNoContent || w.Body.Len() != 0 {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	for name, want := range map[string]string{
		"Access-Control-Allow-Origin":      "http://localhost:5173",
		"Access-Control-Allow-Headers":     "authorization, content-type, x-my-header",
		"Access-Control-Allow-Methods":     allowMethods,
		"Access-Control-Max-Age":           "600",
		"Access-Control-Allow-Credentials": "",
		"Access-Control-Expose-Headers":    "",
	} {
		if got := h.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if !slices.Contains(h.Values("Vary"), "Origin") {
		t.Errorf("Vary %q", h.Values("Vary"))
	}
}

func TestPreflightRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, origin string
		edit         func(*Config)
	}{
		{"foreign", "https://evil.com", nil},
		{"null", "null", nil},
		{"another port in mode none", "http://localhost:5173", noneMode},
		{"not in the list", "http://localhost:5173", func(c *Config) { c.AllowOrigins = []string{"https://a.example"} }},
	} {
		w := ask(newGuard(t, c.edit), "OPTIONS /api/chat", "Origin: "+c.origin, "Access-Control-Request-Method: POST")
		if w.Code != http.StatusForbidden {
			t.Errorf("%s: %d", c.name, w.Code)
		}
		for name := range w.Header() {
			if strings.HasPrefix(name, "Access-Control-") {
				t.Errorf("%s: header %s on a refusal", c.name, name)
			}
		}
	}
}

func TestManyRequestedHeaders(t *testing.T) {
	t.Parallel()
	var names []string
	for i := range 1000 {
		names = append(names, "x-"+strings.Repeat("a", i%60)+string(rune('a'+i%26)))
	}
	if got := strings.Count(allowHeaders([]string{strings.Join(names, ",")}), ",") + 1; got != maxAllowHeaders {
		t.Errorf("%d headers, want %d", got, maxAllowHeaders)
	}
}

func TestSharedResponse(t *testing.T) {
	t.Parallel()
	g := newGuard(t, nil)
	bearer := "Authorization: Bearer " + g.minted
	h := ask(g, "GET /api/sessions", bearer, "Origin: http://localhost:5173").Header()
	if h.Get("Access-Control-Allow-Origin") != "http://localhost:5173" || h.Get("Access-Control-Expose-Headers") != exposeHeaders {
		t.Errorf("headers %v", h)
	}
	if h.Get("Access-Control-Allow-Credentials") != "" {
		t.Error("credentials are allowed to another origin")
	}
	h = ask(g, "GET /api/sessions", bearer).Header()
	if h.Get("Access-Control-Allow-Origin") != "" || !slices.Contains(h.Values("Vary"), "Origin") {
		t.Errorf("without Origin: %v", h)
	}
}

// Widgets on other sites, and apps on phones: with no origin, with one of a scheme of
// their own, or with none to tell.
func TestA03_OriginsOfWidgetsAndApps(t *testing.T) {
	t.Parallel()
	g := newGuard(t, func(c *Config) {
		c.AllowOrigins = []string{"https://shop.example", "capacitor://localhost", "app-7://chat", NullOrigin}
	})
	runGuardCases(t, g, []guardCase{
		{"app without an origin", "POST /api/chat", []string{"Authorization: Bearer " + workToken}, "ci collaborator"},
		{"widget", "POST /api/chat", []string{"Origin: https://shop.example", "Authorization: Bearer " + workToken}, "ci collaborator"},
		{"another port", "POST /api/chat", []string{"Origin: https://shop.example:8443", "Authorization: Bearer " + workToken}, "origin_not_allowed"},
		{"scheme of its own", "POST /api/chat", []string{"Origin: capacitor://localhost", "Authorization: Bearer " + workToken}, "ci collaborator"},
		{"another one", "POST /api/chat", []string{"Origin: ionic://localhost", "Authorization: Bearer " + workToken}, "origin_not_allowed"},
		{"null", "POST /api/chat", []string{"Origin: null", "Authorization: Bearer " + workToken}, "ci collaborator"},
		{"null without a token", "POST /api/chat", []string{"Origin: null"}, "token_missing"},
		{"null with a cookie", "POST /api/chat", []string{"Origin: null", signedIn(t, g, workToken)}, "cookie_cross_origin"},
		{"null twice", "POST /api/chat", []string{"Origin: null", "Origin: null", "Authorization: Bearer " + workToken}, "origin_not_allowed"},
		{"loopback is not in the list", "POST /api/chat", []string{"Origin: http://localhost:3000", "Authorization: Bearer " + workToken}, "origin_not_allowed"},
	})
	for _, origin := range []string{"https://shop.example", "capacitor://localhost", "null"} {
		w := ask(g, "OPTIONS /api/sessions/s/members/ada", "Origin: "+origin, "Access-Control-Request-Method: PUT", "Access-Control-Request-Headers: authorization,content-type")
		if w.Code != http.StatusNoContent || w.Header().Get("Access-Control-Allow-Origin") != origin || !strings.Contains(w.Header().Get("Access-Control-Allow-Methods"), "PUT") {
			t.Errorf("preflight of %s: %d %v", origin, w.Code, w.Header())
		}
		for _, headers := range [][]string{{"Authorization: Bearer " + workToken}, nil} { // a refusal is read too
			h := ask(g, "POST /api/chat", append(headers, "Origin: "+origin)...).Header()
			for _, name := range []string{"Retry-After", "Link", "x-vercel-ai-ui-message-stream"} {
				if !strings.Contains(h.Get("Access-Control-Expose-Headers"), name) {
					t.Errorf("%s cannot be read from %s", name, origin)
				}
			}
			if h.Get("Access-Control-Allow-Credentials") != "" || h.Get("Access-Control-Allow-Origin") != origin {
				t.Errorf("%s: %v", origin, h)
			}
		}
	}
}
