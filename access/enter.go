package access

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"html"
	"net/http"
	"strings"
)

// goOn is the script of the page that a browser gets for an address with a token. It goes to the
// address without the token. The fragment of the first address names a place of the page, such as a
// session; no server sees it, and the fragment of a redirect would replace it.
const goOn = `const { to, page } = document.body.dataset;
location.replace(to + '#' + new URLSearchParams({ page, ...(location.hash && { at: location.hash }) }));`

// wantsPage reports whether a browser asks for a page.
func wantsPage(r *http.Request) bool { return strings.Contains(r.Header.Get("Accept"), "text/html") }

// goOnTo answers with that page.
func goOnTo(w http.ResponseWriter, to, page string) {
	digest := sha256.Sum256([]byte(goOn))
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; script-src 'sha256-"+base64.StdEncoding.EncodeToString(digest[:])+"'; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	_, _ = fmt.Fprintf(w, "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Tributary</title></head>\n"+
		"<body data-to=\"%s\" data-page=\"%s\"><noscript>Turn on JavaScript for this page, and open the address again.</noscript><script>%s</script></body></html>\n",
		html.EscapeString(to), html.EscapeString(page), goOn)
}
