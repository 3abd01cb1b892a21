package access

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-jose/go-jose/v4"
)

const fromOurPage = "Origin: http://127.0.0.1:8787"

// signsInByToken has the page send a token, and returns the headers that the page sends from then on.
func signsInByToken(t *testing.T, g *Guard, token string) []string {
	t.Helper()
	w := ask(g, "POST /auth/sign-in", "Authorization: Bearer "+token, fromOurPage)
	cookie, err := http.ParseSetCookie(w.Header().Get("Set-Cookie"))
	var answer struct{ Page string }
	if err != nil || w.Code != http.StatusOK || json.Unmarshal(w.Body.Bytes(), &answer) != nil || len(answer.Page) < 26 || w.Header().Get("Cache-Control") != "no-store" {
		t.Fatalf("%d %v %s", w.Code, w.Header(), w.Body)
	}
	return []string{"Cookie: " + cookie.Name + "=" + cookie.Value, pageHeader + ": " + answer.Page, "Sec-Fetch-Site: same-origin"}
}

func TestThePageSignsInWithATokenWhereItIs(t *testing.T) {
	t.Parallel()
	s := signer{"", jose.EdDSA, newEdKey(t)}
	g := newGuard(t, jwtMode(JWT{KeyFile: s.pem(t), RoleClaim: "role"}))
	for token, want := range map[string]string{
		g.minted: "operator admin", viewToken: "wall viewer", s.token(t, claims{"role": "collaborator"}): "ada collaborator",
	} {
		if w := ask(g, "GET /api/sessions", signsInByToken(t, g, token)...); w.Code != http.StatusOK || w.Body.String() != want {
			t.Errorf("%s: %d %s", want, w.Code, w.Body)
		}
	}
	all, err := SignIns(t.Context(), g.signIns.Store)
	by := map[string]string{}
	for _, s := range all {
		by[s.User] = s.By
	}
	if err != nil || by["operator"] != "token" || by["wall"] != "token" || by["ada"] != "jwt" {
		t.Errorf("the list says %v, %v", by, err)
	}
}

// Another page must not sign the browser in, and a program has no use for a cookie.
func TestOnlyOurPageSignsInWithAToken(t *testing.T) {
	t.Parallel()
	g := newGuard(t, func(c *Config) { c.AllowOrigins = []string{"https://app.example.com"} })
	for name, c := range map[string]struct {
		status  int
		headers []string
	}{
		"a page that may use the gateway": {http.StatusConflict, []string{"Authorization: Bearer " + g.minted, "Origin: https://app.example.com"}},
		"a foreign page":                  {http.StatusForbidden, []string{"Authorization: Bearer " + g.minted, "Origin: https://evil.com"}},
		"a program":                       {http.StatusConflict, []string{"Authorization: Bearer " + g.minted}},
		"no token":                        {http.StatusUnauthorized, []string{fromOurPage}},
		"a wrong token":                   {http.StatusUnauthorized, []string{"Authorization: Bearer wrong", fromOurPage}},
	} {
		w := ask(g, "POST /auth/sign-in", c.headers...)
		if w.Code != c.status || w.Header().Get("Set-Cookie") != "" || strings.Contains(w.Body.String(), g.minted) {
			t.Errorf("%s: %d %v %s", name, w.Code, w.Header(), w.Body)
		}
	}
	cookie := signedIn(t, g, g.minted)
	if w := ask(g, "POST /auth/sign-in", cookie, fromOurPage); w.Code != http.StatusConflict {
		t.Errorf("a sign-in without a token: %d %s", w.Code, w.Body)
	}
}

func TestASignInByAJWTEndsWithItAndKeepsItsSessions(t *testing.T) {
	t.Parallel()
	s := signer{"", jose.EdDSA, newEdKey(t)}
	j := jwtMode(JWT{KeyFile: s.pem(t), SessionClaim: "session", Leeway: time.Millisecond})
	synctest.Test(t, func(t *testing.T) {
		g := newGuard(t, j)
		page := signsInByToken(t, g, s.token(t, claims{"session": "one", "exp": time.Now().Add(time.Minute).Unix()}))
		all, err := SignIns(t.Context(), g.signIns.Store)
		if err != nil || len(all) != 1 {
			t.Fatal(all, err)
		}
		p, _, no := g.holder(t.Context(), all[0].ID)
		if no != (refusal{}) || !p.May("one") || p.May("two") {
			t.Errorf("%+v: one %v, two %v", no, p.May("one"), p.May("two"))
		}
		time.Sleep(59 * time.Second)
		if w := ask(g, "GET /api/sessions", page...); w.Code != http.StatusOK {
			t.Errorf("before the end: %d %s", w.Code, w.Body)
		}
		time.Sleep(2 * time.Second)
		if w := ask(g, "GET /api/sessions", page...); w.Code != http.StatusUnauthorized {
			t.Errorf("after it: %d %s", w.Code, w.Body)
		}
	})
}
