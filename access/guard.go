package access

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
)

// ErrRevoked ends the context of a request whose credential was revoked meanwhile.
var ErrRevoked = errors.New("the token or the sign-in was revoked")

// Guard lets requests through or refuses them. Make one with New.
type Guard struct {
	mode     Mode
	url      publicURL
	proxies  proxies
	hosts    hostList
	origins  originList
	keys     keyring
	jwt      *verifier // nil: JSON Web Tokens are unknown here
	side     string    // that judges unknown tokens; "": nobody does
	minted   string    // "" also if only its hash is known
	link     link
	tokens   shelf
	signIns  shelf
	lifetime time.Duration
	app      bool          // stands in the place of the page
	openID   *openID       // nil: nobody signs in with a provider
	backoff  backoff       // of wrong tokens
	failed   backoff       // of sign-ins with the provider
	slow     chan struct{} // has room for one look-up of an address that has to wait
	revoked  error
	logger   *slog.Logger
	own      *http.ServeMux // the routes of the guard itself
	cookie   string         // its name without a prefix
	public   func(*http.Request) bool
	probe    func(*http.Request) bool
	groups   map[string][]string
	turnAway func(w http.ResponseWriter, r *http.Request) bool
	refuse   func(w http.ResponseWriter, r *http.Request, status int, code, sentence string)
}

// New makes a Guard. In token mode New reads the admin's token, or makes it when the file
// does not exist. Errors say what to change.
func New(c Config) (*Guard, error) {
	if c.Store == nil {
		c.Store = NewMemory()
	}
	g := &Guard{
		mode: c.Mode, side: c.PassThrough, public: c.Public, probe: c.Probe, groups: c.Groups, turnAway: c.TurnAway, refuse: c.Refuse,
		tokens: shelf{Store: c.Store, kind: KindToken}, signIns: shelf{Store: c.Store, kind: kindSignIn},
		slow: make(chan struct{}, 1), lifetime: cmp.Or(c.SignInLifetime, defaultLifetime), app: c.App, revoked: cmp.Or(c.Revoked, ErrRevoked), logger: cmp.Or(c.Logger, slog.New(slog.DiscardHandler)),
	}
	if g.mode == "" {
		g.mode = ModeToken
	}
	if g.public == nil {
		g.public = func(*http.Request) bool { return false }
	}
	if g.probe == nil {
		g.probe = func(*http.Request) bool { return false }
	}
	if g.turnAway == nil {
		g.turnAway = func(http.ResponseWriter, *http.Request) bool { return false }
	}
	if g.refuse == nil {
		g.refuse = RefuseJSON
	}
	var err error
	if g.url, err = newPublicURL(c.PublicURL); err != nil {
		return nil, fmt.Errorf("public_url %w", err)
	}
	if g.proxies, err = newProxies(c.TrustedProxies); err != nil {
		return nil, fmt.Errorf("trusted_proxies %w", err)
	}
	if g.hosts, err = newHostList(c.Listen, g.url, c.AllowHosts); err != nil {
		return nil, err
	}
	if g.origins, err = newOriginList(g.mode, c.AllowOrigins); err != nil {
		return nil, err
	}
	switch g.mode {
	case ModeNone:
		err = c.checkNone()
	case ModeToken:
		err = g.readTokens(c)
	case ModeJWT:
		err = g.readTokens(c)
		if err == nil {
			g.jwt, err = newVerifier(c.JWT, g.taken, g.logger)
		}
	default:
		err = fmt.Errorf("access mode %q is unknown; use token, jwt or none", c.Mode)
	}
	if err != nil {
		return nil, err
	}
	g.cookie = g.keys.cookieName()
	if c.SignIn != nil {
		if g.openID, err = newOpenID(*c.SignIn, g.url, g.taken); err != nil {
			return nil, err
		}
	}
	g.own = g.routes()
	return g, nil
}

func (g *Guard) readTokens(c Config) error {
	if c.TokenFile == "" && len(c.Tokens) == 0 && c.SignIn == nil && g.mode == ModeToken {
		return fmt.Errorf("access mode token has no token; give a token file or configure one")
	}
	if c.TokenFile != "" {
		f, err := loadOrMint(c.TokenFile, c.HashToken)
		if err != nil {
			return err
		}
		g.keys = keyring{{file: &firstFile{path: c.TokenFile, held: f, logger: g.logger}, principal: operator()}}
		if !c.HashToken {
			g.minted = f.text
		}
	}
	for _, t := range c.Tokens {
		if strings.TrimSpace(t.Name) == "" {
			return fmt.Errorf("a configured token has no name; give it one")
		}
		if c.PassThrough != "" && strings.HasPrefix(t.Name, PassThroughID(c.PassThrough, "")) {
			return fmt.Errorf("a token is named %q, as those are who come through %s; give it another name", t.Name, c.PassThrough)
		}
		if strings.HasPrefix(t.Name, namedMark) {
			return fmt.Errorf("a token is named %q, as those are that `tributary token create` makes; give it another name", t.Name)
		}
		if !t.Role.ofGateway() {
			return fmt.Errorf("token %q has no role; use viewer, collaborator or admin", t.Name)
		}
		value, err := t.value()
		if err != nil {
			return err
		}
		if err := g.keys.add(value, Principal{ID: t.Name, Name: t.Name, Role: t.Role}); err != nil {
			return err
		}
	}
	return nil
}

