package access

import (
	"net/http"
	"net/url"
	"strings"
)

const tokenParam = "token"

// wantsExchange reports whether r is the printed URL, opened in a browser: a
// page asked for with ?token=. Elsewhere a token in the URL counts for nothing here.
func (g *Guard) wantsExchange(r *http.Request) bool {
	return g.mode != ModeNone && r.Method == http.MethodGet && !Upgrades(r) &&
		(r.URL.Path == "/" || g.public(r)) && r.URL.Query().Has(tokenParam)
}

// exchange turns the token in the URL into a cookie and sends the browser to
// the same page without it, so that it stays in no history, log or Referer.
func (g *Guard) exchange(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
	values := r.URL.Query()[tokenParam]
	c, ok := g.keys.byToken(values[0])
	if !ok || len(values) > 1 {
		g.refuseWith(w, r, tokenWrong())
		return
	}
	http.SetCookie(w, &http.Cookie{ //nolint:gosec // Secure would lose the cookie where there is no TLS, as on loopback
		Name:     g.cookie,
		Value:    c.cookie,
		Path:     "/",
		Secure:   r.TLS != nil,
		HttpOnly: true,
		SameSite: http.SameSiteStrictMode,
	})
	h.Set("Location", withoutToken(r.URL))
	w.WriteHeader(http.StatusSeeOther)
}

// withoutToken returns path and query without the token. One leading slash
// only: two would name another host.
func withoutToken(u *url.URL) string {
	var kept []string
	for pair := range strings.SplitSeq(u.RawQuery, "&") {
		key, _, _ := strings.Cut(pair, "=")
		if name, err := url.QueryUnescape(key); pair != "" && (err != nil || name != tokenParam) {
			kept = append(kept, pair)
		}
	}
	path := "/" + strings.TrimLeft(u.EscapedPath(), "/\\")
	if len(kept) == 0 {
		return path
	}
	return path + "?" + strings.Join(kept, "&")
}

// URL returns what to print at start: base as it is in mode none, else a URL
// that lets the owner in when opened. Without a minted token it is base too;
// configured tokens are never printed.
func (g *Guard) URL(base string) string {
	u, err := url.Parse(base)
	if g.minted == "" || err != nil {
		return base
	}
	if u.Path == "" {
		u.Path = "/"
	}
	query := u.Query()
	query.Set(tokenParam, g.minted)
	u.RawQuery = query.Encode()
	return u.String()
}
