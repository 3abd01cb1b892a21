package access

import (
	"fmt"
	"net/http"
	"strings"
)

// Guard lets requests through or refuses them. Make one with New.
type Guard struct {
	mode     Mode
	hosts    hostList
	origins  originList
	keys     keyring
	minted   string
	public   func(*http.Request) bool
	turnAway func(w http.ResponseWriter, r *http.Request) bool
	refuse   func(w http.ResponseWriter, r *http.Request, status int, code, sentence string)
}

// New makes a Guard. In token mode it reads the owner's token, or mints it when
// the file does not exist. Its errors say what to change.
func New(c Config) (*Guard, error) {
	g := &Guard{mode: c.Mode, public: c.Public, turnAway: c.TurnAway, refuse: c.Refuse}
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
	default:
		err = fmt.Errorf("access mode %q is unknown; use token or none", c.Mode)
	}
	if err != nil {
		return nil, err
	}
	return g, nil
}

func (g *Guard) readTokens(c Config) error {
	if c.TokenFile == "" && len(c.Tokens) == 0 {
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
		if !t.Role.known() {
			return fmt.Errorf("token %q has no role; use viewer, collaborator or owner", t.Name)
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
		case g.wantsExchange(r):
			g.exchange(w, r)
			return
		}
		p, no := g.identify(r, from, site)
		switch {
		case no == refusal{}:
			r = r.WithContext(With(r.Context(), p))
		case changesState(r) || r.Method == http.MethodOptions || !g.public(r):
			g.refuseWith(w, r, no)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// identify says who sent r, or why that counts for nothing. What a browser adds
// by itself (the cookie; in mode none, being on this machine) is believed only
// in a request of our own page.
func (g *Guard) identify(r *http.Request, from source, site string) (Principal, refusal) {
	if g.mode == ModeNone {
		// Programs send neither header, and are welcome here.
		if from == own || from == unsaid && (site == "" || ourSite(site)) {
			return owner(), refusal{}
		}
		return Principal{}, crossSite()
	}
	if token, ok := bearer(r); ok {
		if c, ok := g.keys.byToken(token); ok {
			return c.principal, refusal{}
		}
		return Principal{}, tokenWrong()
	}
	cookies := r.CookiesNamed(cookieName)
	if len(cookies) == 0 {
		return Principal{}, tokenMissing()
	}
	if from != own && !(from == unsaid && ourSite(site)) {
		return Principal{}, cookieElsewhere()
	}
	// Another port of this host may have planted one of the same name.
	for _, cookie := range cookies {
		if c, ok := g.keys.byCookie(cookie.Value); ok {
			return c.principal, refusal{}
		}
	}
	return Principal{}, tokenWrong()
}
