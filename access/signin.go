package access

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// A sign-in of the page needs two secrets. The browser has the first in a cookie, which
// pages and programs on other ports of the host see too. The page has the second in its
// own storage, which only its origin reads, and sends it in a header with each request.
const (
	// pageHeader carries the secret of the page.
	pageHeader = "X-Tributary-Page"
	// pageSubprotocol carries it where a page opens a WebSocket.
	pageSubprotocol = "page."
	// defaultLifetime is how long a sign-in lasts.
	defaultLifetime = 7 * 24 * time.Hour
	// mostSignIns bounds the sign-ins of one person; the oldest ends.
	mostSignIns = 32
)

// SignIn is a sign-in of the page, as people see it in lists.
type SignIn struct {
	ID   string `json:"id"`
	User string `json:"user"`
	Name string `json:"name"`
	// By is the way in: token, jwt or oidc.
	By      string    `json:"by"`
	Created time.Time `json:"created_at"`
	Expires time.Time `json:"expires_at"`
}

// signInDoc is what a Store has of a sign-in.
type signInDoc struct {
	Page string `json:"page"` // hash of the page's secret
	By   string `json:"by"`
	// Token is the hash of the token that the sign-in stands for. The role is that of the
	// token, so that a token that is revoked ends its sign-ins.
	Token string `json:"token,omitempty"`
	// The user at the time when they signed in.
	User   string   `json:"user"`
	Name   string   `json:"name"`
	Role   Role     `json:"role"`
	Groups []string `json:"groups,omitempty"`
	// Bound are the sessions that their token was good for; nil: all.
	Bound *Bound `json:"bound,omitempty"`
	// Confirmed is that of a sign-in by a provider.
	Confirmed *confirmation `json:"confirmed,omitempty"`
}

func (d signInDoc) principal(expires time.Time) Principal {
	return Principal{ID: d.User, Name: d.Name, Role: d.Role, Groups: d.Groups, Expires: expires, Bound: d.Bound}
}

// signInID names a sign-in by its cookie, without showing the cookie.
func signInID(cookie string) string { return digestOf(cookie)[:32] }

// The ways in.
const (
	byToken = "token"
	byJWT   = "jwt"
	byOIDC  = "oidc"
)

// signIn keeps a new sign-in, and returns the value of its cookie and the page's secret.
// tokenDigest is empty if no token of this gateway stands behind the sign-in. refresh is empty if
// no provider has given a refresh token.
func (g *Guard) signIn(ctx context.Context, p Principal, by, tokenDigest, refresh string) (cookie, page string, err error) {
	cookie, page = rand.Text()+rand.Text(), rand.Text()+rand.Text()
	now := time.Now()
	d := signInDoc{digestOf(page), by, tokenDigest, p.ID, p.Name, p.Role, p.Groups, p.Bound, nil}
	if by == byOIDC {
		sealed, err := sealRefresh(cookie, refresh)
		if err != nil {
			return "", "", err
		}
		d.Confirmed = &confirmation{At: now, Refresh: sealed}
		if sealed == nil {
			p.Expires = now.Add(confirmedFor)
		}
	}
	doc, err := json.Marshal(d)
	if err != nil {
		return "", "", err
	}
	if err := g.endOldest(ctx, p.ID); err != nil {
		return "", "", err
	}
	expires := now.Add(g.lifetime)
	if !p.Expires.IsZero() && p.Expires.Before(expires) {
		expires = p.Expires
	}
	id := signInID(cookie)
	return cookie, page, g.signIns.Put(ctx, kindSignIn, Entry{ID: id, Name: id, Owner: p.ID, Created: now, Expires: expires, Doc: doc})
}

// endOldest leaves room for one more sign-in of a person.
func (g *Guard) endOldest(ctx context.Context, user string) error {
	all, err := SignInsOf(ctx, g.signIns.Store, user)
	if err != nil {
		return err
	}
	for i := range len(all) - mostSignIns + 1 {
		if err := g.signIns.drop(ctx, all[i].ID); err != nil && !errors.Is(err, ErrUnknown) {
			return err
		}
	}
	return nil
}

// SignIns lists the sign-ins of a store, the oldest first.
func SignIns(ctx context.Context, s Store) ([]SignIn, error) { return SignInsOf(ctx, s, "") }

// SignInsOf lists the sign-ins of the person with that ID, the oldest first.
func SignInsOf(ctx context.Context, s Store, user string) ([]SignIn, error) {
	entries, err := s.List(ctx, kindSignIn, user)
	if err != nil {
		return nil, err
	}
	all := make([]SignIn, 0, len(entries))
	for _, e := range entries {
		var doc signInDoc
		if err := json.Unmarshal(e.Doc, &doc); err != nil {
			return nil, fmt.Errorf("the entry of the sign-in %s cannot be read: %w", e.ID, err)
		}
		if user == "" || doc.User == user { // an entry of an older program has no owner
			all = append(all, SignIn{e.ID, doc.User, doc.Name, doc.By, e.Created, e.Expires})
		}
	}
	return all, nil
}