// Wrap returns a handler that calls next for the requests that may pass, with
// the Principal in their context, and answers the others and all preflights
// itself. It must stand before every handler that looks at what a request says.
func (g *Guard) Wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		admitted, leave := g.admit(w, r) //nolint:contextcheck // it is that of the request
		if admitted == nil {
			return
		}
		defer leave()
		next.ServeHTTP(w, admitted)
	})
}

// admit returns a request that may pass, with its Principal, and what to call when its handler is done. It answers
// all others itself, and returns nil.
func (g *Guard) admit(w http.ResponseWriter, r *http.Request) (admitted *http.Request, leave func()) {
	leave = func() {}
	w.Header().Add("Vary", "Origin")
	r, a, no := g.arrive(r)
	if no == (refusal{}) && a.from != unsaid {
		share(w, r)
	}
	switch {
	case g.probe(r):
		return r, leave
	case no != refusal{}:
		g.refuseWith(w, r, no)
		return nil, nil
	}
	stranger := a.site != "" && !ourSite(a.site) // a page of another site started the request
	switch {
	case isPreflight(r):
		answerPreflight(w, r)
		return nil, nil
	case a.from == unsaid && changesState(r) && stranger:
		g.refuseWith(w, r, crossSite())
		return nil, nil
	case g.turnAway(w, r):
		return nil, nil
	case (g.wantsExchange(r) || r.URL.Path == signInPath) && stranger: // it would sign the browser in as somebody else
		g.refuseExchange(w, r, crossSite())
		return nil, nil
	case g.wantsExchange(r):
		g.exchange(w, r, a)
		return nil, nil
	}
	who, no := g.identify(w, r, a)
	switch {
	case no == refusal{}:
		if !who.isPassThrough {
			who.principal = g.grouped(who.principal)
		}
		ctx := who.in(r.Context())
		if who.still != nil {
			ctx = context.WithValue(ctx, stillKey{}, who.still)
			ctx, leave = Watch(ctx, checkEvery, func(ctx context.Context) error {
				if who.still(ctx) {
					return nil
				}
				return g.revoked
			})
		}
		r = r.WithContext(ctx) //nolint:contextcheck // it is that of the request
	case g.signsIn(r):
	case changesState(r) || r.Method == http.MethodOptions || !g.public(r) || g.takes(r):
		g.refuseWith(w, r, no)
		return nil, nil
	}
	if g.takes(r) {
		defer leave()
		g.own.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), visitKey{}, visit{a, who}))) //nolint:contextcheck // it is that of the request
		return nil, nil
	}
	return r, leave
}

// arrive finds out how a request came, and refuses hosts and pages that are not allowed.
func (g *Guard) arrive(r *http.Request) (*http.Request, arrival, refusal) {
	name, scheme, client := g.proxies.unwrap(r)
	host, ok := parseAuthority(name)
	if !ok || !g.hosts.allows(host) {
		return r, arrival{}, hostRefused(name)
	}
	a := arrival{host: host, scheme: scheme, client: client, site: fetchSite(r)}
	ours := []origin{{scheme, host.withPort(scheme)}}
	if g.url.set() {
		ours = append(ours, g.url.origin)
	}
	a.from = g.origins.judge(r, ours...)
	if a.from == foreign {
		return r, a, originRefused(g.mode, strings.Join(r.Header.Values("Origin"), ", "))
	}
	return r, a, refusal{}
}

// sender is the sender of a request.
type sender struct {
	principal     Principal
	passThrough   PassThrough // if isPassThrough
	isPassThrough bool
	signIn        string // id of the sign-in of the page, if the request has its cookie
	// still reports whether the credential still counts; nil: it always does.
	still func(context.Context) bool
}

func (s sender) in(ctx context.Context) context.Context {
	if s.isPassThrough {
		ctx = WithPassThrough(ctx, s.passThrough)
	}
	return With(ctx, s.principal)
}

// grouped adds the groups that list a principal.
func (g *Guard) grouped(p Principal) Principal {
	for _, name := range slices.Sorted(maps.Keys(g.groups)) {
		if slices.Contains(g.groups[name], p.ID) && !slices.Contains(p.Groups, name) {
			p.Groups = append(slices.Clone(p.Groups), name)
		}
	}
	return p
}

