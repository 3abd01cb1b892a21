package access

import (
	"net/http"
	"strings"
	"testing"
)

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
