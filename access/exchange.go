package access

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/url"
	"strings"
)

const (
	tokenParam = "token"
	// pageParam is the page's secret behind the #.
	pageParam = "page"
)

// wantsExchange reports whether r is the printed URL, opened in a browser: a
// page asked for with ?token=. Elsewhere a token in the URL counts for nothing here.
func (g *Guard) wantsExchange(r *http.Request) bool {
	return g.mode != ModeNone && r.Method == http.MethodGet && !Upgrades(r) &&
		(r.URL.Path == "/" || g.public(r)) && r.URL.Query().Has(tokenParam) && (!g.app || g.looksOurs(r.URL.Query().Get(tokenParam)))
}

// looksOurs reports whether a token has the form of a token of the gateway, or is one.
func (g *Guard) looksOurs(token string) bool {
	digest := sha256.Sum256([]byte(token))
	_, known := g.keys.byDigest(digest[:])
	return known || strings.HasPrefix(token, tokenMark)
}

// exchange turns the token in the URL into a sign-in, and sends the browser to the same
// page without the token, so that no history, log or Referer keeps it. The page's secret
// stands behind the #: browsers send that part to no server, and the page removes it. A browser
// keeps its place in the page, see goOnTo; other clients get a redirect.
func (g *Guard) exchange(w http.ResponseWriter, r *http.Request, a arrival) {
	h := w.Header()
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
	values := r.URL.Query()[tokenParam]
	if strings.Contains(r.Header.Get("Sec-Purpose"), "prefetch") { // it would use up an address that works once
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	leave, no := g.queue(r.Context(), a, values[0])
	if no != (refusal{}) {
		g.refuseExchange(w, r, no)
		return
	}
	defer leave()
	digest := sha256.Sum256([]byte(values[0]))
	p, ok, no := g.byToken(r.Context(), values[0])
	ok = ok && len(values) == 1
	stands, back := digestOf(values[0]), func() {} // the token for which the sign-in stands
	if !ok && no == (refusal{}) && len(values) == 1 && len(g.keys) > 0 {
		now := g.keys[0].now()
		if ok, back = g.link.take(digest[:], now); ok {
			p, stands = operator(), hex.EncodeToString(now[:])
		}
	}
	if no == (refusal{}) && !ok {
		no = g.wrong(w, a, values[0], tokenWrong())
	}
	if no != (refusal{}) {
		g.refuseExchange(w, r, no)
		return
	}
	cookie, page, err := g.signIn(r.Context(), p, byToken, stands, "")
	if err != nil {
		back()
		g.logger.Error("a sign-in cannot be kept", "error", err)
		g.refuseExchange(w, r, storeAway())
		return
	}
	g.setCookie(w, a, cookie)
	to := withoutToken(r.URL)
	if wantsPage(r) {
		goOnTo(w, to, page)
		return
	}
	h.Set("Location", to+"#"+url.Values{pageParam: {page}}.Encode())
	w.WriteHeader(http.StatusSeeOther)
}

// signInByToken turns the token of a request into a sign-in of the page that sends it. The
// page goes on where it is, so that an expired sign-in costs nothing that it shows.
func (g *Guard) signInByToken(w http.ResponseWriter, r *http.Request) {
	v := visitOf(r)
	token, ok := bearer(r)
	if !ok || v.from != own || v.who.isPassThrough {
		g.refuseWith(w, r, notOurPage())
		return
	}
	s, no := g.bearing(r.Context(), token) // without the groups of the configuration, which may change
	if no != (refusal{}) {
		g.refuseWith(w, r, no)
		return
	}
	by, digest := byToken, digestOf(token)
	if g.jwt != nil && isJWT(token) {
		by, digest = byJWT, ""
	}
	cookie, page, err := g.signIn(r.Context(), s.principal, by, digest, "")
	if err != nil {
		g.logger.Error("a sign-in cannot be kept", "error", err)
		g.refuseWith(w, r, storeAway())
		return
	}
	g.setCookie(w, v.arrival, cookie)
	writeJSON(w, struct {
		Page string `json:"page"`
	}{page})
}

// refuseExchange says why to a person in front of a browser, and to a program.
func (g *Guard) refuseExchange(w http.ResponseWriter, r *http.Request, no refusal) {
	if wantsPage(r) {
		g.failSignIn(w, r, no.status, no.sentence)
		return
	}
	g.refuseWith(w, r, no)
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

// URL returns the address to print at start. The address has the minted token, so that
// opening it signs in. Without a minted token, and in mode none, the address is base, and so
// it is where only the hash of the token is kept. Configured tokens are never printed.
func (g *Guard) URL(base string) string {
	return g.urlWith(base, g.minted)
}

// SignInURL returns an address that signs in as the holder of the minted token. If only the
// hash of that token is kept, the address works once, within 15 minutes, and once is true. An
// address from an earlier call then works no more.
func (g *Guard) SignInURL(base string) (address string, once bool) {
	if once = g.Hashed(); once {
		return g.urlWith(base, g.link.make(g.keys[0].now())), true
	}
	return g.URL(base), false
}

// Hashed reports whether only the hash of the minted token is kept.
func (g *Guard) Hashed() bool { return g.minted == "" && len(g.keys) > 0 && g.keys[0].file != nil }

func (g *Guard) urlWith(base, token string) string {
	base = cmp.Or(g.url.base, base)
	u, err := url.Parse(base)
	if token == "" || err != nil {
		return base
	}
	if u.Path == "" {
		u.Path = "/"
	}
	query := u.Query()
	query.Set(tokenParam, token)
	u.RawQuery = query.Encode()
	return u.String()
}
