package access

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/go-jose/go-jose/v4"
)

const opaque = "sk_0123456789abcdef0123456789abcdef"

//evidence:for limit-token
func TestB04_UnknownTokensPassThrough(t *testing.T) {
	t.Parallel()
	through := func(c *Config) { c.PassThrough = "ops" }
	if got := bring(newGuard(t, nil), opaque); got != "token_wrong" {
		t.Errorf("by default: %s", got)
	}
	g := newGuard(t, through)
	if got := bring(g, viewToken); got != "wall viewer" {
		t.Errorf("a token of ours: %s", got)
	}
	got := bring(g, opaque)
	if !strings.HasPrefix(got, "ops:token-") || !strings.HasSuffix(got, " none") || strings.Contains(got, opaque) {
		t.Errorf("a pass-through token: %s", got)
	}
	if again := bring(g, opaque); again != got {
		t.Errorf("the same token is %s, then %s", got, again)
	}
	for _, bad := range []string{"", "two words", "a\x00b", strings.Repeat("a", maxTokenFile+1)} {
		if got := bring(g, bad); got != "token_wrong" {
			t.Errorf("%.20q: %s", bad, got)
		}
	}
	s := signer{"", jose.EdDSA, newEdKey(t)}
	both := newGuard(t, func(c *Config) {
		jwtMode(JWT{KeyFile: s.pem(t)})(c)
		through(c)
	})
	if got := bring(both, s.token(t, claims{"exp": 1})); got != "token_expired" {
		t.Errorf("a token that counts no more is no pass-through token: %s", got)
	}
	if got := bring(both, s.token(t, claims{"sub": "ops:ada"})); got != "token_wrong" {
		t.Errorf("a name of the other side: %s", got)
	}
	if got := bring(both, opaque); !strings.HasSuffix(got, " none") {
		t.Errorf("a pass-through token beside JWT: %s", got)
	}
	if _, err := New(Config{Mode: ModeNone, Listen: "127.0.0.1:1", PassThrough: "ops"}); err == nil {
		t.Error("mode none passes tokens on")
	}
}

func TestPassThroughTokensAreNotPrinted(t *testing.T) {
	t.Parallel()
	var got PassThrough
	g := newGuard(t, func(c *Config) { c.PassThrough = "ops" })
	r := httptest.NewRequest("GET", "/api/sessions", nil)
	r.Host = "127.0.0.1:8787"
	r.Header.Set("Authorization", "Bearer "+opaque)
	g.Wrap(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got, _ = PassThroughOf(r.Context()) })).ServeHTTP(httptest.NewRecorder(), r)
	if got.Bearer() != opaque {
		t.Fatalf("the token is %q", got.Bearer())
	}
	for _, text := range []string{fmt.Sprint(got), fmt.Sprintf("%+v %#v", got, got), got.Known("ops", "", Viewer).ID} {
		if strings.Contains(text, opaque) {
			t.Errorf("%s", text)
		}
	}
	if p := got.Known("ops", "ada", Collaborator); p.ID != "ops:ada" || p.Role != Collaborator {
		t.Errorf("%+v", p)
	}
	if p := got.Known("ops", "a\nb", Viewer); !strings.HasPrefix(p.ID, "ops:token-") {
		t.Errorf("%+v", p)
	}
}
