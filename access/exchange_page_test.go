package access

import (
	"net/http"
	"strings"
	"testing"
)

// A browser keeps the fragment of the address, which names a session: it gets a page that goes on.
func TestABrowserGoesOnWithItsFragment(t *testing.T) {
	t.Parallel()
	g := newGuard(t, nil)
	const browser = "Accept: text/html,application/xhtml+xml,*/*;q=0.8"
	w := ask(g, "GET /?a=%22%3E%3Cb%3E&token="+g.minted, browser)
	body := w.Body.String()
	if w.Code != http.StatusOK || w.Header().Get("Location") != "" || !strings.Contains(body, `data-to="/?a=%22%3E%3Cb%3E" data-page="`) || strings.Contains(body, g.minted) {
		t.Fatalf("%d %v\n%s", w.Code, w.Header(), body)
	}
	for name, want := range map[string]string{"Referrer-Policy": "no-referrer", "Cache-Control": "no-store", "Content-Security-Policy": "script-src 'sha256-"} {
		if got := w.Header().Get(name); !strings.Contains(got, want) {
			t.Errorf("%s: %q", name, got)
		}
	}
	_, page, _ := strings.Cut(body, `data-page="`)
	page, _, _ = strings.Cut(page, `"`)
	cookie, _, _ := strings.Cut(w.Header().Get("Set-Cookie"), ";")
	if w := ask(g, "GET /api/sessions", "Cookie: "+cookie, pageHeader+": "+page, "Sec-Fetch-Site: same-origin"); w.Code != http.StatusOK {
		t.Errorf("the sign-in does not work: %d %s", w.Code, w.Body)
	}
	if w := ask(g, "GET /?token="+g.minted, "Accept: */*"); w.Code != http.StatusSeeOther {
		t.Errorf("a program gets %d", w.Code)
	}
}

// A person who opens an address with a wrong token reads a sentence in the browser; a
// program gets JSON.
func TestAWrongTokenInTheAddressIsASentenceOnAPage(t *testing.T) {
	t.Parallel()
	g := newGuard(t, nil)
	const browser = "Accept: text/html,application/xhtml+xml,*/*;q=0.8"
	for line, want := range map[string]struct {
		status   int
		sentence string
	}{
		"GET /?token=wrong\n" + browser: {http.StatusUnauthorized, "The token is not valid here: open the URL that was printed at start"},
		"GET /?token=" + g.minted + "\n" + browser + "\nSec-Fetch-Mode: navigate\nSec-Fetch-Site: cross-site": {http.StatusForbidden, "This request was started by a page of another site"},
	} {
		request, headers, _ := strings.Cut(line, "\n")
		w := ask(g, request, strings.Split(headers, "\n")...)
		body, kind := w.Body.String(), w.Header().Get("Content-Type")
		if w.Code != want.status || kind != "text/html; charset=utf-8" || !strings.Contains(body, want.sentence) || strings.Contains(body, g.minted) || w.Header().Get("Set-Cookie") != "" {
			t.Errorf("%s: %d %s %s", request, w.Code, kind, body)
		}
	}
	if w := ask(g, "GET /?token=wrong", "Accept: */*"); w.Code != http.StatusUnauthorized || w.Header().Get("Content-Type") != "application/json" {
		t.Errorf("a program gets %d %v", w.Code, w.Header())
	}
}