// EndSignInsOf ends all sign-ins of a person, named by ID or, if one person only has it, by the
// display name. Gateways that use the store refuse them within seconds. The error is a sentence.
func EndSignInsOf(ctx context.Context, s Store, name string) (ended int, err error) {
	all, err := SignIns(ctx, s)
	if err != nil {
		return 0, err
	}
	user := name
	if !slices.ContainsFunc(all, func(i SignIn) bool { return i.User == name }) {
		var called []string
		for _, i := range all {
			if i.Name == name && !slices.Contains(called, i.User) {
				called = append(called, i.User)
			}
		}
		switch len(called) {
		case 0:
			return 0, fmt.Errorf("%s is not signed in: `tributary signins list` shows who is", quote(name))
		case 1:
			user = called[0]
		default:
			return 0, fmt.Errorf("several people are called %s: write the USER of `tributary signins list` for the one you mean, %s", quote(name), strings.Join(called, " or "))
		}
	}
	for _, i := range all {
		if i.User != user {
			continue
		}
		if err := s.Delete(ctx, kindSignIn, i.ID); err != nil && !errors.Is(err, ErrUnknown) {
			return ended, err
		}
		ended++
	}
	return ended, nil
}

// EndSignIn ends a sign-in. Gateways that use the store refuse it within seconds.
func EndSignIn(ctx context.Context, s Store, id string) error {
	err := s.Delete(ctx, kindSignIn, id)
	if errors.Is(err, ErrUnknown) {
		return fmt.Errorf("there is no sign-in %s: `tributary signins list` shows them", quote(id))
	}
	return err
}

// byCookie finds the sign-in of a request of our own page.
func (g *Guard) byCookie(r *http.Request, a arrival) (sender, refusal) {
	// Another port of this host may have planted cookies of the same name.
	cookies := r.CookiesNamed(g.cookieFor(a))
	no := signInOver()
	for _, cookie := range cookies[:min(len(cookies), 4)] {
		s, why := g.signedIn(r.Context(), cookie.Value, pageSecret(r))
		if why == (refusal{}) {
			return s, why
		}
		if why != signInOver() {
			no = why
		}
	}
	return sender{}, no
}

// signedIn tells whose a sign-in is.
func (g *Guard) signedIn(ctx context.Context, cookie, page string) (sender, refusal) {
	id := signInID(cookie)
	_, doc, no := g.holder(ctx, id)
	switch {
	case no != (refusal{}):
		return sender{}, no
	case page == "":
		return sender{}, pageSecretMissing()
	case subtle.ConstantTimeCompare([]byte(digestOf(page)), []byte(doc.Page)) != 1:
		return sender{}, pageSecretWrong()
	}
	p, no := g.confirmed(ctx, cookie)
	if no != (refusal{}) {
		return sender{}, no
	}
	return sender{principal: p, signIn: id, still: func(ctx context.Context) bool {
		_, no := g.confirmed(ctx, cookie)
		return no == refusal{} || no == storeAway()
	}}, refusal{}
}

// confirmed is the person of a sign-in, after the provider was asked if it is time.
func (g *Guard) confirmed(ctx context.Context, cookie string) (Principal, refusal) {
	if no := g.confirm(ctx, cookie); no != (refusal{}) {
		return Principal{}, no
	}
	p, _, no := g.holder(ctx, signInID(cookie))
	return p, no
}

// holder finds the person of a sign-in as they are now.
func (g *Guard) holder(ctx context.Context, id string) (Principal, signInDoc, refusal) {
	e, doc, err := g.entryOf(ctx, id)
	switch {
	case errors.Is(err, ErrUnknown):
		return Principal{}, doc, signInOver()
	case err != nil:
		g.logger.Error("a sign-in cannot be read", "error", err)
		return Principal{}, doc, storeAway()
	case doc.Token == "":
		return doc.principal(e.Expires), doc, refusal{}
	}
	digest, err := hex.DecodeString(doc.Token)
	if err != nil {
		return Principal{}, doc, signInOver()
	}
	p, ok, no := g.byTokenDigest(ctx, digest)
	if no == (refusal{}) && !ok {
		no = signInOver()
	}
	p.Expires = e.Expires
	return p, doc, no
}

// pageSecret is the second secret, from the header or a subprotocol.
func pageSecret(r *http.Request) string {
	if values := r.Header.Values(pageHeader); len(values) > 0 {
		return strings.Join(values, ",")
	}
	secret, _ := subprotocol(r, pageSubprotocol)
	return secret
}

// cookieFor is the name of the cookie of sign-ins. Under https no other host can plant a
// cookie of that name.
func (g *Guard) cookieFor(a arrival) string {
	if g.secure(a) {
		return "__Host-" + g.cookie
	}
	return g.cookie
}

// secure reports whether cookies are for https only.
func (g *Guard) secure(a arrival) bool { return a.secure() || g.url.https() }

// setCookie gives the browser a sign-in. An empty value ends it.
func (g *Guard) setCookie(w http.ResponseWriter, a arrival, value string) {
	c := &http.Cookie{ //nolint:gosec // Secure would lose the cookie where there is no TLS, as on loopback
		Name: g.cookieFor(a), Value: value, Path: "/", Secure: g.secure(a), HttpOnly: true, SameSite: http.SameSiteStrictMode,
		MaxAge: int(g.lifetime.Seconds()),
	}
	if value == "" {
		c.MaxAge = -1
	}
	http.SetCookie(w, c)
}