// identify returns the sender of r, or why the request has none. Credentials that a browser
// adds by itself (the cookie; in mode none, the machine) count only in a request of our own
// page.
func (g *Guard) identify(w http.ResponseWriter, r *http.Request, a arrival) (sender, refusal) {
	if g.mode == ModeNone {
		// Programs send neither header, and are welcome here.
		if a.from == own || a.from == unsaid && (a.site == "" || ourSite(a.site)) {
			return sender{principal: operator()}, refusal{}
		}
		return sender{}, crossSite()
	}
	if token, ok := bearer(r); ok {
		leave, no := g.queue(r.Context(), a, token)
		if no != (refusal{}) {
			return sender{}, no
		}
		defer leave()
		s, no := g.bearing(r.Context(), token)
		if no.code == tokenWrong().code {
			no = g.wrong(w, a, token, no)
		}
		return s, no
	}
	if len(r.CookiesNamed(g.cookieFor(a))) == 0 {
		return sender{}, tokenMissing(g.mode)
	}
	if a.from != own && !(a.from == unsaid && ourSite(a.site)) {
		return sender{}, cookieElsewhere()
	}
	return g.byCookie(r, a)
}

// wrong counts a wrong token, and refuses it by no, or because its address has to wait.
func (g *Guard) wrong(w http.ResponseWriter, a arrival, token string, no refusal) refusal {
	if left := g.backoff.failed(a.client, token); left > 0 {
		return tooManyWrong(w, left)
	}
	return no
}

// bearing returns the holder of a bearer token. In mode jwt a token in the shape of a JSON
// Web Token is one: if it has expired, it is no pass-through token.
func (g *Guard) bearing(ctx context.Context, token string) (sender, refusal) {
	digest := sha256.Sum256([]byte(token))
	switch p, ok, no := g.byToken(ctx, token); {
	case no != (refusal{}):
		return sender{}, no
	case ok && (p.ID == operatorID || strings.HasPrefix(p.ID, namedMark)):
		return sender{principal: p, still: func(ctx context.Context) bool {
			_, ok, no := g.byTokenDigest(ctx, digest[:])
			return ok || no != refusal{}
		}}, refusal{}
	case ok:
		return sender{principal: p}, refusal{}
	}
	if g.jwt != nil && isJWT(token) {
		p, no := g.jwt.principal(ctx, token)
		return sender{principal: p}, no
	}
	if g.side == "" || !validToken(token) || strings.HasPrefix(token, tokenMark) {
		return sender{}, tokenWrong()
	}
	t := NewPassThrough(token)
	return sender{principal: t.Known(g.side, "", 0), passThrough: t, isPassThrough: true}, refusal{}
}

// ours reports whether a token could be one that `tributary token create` made. Only those are
// looked up in the store.
func ours(token string) bool { return strings.HasPrefix(token, tokenMark) && whole(token) }

// queue lets the look-ups of addresses that have to wait happen one after the other, so that
// guesses take no place from others. The caller calls leave after the look-up.
func (g *Guard) queue(ctx context.Context, a arrival, token string) (leave func(), no refusal) {
	if !ours(token) || g.backoff.left(a.client) == 0 {
		return func() {}, refusal{}
	}
	select {
	case g.slow <- struct{}{}:
		return func() { <-g.slow }, refusal{}
	case <-ctx.Done():
		return nil, storeAway()
	}
}

// byToken finds the holder of a configured or a created token.
func (g *Guard) byToken(ctx context.Context, token string) (Principal, bool, refusal) {
	digest := sha256.Sum256([]byte(token))
	if p, ok := g.keys.byDigest(digest[:]); ok || !ours(token) {
		return p, ok, refusal{}
	}
	return g.byTokenDigest(ctx, digest[:])
}

// byTokenDigest finds the holder of a configured or a created token.
func (g *Guard) byTokenDigest(ctx context.Context, digest []byte) (Principal, bool, refusal) {
	if p, ok := g.keys.byDigest(digest); ok {
		return p, true, refusal{}
	}
	e, err := g.tokens.find(ctx, hex.EncodeToString(digest))
	var n Named
	if err == nil {
		n, err = readNamed(e)
	}
	switch {
	case errors.Is(err, ErrUnknown):
		return Principal{}, false, refusal{}
	case err != nil:
		g.logger.Error("a token cannot be looked up", "error", err)
		return Principal{}, false, storeAway()
	}
	return n.principal(), true, refusal{}
}

// taken reports whether the holder of a token has the name, or may have it.
func (g *Guard) taken(id string) bool {
	if id == operatorID || strings.HasPrefix(id, namedMark) || g.side != "" && strings.HasPrefix(id, PassThroughID(g.side, "")) {
		return true
	}
	return slices.ContainsFunc(g.keys, func(c credential) bool { return c.principal.ID == id })
}
