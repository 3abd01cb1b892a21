package openid_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"github.com/tributary-dev/tributary/access"
	"github.com/tributary-dev/tributary/access/openid"
)

// Strangers may ask for a sign-in as often as they like. Each question would wait for a provider
// that is away, one behind the other.
func TestAProviderThatIsAwayIsNotAskedForEachStranger(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	left, leave := context.WithCancel(t.Context())
	t.Cleanup(leave)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		leave()
		w.WriteHeader(http.StatusBadGateway)
	}))
	t.Cleanup(srv.Close)
	p, err := openid.New(openid.Config{Issuer: srv.URL, ClientID: "web"})
	if err != nil {
		t.Fatal(err)
	}
	_, _ = p.AuthURL(left, "http://127.0.0.1/auth/callback", access.Secrets{}) // a stranger who leaves meanwhile
	for range 10 {
		if _, err := p.AuthURL(t.Context(), "http://127.0.0.1/auth/callback", access.Secrets{}); err == nil {
			t.Error("a provider that is away signs people in")
		}
	}
	if n := asked.Load(); n != 1 {
		t.Errorf("the provider was asked %d times for 10 strangers", n)
	}
}

// site is an OpenID provider with one key.
type site struct {
	*httptest.Server
	t         *testing.T
	key       *ecdsa.PrivateKey
	discovery string // more of the discovery document
	groups    []string
	refusal   string // the error of a refresh
	status    int    // of it
	noID      bool   // a refresh gives no ID token
	keys      atomic.Int32
}

func newSite(t *testing.T, discovery string) *site {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	s := &site{t: t, key: key, discovery: discovery, groups: []string{"staff"}}
	mux := http.NewServeMux()
	s.Server = httptest.NewServer(mux)
	t.Cleanup(s.Close)
	mux.HandleFunc("/.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"issuer":%q,"authorization_endpoint":%q,"token_endpoint":%q,"jwks_uri":%q,"id_token_signing_alg_values_supported":["ES256"]%s}`, s.URL, s.URL+"/authorize", s.URL+"/token", s.URL+"/keys", s.discovery)
	})
	mux.HandleFunc("/keys", func(w http.ResponseWriter, _ *http.Request) {
		s.keys.Add(1)
		_ = json.NewEncoder(w).Encode(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: &key.PublicKey, KeyID: "k1", Use: "sig", Algorithm: "ES256"}}})
	})
	mux.HandleFunc("/token", s.token)
	return s
}

func (s *site) token(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	refreshes := r.FormValue("grant_type") == "refresh_token"
	if refreshes && (s.refusal != "" || r.FormValue("refresh_token") != "r1") {
		w.WriteHeader(s.status)
		fmt.Fprintf(w, `{"error":%q}`, s.refusal)
		return
	}
	answer := map[string]any{"access_token": "a", "token_type": "Bearer", "expires_in": 300, "refresh_token": "r1"}
	if !refreshes || !s.noID {
		signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: jose.JSONWebKey{Key: s.key, KeyID: "k1"}}, nil)
		if err != nil {
			s.t.Error(err)
			return
		}
		text, err := jwt.Signed(signer).Claims(jwt.Claims{
			Issuer: s.URL, Subject: "ada", Audience: jwt.Audience{"web"}, Expiry: jwt.NewNumericDate(time.Now().Add(time.Hour)),
		}).Claims(map[string]any{"nonce": "n", "groups": s.groups}).Serialize()
		if err != nil {
			s.t.Error(err)
			return
		}
		answer["id_token"] = text
	}
	_ = json.NewEncoder(w).Encode(answer)
}

const back = "http://127.0.0.1/auth/callback"

func newProvider(t *testing.T, c openid.Config) *openid.Provider {
	t.Helper()
	c.ClientID = "web"
	p, err := openid.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// What a refresh says, and what of it ends a sign-in. The keys are read once for all of them.
func TestARefresh(t *testing.T) {
	t.Parallel()
	s := newSite(t, "")
	p := newProvider(t, openid.Config{Issuer: s.URL})
	for range 2 {
		told, err := p.Redeem(t.Context(), back, "c", access.Secrets{Nonce: "n", Verifier: "v"})
		if err != nil || told.Refresh != "r1" || told.Claims["sub"] != "ada" {
			t.Fatal(told, err)
		}
	}
	for name, c := range map[string]struct {
		refusal string
		status  int
		over    bool
	}{
		"removed":            {"invalid_grant", 400, true},
		"has to sign in":     {"interaction_required", 400, true},
		"removed, as 403":    {"invalid_grant", 403, true},
		"a changed secret":   {"invalid_client", 401, false},
		"out of order":       {"server_error", 500, false},
		"a page of a proxy":  {"", 502, false},
		"too many questions": {"slow_down", 429, false},
	} {
		s.refusal, s.status = c.refusal, c.status
		token := "r1"
		if c.refusal == "" {
			token = "other"
		}
		if _, err := p.Refresh(t.Context(), token); err == nil || errors.Is(err, access.ErrSignInOver) != c.over {
			t.Errorf("%s: %v", name, err)
		}
	}
	s.refusal, s.groups = "", []string{"platform"}
	told, err := p.Refresh(t.Context(), "r1")
	if groups, _ := told.Claims["groups"].([]any); err != nil || len(groups) != 1 || groups[0] != "platform" {
		t.Errorf("a refresh tells %v, %v", told, err)
	}
	s.noID = true
	if told, err := p.Refresh(t.Context(), "r1"); err != nil || told.Claims != nil {
		t.Errorf("a refresh without an ID token tells %v, %v", told, err)
	}
	if n := s.keys.Load(); n != 1 {
		t.Errorf("the keys were read %d times", n)
	}
	s.Close()
	if _, err := p.Refresh(t.Context(), "r1"); err == nil || errors.Is(err, access.ErrSignInOver) {
		t.Errorf("a provider that is away: %v", err)
	}
}

// The gateway asks for a refresh token where the provider offers that, unless the configuration
// names the scopes.
func TestScopes(t *testing.T) {
	t.Parallel()
	const offers = `,"scopes_supported":["openid","offline_access"]`
	for name, c := range map[string]struct {
		discovery string
		scopes    []string
		want      string
	}{
		"offered":     {offers, nil, "openid profile email offline_access"},
		"not offered": {`,"scopes_supported":["openid"]`, nil, "openid profile email"},
		"not said":    {"", nil, "openid profile email"},
		"named":       {offers, []string{"groups"}, "openid groups"},
	} {
		p := newProvider(t, openid.Config{Issuer: newSite(t, c.discovery).URL, Scopes: c.scopes})
		to, err := p.AuthURL(t.Context(), back, access.Secrets{})
		if err != nil {
			t.Fatal(err)
		}
		at, err := url.Parse(to)
		if got := at.Query().Get("scope"); err != nil || got != c.want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}
