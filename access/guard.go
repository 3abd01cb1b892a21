package access

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// Guard lets requests through or refuses them. Make one with New.
type Guard struct {
	mode     Mode
	hosts    hostList
	origins  originList
	keys     keyring
	jwt      *verifier // nil: JSON Web Tokens are unknown here
	side     string    // that judges unknown tokens; "": nobody does
	minted   string
	cookie   string // its name
	public   func(*http.Request) bool
	groups   map[string][]string
	turnAway func(w http.ResponseWriter, r *http.Request) bool
	refuse   func(w http.ResponseWriter, r *http.Request, status int, code, sentence string)
}

// New makes a Guard. In token mode it reads the owner's token, or mints it when
// the file does not exist. Its errors say what to change.
func New(c Config) (*Guard, error) {
	g := &Guard{mode: c.Mode, side: c.PassThrough, public: c.Public, groups: c.Groups, turnAway: c.TurnAway, refuse: c.Refuse}
	if g.mode == "" {
		g.mode = ModeToken
	}
	if g.public == nil {
		g.public = func(*http.Request) bool { return false }
	}
	if g.turnAway == nil {
		g.turnAway = func(http.ResponseWriter, *http.Request) bool { return false }
	}
	if g.refuse == nil {
		g.refuse = RefuseJSON
	}
	var err error
	if g.hosts, err = newHostList(c.Listen, c.AllowHosts); err != nil {
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
			g.jwt, err = newVerifier(c.JWT, g.taken, cmp.Or(c.Logger, slog.New(slog.DiscardHandler)))
		}
	default:
		err = fmt.Errorf("access mode %q is unknown; use token, jwt or none", c.Mode)
	}
	if err != nil {
		return nil, err
	}
	g.cookie = g.keys.cookieName()
	return g, nil
}

func (g *Guard) readTokens(c Config) error {
	if c.TokenFile == "" && len(c.Tokens) == 0 && g.mode == ModeToken {
		return fmt.Errorf("access mode token has no token; give a token file or configure one")
	}
	if c.TokenFile != "" {
		token, err := loadOrMint(c.TokenFile)
		if err != nil {
			return err
		}
		if err := g.keys.add(token, owner()); err != nil {
			return err
		}
		g.minted = token
	}
	for _, t := range c.Tokens {
		if strings.TrimSpace(t.Name) == "" {
			return fmt.Errorf("a configured token has no name; give it one")
		}
		if c.PassThrough != "" && strings.HasPrefix(t.Name, GuestID(c.PassThrough, "")) {
			return fmt.Errorf("a token is named %q, as those are who come through %s; give it another name", t.Name, c.PassThrough)
		}
		if !t.Role.known() {
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
		w.Header().Add("Vary", "Origin")
		host, ok := parseAuthority(r.Host)
		if !ok || !g.hosts.allows(host) {
			g.refuseWith(w, r, hostRefused(r.Host))
			return
		}
		from := g.origins.judge(r, host)
		if from == foreign {
			g.refuseWith(w, r, originRefused(g.mode, strings.Join(r.Header.Values("Origin"), ", ")))
			return
		}
		if from != unsaid {
			share(w, r)
		}
		site := fetchSite(r)
		switch {
		case isPreflight(r):
			answerPreflight(w, r)
			return
		case from == unsaid && changesState(r) && site != "" && !ourSite(site):
			g.refuseWith(w, r, crossSite())
			return
		case g.turnAway(w, r):
			return
		case g.wantsExchange(r) && site != "" && !ourSite(site): // it would sign the browser in as somebody else
			g.refuseWith(w, r, crossSite())
			return
		case g.wantsExchange(r):
			g.exchange(w, r)
			return
		}
		who, no := g.identify(r, from, site)
		switch {
		case no == refusal{}:
			if !who.isGuest {
				who.principal = g.grouped(who.principal)
			}
			r = r.WithContext(who.in(r.Context()))
		case changesState(r) || r.Method == http.MethodOptions || !g.public(r):
			g.refuseWith(w, r, no)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// sender is who sent a request.
type sender struct {
	principal Principal
	guest     Guest // if isGuest
	isGuest   bool
}

func (s sender) in(ctx context.Context) context.Context {
	if s.isGuest {
		ctx = WithGuest(ctx, s.guest)
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

// identify says who sent r, or why that counts for nothing. What a browser adds by
// itself (the cookie; in mode none, being on this machine) is believed only in a
// request of our own page.
func (g *Guard) identify(r *http.Request, from source, site string) (sender, refusal) {
	if g.mode == ModeNone {
		// Programs send neither header, and are welcome here.
		if from == own || from == unsaid && (site == "" || ourSite(site)) {
			return sender{principal: owner()}, refusal{}
		}
		return sender{}, crossSite()
	}
	if token, ok := bearer(r); ok {
		return g.bearing(r.Context(), token)
	}
	cookies := r.CookiesNamed(g.cookie)
	if len(cookies) == 0 {
		return sender{}, tokenMissing(g.mode)
	}
	if from != own && !(from == unsaid && ourSite(site)) {
		return sender{}, cookieElsewhere()
	}
	// Another port of this host may have planted one of the same name.
	for _, cookie := range cookies {
		if c, ok := g.keys.byCookie(cookie.Value); ok {
			return sender{principal: c.principal}, refusal{}
		}
	}
	return sender{}, tokenWrong()
}

// bearing says whose a bearer token is. What has the shape of a JSON Web Token is one
// where those are known here: one that counts no more is nobody's, not a guest's.
func (g *Guard) bearing(ctx context.Context, token string) (sender, refusal) {
	if c, ok := g.keys.byToken(token); ok {
		return sender{principal: c.principal}, refusal{}
	}
	if g.jwt != nil && isJWT(token) {
		p, no := g.jwt.principal(ctx, token)
		return sender{principal: p}, no
	}
	if g.side == "" || !validToken(token) {
		return sender{}, tokenWrong()
	}
	guest := NewGuest(token)
	return sender{guest.Known(g.side, "", 0), guest, true}, refusal{}
}

// taken reports whether a name is that of a token of ours, or of the other side.
func (g *Guard) taken(id string) bool {
	if id == ownerID || g.side != "" && strings.HasPrefix(id, GuestID(g.side, "")) {
		return true
	}
	return slices.ContainsFunc(g.keys, func(c credential) bool { return c.principal.ID == id })
}
