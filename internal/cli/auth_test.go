package cli

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

// issuer is an OpenID provider on loopback: it says where its keys are, publishes them,
// and signs tokens.
type issuer struct {
	*httptest.Server
	key *ecdsa.PrivateKey
}

func newIssuer(t *testing.T) issuer {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	i := issuer{httptest.NewServer(mux), key}
	t.Cleanup(i.Close)
	mux.HandleFunc("/.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"issuer":%q,"jwks_uri":%q}`, i.URL, i.URL+"/keys")
	})
	mux.HandleFunc("/keys", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: &key.PublicKey, KeyID: "k1", Use: "sig", Algorithm: "ES256"}}})
	})
	return i
}

func (i issuer) token(t *testing.T, who string, groups []string, good time.Duration) string {
	t.Helper()
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: jose.JSONWebKey{Key: i.key, KeyID: "k1"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	text, err := jwt.Signed(signer).Claims(jwt.Claims{
		Issuer: i.URL, Subject: who, Audience: jwt.Audience{"tributary"}, Expiry: jwt.NewNumericDate(time.Now().Add(good)),
	}).Claims(map[string]any{"realm_access": map[string]any{"roles": groups}}).Serialize()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// by sends a request with another token.
func (s *server) by(token, method, path, body string) (int, string) {
	s.t.Helper()
	was := s.token
	defer func() { s.token = was }()
	s.token = token
	return s.do(method, path, body)
}

//evidence:for promise-private
func TestG08_G09_H19_ServeWithOpenID(t *testing.T) {
	t.Parallel()
	id := newIssuer(t)
	conf := file(t, "tributary.yaml", `
log_level: debug
auth:
  mode: jwt
  jwt:
    issuer: `+id.URL+`
    audience: [tributary]
    role_claim: realm_access.roles
    roles: {chat-user: collaborator, chat-admin: admin}
    leeway: 1s
agents: {demo: {options: {pace: 0s}}}
`)
	data := t.TempDir()
	s := startServer(t, data, "--config", conf)
	user := []string{"offline", "chat-user"}
	ada, bob, vera := id.token(t, "ada", user, time.Hour), id.token(t, "bob", user, time.Hour), id.token(t, "vera", nil, time.Hour)
	admin, late := id.token(t, "root", []string{"chat-admin"}, time.Hour), id.token(t, "ada", user, -time.Minute)
	stranger := newIssuer(t).token(t, "ada", user, time.Hour)
	for _, c := range []struct {
		token, method, path, body string
		status                    int
		says                      string
	}{
		{ada, "POST", "/api/chat", chat("s1", "hello"), 200, "[DONE]"},
		{ada, "POST", "/api/sessions/s1/chat", chat("x", "tool"), 200, "[DONE]"},
		{"", "POST", "/api/sessions/s1/chat", chat("x", "hello"), 401, "The token is not valid here"},
		{late, "POST", "/api/sessions/s1/chat", chat("x", "hello"), 401, "The token has expired: get a new one."},
		{stranger, "POST", "/api/sessions/s1/chat", chat("x", "hello"), 401, "The token is not valid here"},
		{ada, "POST", "/api/sessions/none/chat", chat("x", "hello"), 404, "There is no such session."},
		{bob, "POST", "/api/sessions/s1/chat", chat("x", "hello"), 404, "There is no such session."},
		{vera, "POST", "/api/sessions/s1/chat", chat("x", "hello"), 404, "There is no such session."},
		{bob, "GET", "/api/sessions/s1/messages", "", 404, "unknown_session"},
		{vera, "POST", "/api/chat", chat("s2", "hello"), 403, "Your role is viewer; this needs collaborator."},
		{ada, "PUT", "/api/sessions/s1/members/vera", `{"role":"viewer"}`, 200, `{"members":{"vera":"viewer"},"principal":"vera","unknown":true}`},
		{vera, "GET", "/api/sessions/s1/messages", "", 200, "I am the demo agent"},
		{vera, "POST", "/api/sessions/s1/chat", chat("x", "hello"), 404, "There is no such session."},
		{bob, "GET", "/api/sessions", "", 200, `{"sessions":[]}`},
		{vera, "GET", "/api/sessions", "", 200, `"owner":"ada","role":"viewer"`},
		{admin, "GET", "/api/sessions/s1", "", 200, `"role":"owner"`},
		{s.token, "GET", "/api/sessions/s1", "", 200, `"owner":"ada"`},
	} {
		if status, body := s.by(c.token, c.method, c.path, c.body); status != c.status || !strings.Contains(body, c.says) {
			t.Errorf("%s %s: %d %s, want %d and %s", c.method, c.path, status, body, c.status, c.says)
		}
	}
	// The stream of a token that is about to expire ends with it: there is nothing to wait
	// for but the clock of this machine.
	soon := id.token(t, "ada", user, time.Second)
	_, events := s.by(soon, "GET", "/api/sessions/s1/events", "")
	if !strings.HasSuffix(events, `,"code":"token_expired"}`+"\n\n") {
		t.Errorf("events ended with %s", events)
	}
	s.stop()
	for _, token := range []string{ada, bob, vera, admin, late, stranger, soon} {
		if strings.Contains(s.errors.String(), token) {
			t.Error("a token is in the log")
		}
	}
	// Owners and members are known after a restart.
	again := startServer(t, data, "--config", conf)
	for token, want := range map[string]int{ada: 200, bob: 404, vera: 200} {
		if status, body := again.by(token, "GET", "/api/sessions/s1/messages", ""); status != want {
			t.Errorf("after a restart: %d %s", status, body)
		}
	}
	if _, list := again.by(bob, "GET", "/api/sessions", ""); list != `{"sessions":[]}`+"\n" {
		t.Errorf("after a restart bob finds %s", list)
	}
}

// In mode jwt sessions may be shared, and in mode token they may be private.
func TestB08_SharingIsASetting(t *testing.T) {
	t.Parallel()
	key := file(t, "secret", "a-secret-of-thirty-two-bytes-or-so")
	shared := file(t, "tributary.yaml", "auth: {mode: jwt, sessions: shared, jwt: {secret_file: "+key+", default_role: collaborator}}\nlog_level: error\n")
	s := startServer(t, t.TempDir(), "--config", shared)
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.HS256, Key: []byte("a-secret-of-thirty-two-bytes-or-so")}, nil)
	if err != nil {
		t.Fatal(err)
	}
	s.do("POST", "/api/sessions", `{"id":"s1"}`)
	for _, who := range []string{"ada", "bob"} {
		token, err := jwt.Signed(signer).Claims(jwt.Claims{Subject: who, Expiry: jwt.NewNumericDate(time.Now().Add(time.Hour))}).Serialize()
		if err != nil {
			t.Fatal(err)
		}
		if status, body := s.by(token, "POST", "/api/sessions/s1/chat", chat(who, "hello")); status != 200 {
			t.Errorf("%s: %d %s", who, status, body)
		}
	}
	token := file(t, "token", "bob-0123456789abcdefghijkl")
	private := file(t, "tributary.yaml", "auth: {sessions: private, foreign_session: 403, tokens: [{name: bob, role: collaborator, token_file: "+token+"}]}\nlog_level: error\n")
	p := startServer(t, t.TempDir(), "--config", private)
	p.do("POST", "/api/chat", chat("s1", "hello"))
	if status, body := p.by("bob-0123456789abcdefghijkl", "POST", "/api/sessions/s1/chat", chat("x", "hello")); status != 403 || body != "This session belongs to somebody else." {
		t.Errorf("%d %s", status, body)
	}
}

func TestI01_AdapterSwitch(t *testing.T) {
	for said, want := range map[string]int{"": 200, "true": 200, "1": 200, "false": 404, "0": 404} {
		t.Setenv(adapterSwitch, said)
		s := startServer(t, t.TempDir(), "--log-level", "error")
		s.do("POST", "/api/sessions", `{"id":"s1"}`)
		if status, body := s.do("POST", "/api/sessions/s1/chat", chat("x", "hello")); status != want {
			t.Errorf("%q: %d %s", said, status, body)
		}
		if status, body := s.do("POST", "/api/chat", chat("s1", "hello")); status != 200 {
			t.Errorf("%q: the SDK's own route: %d %s", said, status, body)
		}
		s.stop()
	}
	t.Setenv(adapterSwitch, "off")
	r := command(t, "", "serve", "--listen", "127.0.0.1:0", "--data", t.TempDir())
	r.want(t, exitUsage, `ENABLE_AI_SDK_ADAPTER is "off": set it to true or false, or not at all`)
}
