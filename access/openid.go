package access

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"
)

// OpenID signs people in with an OpenID provider.
type OpenID struct {
	Provider Provider
	Claims   Claims
}

// Provider is an OpenID provider: authorization code with PKCE. Package openid has one.
type Provider interface {
	// AuthURL is where the browser goes to sign in.
	AuthURL(ctx context.Context, redirect string, s Secrets) (string, error)
	// Redeem trades the code that the browser brought back for the claims of an ID token,
	// whose signature, audience, time and nonce are good.
	Redeem(ctx context.Context, redirect, code string, s Secrets) (Told, error)
	// Refresh asks again, with the newest refresh token. The error is ErrSignInOver if the
	// provider refuses the token; any other error says that the provider cannot be asked.
	Refresh(ctx context.Context, refresh string) (Told, error)
}

// Told is what a provider tells about a person.
type Told struct {
	// Claims are those of an ID token; nil if Refresh got none.
	Claims map[string]any
	// Refresh is the refresh token for the next Refresh; "": there is no new one.
	Refresh string
}

// Secrets belong to one attempt to sign in.
type Secrets struct {
	State    string `json:"state"`
	Nonce    string `json:"nonce"`
	Verifier string `json:"verifier"`
}

// attempt is an attempt to sign in, sealed in a cookie of the browser that makes it. So
// requests of strangers leave nothing on the server.
type attempt struct {
	Secrets

	// Page is a number that the page has drawn. The page takes a sign-in only with the
	// number of its own attempt, so that nobody signs it in as somebody else.
	Page  string    `json:"page"`
	Until time.Time `json:"until"`
}

const (
	attemptWithin = 10 * time.Minute
	redeemWithin  = 20 * time.Second
	maxAttempt    = 4096
)

type openID struct {
	OpenID

	redirect string
	taken    func(id string) bool
	key      atomic.Pointer[[]byte] // of attempts, once it was read
}

func newOpenID(o OpenID, at publicURL, taken func(id string) bool) (*openID, error) {
	switch {
	case !at.set():
		return nil, errors.New("oidc has no public_url; set it to the address to which the provider sends people back")
	case !at.https() && !at.loopback():
		return nil, fmt.Errorf("oidc needs https, and public_url is %s; use https, or http on this machine", at.base)
	case o.Claims.RoleClaim == "" && o.Claims.DefaultRole == 0:
		return nil, errors.New("oidc gives nobody a role; name a role_claim or a default_role")
	}
	return &openID{OpenID: o, redirect: at.base + callbackPath, taken: taken}, nil
}

// beginSignIn sends the browser to the provider.
func (g *Guard) beginSignIn(w http.ResponseWriter, r *http.Request) {
	v := visitOf(r)
	page := r.URL.Query().Get(pageParam)
	if !headerName(page) {
		g.failSignIn(w, r, http.StatusBadRequest, "Sign in from the page: open the address of the gateway.")
		return
	}
	if g.paced(w, r, v.arrival) {
		return
	}
	try := attempt{Secrets{rand.Text(), rand.Text(), rand.Text() + rand.Text()}, page, time.Now().Add(attemptWithin)}
	sealed, err := g.seal(r.Context(), try)
	var to string
	if err == nil {
		ctx, cancel := context.WithTimeout(r.Context(), redeemWithin)
		defer cancel()
		to, err = g.openID.Provider.AuthURL(ctx, g.openID.redirect, try.Secrets)
	}
	if err != nil {
		g.failed.failed(v.arrival.client, try.State)
		g.logger.Error("nobody can sign in: the provider cannot be asked", "error", err)
		g.failSignIn(w, r, http.StatusBadGateway, "The sign-in service cannot be reached now: try again in a moment.")
		return
	}
	g.setAttempt(w, v.arrival, sealed, int(attemptWithin.Seconds()))
	w.Header().Set("Location", to)
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusSeeOther)
}

