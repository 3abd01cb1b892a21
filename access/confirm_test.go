package access

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// idp is an OpenID provider whose answers a test chooses.
type idp struct {
	redeem, refresh Told
	err             error // of both
	refreshes       []string
	begun           int
}

func (p *idp) AuthURL(_ context.Context, _ string, s Secrets) (string, error) {
	p.begun++
	return "https://id.example.com/?state=" + s.State, p.err
}

func (p *idp) Redeem(context.Context, string, string, Secrets) (Told, error) { return p.redeem, p.err }

func (p *idp) Refresh(_ context.Context, refresh string) (Told, error) {
	p.refreshes = append(p.refreshes, refresh)
	return p.refresh, p.err
}

// adaIs are the claims of somebody with groups.
func adaIs(groups ...any) map[string]any { return map[string]any{"sub": "ada", "groups": groups} }

func withIDP(p *idp, s Store) func(*Config) {
	return func(c *Config) {
		c.PublicURL, c.Store = "http://127.0.0.1:8787", s
		c.SignIn = &OpenID{p, Claims{RoleClaim: "groups", Roles: map[string]Role{"staff": Collaborator, "platform": Admin}, GroupClaim: "groups"}}
	}
}

// signsInAt signs a browser in with the provider, and returns the headers that its page then sends.
func signsInAt(t *testing.T, g *Guard) string {
	t.Helper()
	w := ask(g, "GET /auth/sign-in?page=mine", "Sec-Fetch-Site: same-origin")
	to, err := url.Parse(w.Header().Get("Location"))
	attempt, bad := http.ParseSetCookie(w.Header().Get("Set-Cookie"))
	if err != nil || bad != nil {
		t.Fatal(w.Code, err, bad, w.Body)
	}
	w = ask(g, "GET /auth/callback?code=c&state="+to.Query().Get("state"), "Cookie: "+attempt.Name+"="+attempt.Value)
	back, err := url.Parse(w.Header().Get("Location"))
	values, bad := url.ParseQuery(back.Fragment)
	if err != nil || bad != nil || values.Get("page") == "" {
		t.Fatal(w.Code, w.Body)
	}
	for _, line := range w.Header().Values("Set-Cookie") {
		if c, err := http.ParseSetCookie(line); err == nil && c.Name == g.cookie {
			return "Cookie: " + c.Name + "=" + c.Value + "\n" + pageHeader + ": " + values.Get("page") + "\nSec-Fetch-Site: same-origin"
		}
	}
	t.Fatal("no cookie")
	return ""
}

// Somebody whom the provider no longer knows is out within an hour. An outage of the provider
// signs nobody out at once.
func TestTheProviderConfirmsASignInEachHour(t *testing.T) {
	t.Parallel()
	const over = "sign_in_over"
	type step struct {
		after time.Duration // since the last step
		want  string
		asked int // refreshes so far
	}
	for name, c := range map[string]struct {
		gives   string // the refresh token of the sign-in
		refresh Told
		err     error
		steps   []step
	}{
		"still there":           {"refresh-1", Told{adaIs("staff"), "refresh-2"}, nil, []step{{30 * time.Minute, "ada collaborator", 0}, {31 * time.Minute, "ada collaborator", 1}, {time.Minute, "ada collaborator", 1}, {time.Hour, "ada collaborator", 2}}},
		"another role":          {"refresh-1", Told{adaIs("platform"), ""}, nil, []step{{time.Hour, "ada admin", 1}}},
		"no ID token":           {"refresh-1", Told{nil, ""}, nil, []step{{time.Hour, "ada collaborator", 1}, {50 * time.Minute, "ada collaborator", 2}}},
		"refused":               {"refresh-1", Told{}, ErrSignInOver, []step{{time.Hour, over, 1}, {time.Minute, over, 1}}},
		"no group any more":     {"refresh-1", Told{adaIs(), ""}, nil, []step{{time.Hour, over, 1}}},
		"somebody else":         {"refresh-1", Told{map[string]any{"sub": "eve", "groups": []any{"staff"}}, ""}, nil, []step{{time.Hour, over, 1}}},
		"away":                  {"refresh-1", Told{}, errors.New("connection refused"), []step{{time.Hour, "ada collaborator", 1}, {time.Second, "ada collaborator", 1}, {time.Minute, "ada collaborator", 2}, {59 * time.Minute, over, 2}}},
		"no refresh token":      {"", Told{}, nil, []step{{59 * time.Minute, "ada collaborator", 0}, {time.Minute, over, 0}}},
		"a token of a megabyte": {strings.Repeat("x", 1<<20), Told{}, nil, []step{{time.Hour, over, 0}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p := &idp{redeem: Told{adaIs("staff"), c.gives}}
				s := NewMemory()
				g := newGuard(t, withIDP(p, s))
				page := signsInAt(t, g)
				p.refresh, p.err = c.refresh, c.err
				for i, step := range c.steps {
					time.Sleep(step.after)
					if w := ask(g, "GET /api/sessions", page); !strings.Contains(w.Body.String(), step.want) || len(p.refreshes) != step.asked {
						t.Fatalf("step %d: %d %s after %d refreshes, want %s after %d", i, w.Code, w.Body, len(p.refreshes), step.want, step.asked)
					}
				}
				// The token's name is long enough never to stand in random base64 by chance.
				if all, err := s.List(t.Context(), kindSignIn, ""); err != nil || len(all) > 0 && strings.Contains(string(all[0].Doc), "refresh-1") {
					t.Errorf("the store tells %s, %v", all, err)
				}
				want := []string{"refresh-1", "refresh-2"}
				for i, got := range p.refreshes {
					if c.refresh.Refresh == "refresh-2" && got != want[i] {
						t.Errorf("refresh %d has the token %s", i, got)
					}
				}
			})
		})
	}
}

