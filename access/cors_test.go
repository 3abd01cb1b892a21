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