// finishSignIn takes the browser back from the provider.
func (g *Guard) finishSignIn(w http.ResponseWriter, r *http.Request) {
	v, query := visitOf(r), r.URL.Query()
	if g.paced(w, r, v.arrival) {
		return
	}
	try, ok := g.attemptOf(r, v.arrival)
	g.setAttempt(w, v.arrival, "", -1)
	if !ok || subtle.ConstantTimeCompare([]byte(try.State), []byte(query.Get("state"))) != 1 {
		g.failed.failed(v.arrival.client, query.Get("state"))
		g.failSignIn(w, r, http.StatusBadRequest, "This sign-in was not begun in this browser, or it took too long: sign in again.")
		return
	}
	if said := query.Get("error"); said != "" {
		g.failSignIn(w, r, http.StatusForbidden, "The sign-in service has refused: "+quote(said)+".")
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), redeemWithin)
	defer cancel()
	told, err := g.openID.Provider.Redeem(ctx, g.openID.redirect, query.Get("code"), try.Secrets)
	if err != nil {
		g.failed.failed(v.arrival.client, query.Get("code"))
		g.logger.Warn("somebody could not sign in", "error", err)
		g.failSignIn(w, r, http.StatusForbidden, "The sign-in service has not confirmed who you are: sign in again.")
		return
	}
	p, why := g.openID.Claims.principal(told.Claims, g.openID.taken)
	switch {
	case why != "":
		g.failSignIn(w, r, http.StatusForbidden, "You cannot sign in with this account, for what the sign-in service tells about you cannot be used: "+why+".")
		return
	case p.Role == 0:
		g.failSignIn(w, r, http.StatusForbidden, "You have signed in as "+p.Name+", and that account has no role here: ask the people who run this gateway.")
		return
	}
	cookie, page, err := g.signIn(r.Context(), p, byOIDC, "", told.Refresh)
	if err != nil {
		g.logger.Error("a sign-in cannot be kept", "error", err)
		g.failSignIn(w, r, http.StatusServiceUnavailable, storeAway().sentence)
		return
	}
	g.logger.Info("signed in", "user", p.ID, "role", p.Role.String())
	g.setCookie(w, v.arrival, cookie)
	h := w.Header()
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
	h.Set("Location", "/#"+url.Values{pageParam: {page}, "for": {try.Page}}.Encode())
	w.WriteHeader(http.StatusSeeOther)
}

// paced refuses to sign somebody in while their address has to wait. Sign-ins that failed count
// apart from wrong tokens: a script with an old token keeps no person out.
func (g *Guard) paced(w http.ResponseWriter, r *http.Request, a arrival) bool {
	left := g.failed.left(a.client)
	if left > 0 {
		no := tooManyWrong(w, left)
		g.failSignIn(w, r, no.status, "Too many sign-ins from your address have failed: wait a moment, then try again.")
	}
	return left > 0
}

// failSignIn shows a sentence to a person whose browser is not on the page now.
func (g *Guard) failSignIn(w http.ResponseWriter, _ *http.Request, status int, sentence string) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Tributary</title></head>\n"+
		"<body><h1>Not signed in</h1><p>%s</p><p><a href=\"/\">Back to the page</a></p></body></html>\n", html.EscapeString(sentence))
}

// setAttempt keeps an attempt in the browser. SameSite is Lax: the browser comes back by a
// link of the provider's site.
func (g *Guard) setAttempt(w http.ResponseWriter, a arrival, value string, age int) {
	http.SetCookie(w, &http.Cookie{ //nolint:gosec // Secure would lose the cookie where there is no TLS, as on loopback
		Name: g.cookieFor(a) + "_attempt", Value: value, Path: "/", Secure: g.secure(a), HttpOnly: true, SameSite: http.SameSiteLaxMode, MaxAge: age,
	})
}

func (g *Guard) attemptOf(r *http.Request, a arrival) (attempt, bool) {
	c, err := r.Cookie(g.cookieFor(a) + "_attempt")
	if err != nil || len(c.Value) > maxAttempt {
		return attempt{}, false
	}
	sealed, err := base64.RawURLEncoding.DecodeString(c.Value)
	if err != nil {
		return attempt{}, false
	}
	key, err := g.attemptKey(r.Context())
	if err != nil {
		g.logger.Error("the key of sign-ins cannot be read", "error", err)
		return attempt{}, false
	}
	plain, err := openWith(key, sealed)
	var try attempt
	if err != nil || json.Unmarshal(plain, &try) != nil || time.Now().After(try.Until) {
		return attempt{}, false
	}
	return try, true
}

func (g *Guard) seal(ctx context.Context, try attempt) (string, error) {
	plain, err := json.Marshal(try)
	if err != nil {
		return "", err
	}
	key, err := g.attemptKey(ctx)
	if err != nil {
		return "", err
	}
	sealed, err := sealWith(key, plain)
	return base64.RawURLEncoding.EncodeToString(sealed), err
}

// attemptKey is the key that seals attempts, which all gateways of a store share. The store is
// asked once, and not for each stranger.
func (g *Guard) attemptKey(ctx context.Context) ([]byte, error) {
	if key := g.openID.key.Load(); key != nil {
		return *key, nil
	}
	const name = "attempts"
	e, err := g.signIns.Get(ctx, kindKey, name)
	if errors.Is(err, ErrUnknown) {
		e = Entry{ID: name, Name: name, Created: time.Now(), Doc: make([]byte, 32)}
		rand.Read(e.Doc) // never fails
		if err = g.signIns.Put(ctx, kindKey, e); errors.Is(err, ErrTaken) {
			e, err = g.signIns.Get(ctx, kindKey, name)
		}
	}
	if err != nil {
		return nil, err
	}
	g.openID.key.Store(&e.Doc)
	return e.Doc, nil
}