// Gateways of one store ask once: many providers take a refresh token only once. A stream that is
// open asks too.
func TestOneGatewayOfAllAsksTheProvider(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := NewMemory()
		p := &idp{redeem: Told{adaIs("staff"), "refresh-1"}, refresh: Told{adaIs("staff"), "refresh-2"}}
		one := newGuard(t, withIDP(p, s))
		page := signsInAt(t, one)
		other := newGuard(t, withIDP(p, s))
		other.cookie = one.cookie
		time.Sleep(confirmAfter - time.Second)
		ask(other, "GET /api/sessions", page) // and remembers for a moment what it has read
		time.Sleep(time.Second)
		for _, g := range []*Guard{one, other, other, one} {
			if w := ask(g, "GET /api/sessions", page); w.Code != http.StatusOK {
				t.Errorf("%d %s", w.Code, w.Body)
			}
		}
		if len(p.refreshes) != 1 {
			t.Errorf("the provider was asked with %v", p.refreshes)
		}
		// A stream asks too, as long as it is open.
		p.err = ErrSignInOver
		cookie, _, _ := strings.Cut(strings.TrimPrefix(page, "Cookie: "+one.cookie+"="), "\n")
		_, secret, _ := strings.Cut(strings.Split(page, "\n")[1], ": ")
		who, no := one.signedIn(t.Context(), cookie, secret)
		if no != (refusal{}) {
			t.Fatal(no)
		}
		time.Sleep(confirmedFor)
		if who.still(t.Context()) {
			t.Error("a stream goes on an hour after the provider ended its sign-in")
		}
	})
}

// What an older program has kept stays readable: its sign-ins have no confirmation, and no owner.
func TestASignInOfAnOlderProgram(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := NewMemory()
		g := newGuard(t, withIDP(&idp{}, s))
		for _, by := range []string{byOIDC, byJWT} {
			cookie := by + "-cookie"
			id := signInID(cookie)
			doc := `{"page":"` + digestOf("secret") + `","by":"` + by + `","user":"ada","name":"Ada","role":"collaborator"}`
			if err := s.Put(t.Context(), kindSignIn, Entry{ID: id, Name: id, Created: time.Now(), Expires: time.Now().Add(7 * 24 * time.Hour), Doc: []byte(doc)}); err != nil {
				t.Fatal(err)
			}
		}
		get := func(by string) string {
			return ask(g, "GET /api/sessions", "Cookie: "+g.cookie+"="+by+"-cookie", pageHeader+": secret", "Sec-Fetch-Site: same-origin").Body.String()
		}
		if all, err := SignInsOf(t.Context(), s, "ada"); err != nil || len(all) != 2 {
			t.Errorf("ada's sign-ins: %v, %v", all, err)
		}
		if all, err := SignInsOf(t.Context(), s, "bob"); err != nil || len(all) != 0 {
			t.Errorf("bob's sign-ins: %v, %v", all, err)
		}
		if got := get(byOIDC); got != "ada collaborator" {
			t.Errorf("at once: %s", got)
		}
		time.Sleep(confirmedFor)
		if got := get(byOIDC); !strings.Contains(got, "sign_in_over") {
			t.Errorf("after an hour: %s", got)
		}
		if got := get(byJWT); got != "ada collaborator" {
			t.Errorf("a sign-in by another way: %s", got)
		}
	})
}

// counted counts the questions to a store.
type counted struct {
	Store
	asked atomic.Int32
}

func (c *counted) Get(ctx context.Context, kind Kind, id string) (Entry, error) {
	c.asked.Add(1)
	return c.Store.Get(ctx, kind, id)
}

// A stranger who begins to sign in costs no question to the store, and has to wait after many
// failures. Wrong tokens from the same address keep nobody from signing in.
func TestStrangersWhoBeginToSignIn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, s := &idp{redeem: Told{adaIs("staff"), ""}}, &counted{Store: NewMemory()}
		g := newGuard(t, withIDP(p, s))
		begin := func(from string) int { return ask(g, "GET /auth/sign-in?page=mine", "From: "+from+":1").Code }
		begin("192.0.2.1")
		before := s.asked.Load()
		for range 3 * freeStrikes {
			if status := begin("192.0.2.1"); status != http.StatusSeeOther {
				t.Fatalf("to begin: %d", status)
			}
		}
		if n := s.asked.Load() - before; n > 0 {
			t.Errorf("the store was asked %d times", n)
		}
		for range 3 * freeStrikes {
			ask(g, "GET /api/sessions", "From: 192.0.2.1:1", "Authorization: Bearer "+newToken())
		}
		if status := begin("192.0.2.1"); status != http.StatusSeeOther {
			t.Errorf("after wrong tokens: %d", status)
		}
		for what, fails := range map[string]func(from string) int{
			"callbacks that nobody began": func(from string) int {
				return ask(g, "GET /auth/callback?code=x&state="+newToken(), "From: "+from+":1").Code
			},
			"a provider that is away": func(from string) int { p.err = errors.New("away"); return begin(from) },
		} {
			from, answers := "192.0.2."+string(rune('2'+len(what)%7)), map[int]int{}
			for range freeStrikes + 3 {
				answers[fails(from)]++
			}
			if answers[http.StatusTooManyRequests] != 3 {
				t.Errorf("%s: %v", what, answers)
			}
			p.err = nil
		}
	})
}
