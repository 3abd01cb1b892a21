package access

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
)

const secret = "a-secret-of-sixty-four-bytes-that-is-long-enough-for-each-of-the"

// signer signs tokens with one key.
type signer struct {
	id  string
	alg jose.SignatureAlgorithm
	key any
}

var rsaKey = sync.OnceValue(func() *rsa.PrivateKey {
	k, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return k
})

func newECKey(t testing.TB, curve elliptic.Curve) *ecdsa.PrivateKey {
	t.Helper()
	k, err := ecdsa.GenerateKey(curve, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func newEdKey(t testing.TB) ed25519.PrivateKey {
	t.Helper()
	_, k, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func (s signer) public() any {
	if k, ok := s.key.(crypto.Signer); ok {
		return k.Public()
	}
	return s.key
}

func (s signer) jwk(t testing.TB) json.RawMessage {
	t.Helper()
	data, err := json.Marshal(jose.JSONWebKey{Key: s.public(), KeyID: s.id, Use: "sig"})
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// pem writes the public key to a file.
func (s signer) pem(t testing.TB) string {
	t.Helper()
	der, err := x509.MarshalPKIXPublicKey(s.public())
	if err != nil {
		t.Fatal(err)
	}
	return write(t, string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})))
}

func write(t testing.TB, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

type claims map[string]any

// token signs claims that are good for an hour, unless they say otherwise.
func (s signer) token(t testing.TB, c claims) string {
	t.Helper()
	all := claims{"sub": "ada", "iat": time.Now().Unix(), "exp": time.Now().Add(time.Hour).Unix()}
	maps.Copy(all, c)
	maps.DeleteFunc(all, func(_ string, v any) bool { return v == nil })
	payload, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	return s.sign(t, payload)
}

func (s signer) sign(t testing.TB, payload []byte) string {
	t.Helper()
	options := (&jose.SignerOptions{}).WithType("JWT")
	if s.id != "" {
		options = options.WithHeader("kid", s.id)
	}
	by, err := jose.NewSigner(jose.SigningKey{Algorithm: s.alg, Key: s.key}, options)
	if err != nil {
		t.Fatal(err)
	}
	signed, err := by.Sign(payload)
	if err != nil {
		t.Fatal(err)
	}
	text, err := signed.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func jwtMode(j JWT) func(*Config) {
	return func(c *Config) { c.Mode, c.JWT = ModeJWT, j }
}

// bring sends a token, and returns who came through, or the code of the refusal.
func bring(g *Guard, token string) string {
	w := ask(g, "POST /api/sessions/s/chat", "Authorization: Bearer "+token)
	if w.Code == http.StatusOK {
		return w.Body.String()
	}
	var body struct {
		Error, Code string
	}
	_ = json.Unmarshal(w.Body.Bytes(), &body)
	if token != "" && strings.Contains(body.Error, token) {
		return "the refusal holds the token"
	}
	return body.Code
}

//evidence:for promise-jwt
func TestB04_JWTOfEveryKind(t *testing.T) {
	t.Parallel()
	for _, s := range []signer{
		{"", jose.HS256, []byte(secret)},
		{"", jose.HS384, []byte(secret)},
		{"", jose.HS512, []byte(secret)},
		{"", jose.RS256, rsaKey()},
		{"", jose.RS384, rsaKey()},
		{"", jose.RS512, rsaKey()},
		{"", jose.PS256, rsaKey()},
		{"", jose.PS384, rsaKey()},
		{"", jose.PS512, rsaKey()},
		{"", jose.ES256, newECKey(t, elliptic.P256())},
		{"", jose.ES384, newECKey(t, elliptic.P384())},
		{"", jose.ES512, newECKey(t, elliptic.P521())},
		{"", jose.EdDSA, newEdKey(t)},
	} {
		t.Run(string(s.alg), func(t *testing.T) {
			t.Parallel()
			j := JWT{}
			if _, symmetric := s.key.([]byte); symmetric {
				j.SecretFile = write(t, secret+"\n")
			} else {
				j.KeyFile = s.pem(t)
			}
			g := newGuard(t, jwtMode(j))
			if got := bring(g, s.token(t, nil)); got != "ada viewer" {
				t.Errorf("%s", got)
			}
			asJWK := newGuard(t, jwtMode(JWT{KeyFile: write(t, string(s.jwk(t)))}))
			if got := bring(asJWK, s.token(t, nil)); got != "ada viewer" {
				t.Errorf("by JWK: %s", got)
			}
			other := newGuard(t, jwtMode(JWT{KeyFile: signer{"", jose.EdDSA, newEdKey(t)}.pem(t)}))
			if got := bring(other, s.token(t, nil)); got != "token_wrong" {
				t.Errorf("by another key: %s", got)
			}
			good := s.token(t, nil)
			for _, bad := range []string{good[:len(good)-4] + "AAAA", good + "x", good + "."} {
				if got := bring(g, bad); got != "token_wrong" {
					t.Errorf("changed: %s", got)
				}
			}
		})
	}
}

// The configured tokens and the minted one stay good beside them.
func TestB04_TokensBesideJWT(t *testing.T) {
	t.Parallel()
	g := newGuard(t, jwtMode(JWT{KeyFile: signer{"", jose.RS256, rsaKey()}.pem(t)}))
	for token, want := range map[string]string{viewToken: "wall viewer", workToken: "ci collaborator", g.minted: "operator admin", "nobody": "token_wrong", "": "token_wrong"} {
		if got := bring(g, token); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	if w := ask(g, "GET /?token="+g.minted); w.Code != http.StatusSeeOther {
		t.Errorf("the URL that is printed: %d", w.Code)
	}
}

// unsigned is a token with a header of the attacker's choice.
func unsigned(t testing.TB, header, payload string, signature []byte) string {
	t.Helper()
	raw := base64.RawURLEncoding
	return raw.EncodeToString([]byte(header)) + "." + raw.EncodeToString([]byte(payload)) + "." + raw.EncodeToString(signature)
}

// The kind of the key decides the algorithm: no token without a signature, and none
// that is signed with the public key as if it were a secret.
//
//evidence:for limit-token promise-jwt
func TestG08_AlgorithmIsTheKeys(t *testing.T) {
	t.Parallel()
	public := signer{"k", jose.RS256, rsaKey()}
	file := public.pem(t)
	pemText, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKIXPublicKey(public.public())
	if err != nil {
		t.Fatal(err)
	}
	g := newGuard(t, jwtMode(JWT{KeyFile: file}))
	payload := `{"sub":"operator","exp":99999999999}`
	for name, token := range map[string]string{
		"none":             unsigned(t, `{"alg":"none"}`, payload, nil),
		"None":             unsigned(t, `{"alg":"None","typ":"JWT"}`, payload, nil),
		"nothing":          unsigned(t, `{}`, payload, []byte("x")),
		"key as a secret":  signer{"k", jose.HS256, pemText}.sign(t, []byte(payload)),
		"trimmed":          signer{"", jose.HS256, bytes.TrimSpace(pemText)}.sign(t, []byte(payload)),
		"DER as a secret":  signer{"", jose.HS512, der}.sign(t, []byte(payload)),
		"another kind":     signer{"k", jose.EdDSA, newEdKey(t)}.token(t, nil),
		"another RSA key":  signer{"k", jose.RS256, must(rsa.GenerateKey(rand.Reader, 2048))}.token(t, nil),
		"critical unknown": unsigned(t, `{"alg":"RS256","crit":["x"],"x":1}`, payload, []byte("x")),
		"its own key":      unsigned(t, `{"alg":"RS256","jwk":`+string(public.jwk(t))+`}`, payload, []byte("x")),
		"many dots":        "eyJ.a.b.c",
		"too long":         "eyJ." + strings.Repeat("a", maxJWT) + ".b",
	} {
		if got := bring(g, token); got != "token_wrong" {
			t.Errorf("%s: %s", name, got)
		}
	}
	// A JSON Web Key may name the one algorithm that it is for.
	ps := newGuard(t, jwtMode(JWT{KeyFile: write(t, strings.Replace(string(public.jwk(t)), `"use"`, `"alg":"PS256","use"`, 1))}))
	if got := bring(ps, public.token(t, nil)); got != "token_wrong" {
		t.Errorf("another algorithm than the key's: %s", got)
	}
	if got := bring(ps, signer{"k", jose.PS256, rsaKey()}.token(t, nil)); got != "ada viewer" {
		t.Errorf("the key's: %s", got)
	}
	restricted := newGuard(t, jwtMode(JWT{KeyFile: file, Algorithms: []string{"PS256"}}))
	if got := bring(restricted, public.token(t, nil)); got != "token_wrong" {
		t.Errorf("an algorithm that is not configured: %s", got)
	}
	if got := bring(restricted, signer{"", jose.PS256, rsaKey()}.token(t, nil)); got != "ada viewer" {
		t.Errorf("the one that is: %s", got)
	}
}

// A list of critical headers that names none is malformed (RFC 7515, 4.1.11).
func TestG08_AListOfNoCriticalHeadersIsRefused(t *testing.T) {
	t.Parallel()
	s := signer{"", jose.EdDSA, newEdKey(t)}
	g := newGuard(t, jwtMode(JWT{KeyFile: s.pem(t)}))
	for _, critical := range []any{[]string{}, "", 1, []string{"x"}} {
		by, err := jose.NewSigner(jose.SigningKey{Algorithm: s.alg, Key: s.key}, (&jose.SignerOptions{}).WithHeader("crit", critical))
		if err != nil {
			t.Fatal(err)
		}
		signed := must(by.Sign([]byte(`{"sub":"ada","exp":99999999999}`)))
		if got := bring(g, must(signed.CompactSerialize())); got != "token_wrong" {
			t.Errorf("%v: %s", critical, got)
		}
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

//evidence:for promise-jwt
func TestB05_ClaimsThatDoNotHold(t *testing.T) {
	t.Parallel()
	s := signer{"", jose.EdDSA, newEdKey(t)}
	g := newGuard(t, jwtMode(JWT{KeyFile: s.pem(t), Issuer: "https://id.example", Audience: []string{"tributary", "other"}, Leeway: time.Minute}))
	now := time.Now()
	good := claims{"iss": "https://id.example", "aud": "tributary"}
	for _, c := range []struct {
		name   string
		change claims
		want   string
	}{
		{"good", nil, "ada viewer"},
		{"one of several audiences", claims{"aud": []string{"x", "other"}}, "ada viewer"},
		{"within the leeway", claims{"exp": now.Add(-30 * time.Second).Unix()}, "ada viewer"},
		{"clock ahead", claims{"nbf": now.Add(30 * time.Second).Unix(), "iat": now.Add(30 * time.Second).Unix()}, "ada viewer"},
		{"expired", claims{"exp": now.Add(-2 * time.Minute).Unix()}, "token_expired"},
		{"no end", claims{"exp": nil}, "token_wrong"},
		{"not yet", claims{"nbf": now.Add(2 * time.Minute).Unix()}, "token_wrong"},
		{"of the future", claims{"iat": now.Add(2 * time.Minute).Unix()}, "token_wrong"},
		{"another issuer", claims{"iss": "https://id.example/"}, "token_wrong"},
		{"no issuer", claims{"iss": nil}, "token_wrong"},
		{"another audience", claims{"aud": "tribute"}, "token_wrong"},
		{"no audience", claims{"aud": nil}, "token_wrong"},
		{"nobody", claims{"sub": nil}, "token_wrong"},
		{"empty", claims{"sub": ""}, "token_wrong"},
		{"no text", claims{"sub": 7}, "token_wrong"},
		{"control characters", claims{"sub": "a\nb"}, "token_wrong"},
		{"very long", claims{"sub": strings.Repeat("a", maxID+1)}, "token_wrong"},
		{"end is no number", claims{"exp": "tomorrow"}, "token_wrong"},
		{"the minted token's name", claims{"sub": "operator"}, "token_wrong"},
		{"a configured token's name", claims{"sub": "ci"}, "token_wrong"},
	} {
		all := maps.Clone(good)
		maps.Copy(all, c.change)
		if got := bring(g, s.token(t, all)); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	for _, payload := range []string{"", "null", "[]", "7", `{"sub":"ada","exp":1e400}`, `{"sub":"ada","sub":"operator","exp":99999999999,"iss":"https://id.example","aud":"tributary"}`} {
		if got := bring(g, s.sign(t, []byte(payload))); got != "token_wrong" {
			t.Errorf("payload %s: %s", payload, got)
		}
	}
}

func TestB06_RolesOfClaims(t *testing.T) {
	t.Parallel()
	s := signer{"", jose.EdDSA, newEdKey(t)}
	mapped := map[string]Role{"agents:use": Collaborator, "admin": Admin, "guest": Viewer}
	for _, c := range []struct {
		name string
		jwt  JWT
		has  claims
		want string
	}{
		{"no claim configured", JWT{}, claims{"role": "owner"}, "ada viewer"},
		{"default", JWT{DefaultRole: Collaborator}, nil, "ada collaborator"},
		{"own words", JWT{RoleClaim: "role"}, claims{"role": "collaborator"}, "ada collaborator"},
		{"unknown word", JWT{RoleClaim: "role"}, claims{"role": "root"}, "ada viewer"},
		{"scope", JWT{RoleClaim: "scope", Roles: mapped}, claims{"scope": "openid agents:use"}, "ada collaborator"},
		{"greatest of a list", JWT{RoleClaim: "groups", Roles: mapped}, claims{"groups": []string{"guest", "admin", "agents:use"}}, "ada admin"},
		{"mapping replaces words", JWT{RoleClaim: "role", Roles: mapped}, claims{"role": "owner"}, "ada viewer"},
		{"below", JWT{RoleClaim: "realm_access.roles", Roles: mapped}, claims{"realm_access": claims{"roles": []string{"admin"}}}, "ada admin"},
		{"name with dots", JWT{RoleClaim: "https://x.example/role"}, claims{"https://x.example/role": "admin"}, "ada admin"},
		{"no text", JWT{RoleClaim: "role"}, claims{"role": 3}, "ada viewer"},
		{"another id", JWT{IDClaim: "oid"}, claims{"oid": "a-1"}, "a-1 viewer"},
		{"an address that is verified", JWT{IDClaim: "email"}, claims{"email": "a@b.example", "email_verified": true}, "a@b.example viewer"},
		{"verified, as a text", JWT{IDClaim: "email"}, claims{"email": "a@b.example", "email_verified": "true"}, "a@b.example viewer"},
		{"verified, below", JWT{IDClaim: "user.email"}, claims{"user": claims{"email": "a@b.example", "email_verified": true}}, "a@b.example viewer"},
		{"an address of which nobody says that it is verified", JWT{IDClaim: "email"}, claims{"email": "a@b.example"}, "token_wrong"},
		{"an address that is not verified", JWT{IDClaim: "email"}, claims{"email": "a@b.example", "email_verified": false}, "token_wrong"},
		{"not verified, as a text", JWT{IDClaim: "email"}, claims{"email": "a@b.example", "email_verified": "false"}, "token_wrong"},
		{"not verified, below", JWT{IDClaim: "user.email"}, claims{"user": claims{"email": "a@b.example"}, "email_verified": true}, "token_wrong"},
	} {
		c.jwt.KeyFile = s.pem(t)
		if got := bring(newGuard(t, jwtMode(c.jwt)), s.token(t, c.has)); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestBoundTokens(t *testing.T) {
	t.Parallel()
	s := signer{"", jose.EdDSA, newEdKey(t)}
	g := newGuard(t, jwtMode(JWT{KeyFile: s.pem(t), SessionClaim: "session"}))
	for _, c := range []struct {
		has      claims
		one, two bool
	}{
		{nil, true, true},
		{claims{"session": "one"}, true, false},
		{claims{"session": []string{"two", "three"}}, false, true},
		{claims{"session": []string{}}, false, false},
	} {
		p, no := g.jwt.principal(t.Context(), s.token(t, c.has))
		if no != (refusal{}) || p.May("one") != c.one || p.May("two") != c.two {
			t.Errorf("%v: %+v, %v, %v", c.has, no, p.May("one"), p.May("two"))
		}
	}
}

// A claim that is meant to bind a token, and cannot be read, lets nobody in.
func TestABoundTokenNamesItsSessions(t *testing.T) {
	t.Parallel()
	s := signer{"", jose.EdDSA, newEdKey(t)}
	g := newGuard(t, jwtMode(JWT{KeyFile: s.pem(t), SessionClaim: "session"}))
	for _, value := range []any{"", 1, true, []any{""}, []any{"one", ""}, []any{"one", 2}, map[string]any{"one": true}} {
		if got := bring(g, s.token(t, claims{"session": value})); got != "token_wrong" {
			t.Errorf("%v: %s", value, got)
		}
	}
}

// A name is shown to others, each time that somebody comes.
func TestNamesHaveABound(t *testing.T) {
	t.Parallel()
	s := signer{"", jose.EdDSA, newEdKey(t)}
	g := newGuard(t, jwtMode(JWT{KeyFile: s.pem(t)}))
	for name, want := range map[string]string{"Ada L.": "Ada L.", "": "ada", strings.Repeat("x", 201): "ada", "Ada\u202e\n": "ada"} {
		if p, no := g.jwt.principal(t.Context(), s.token(t, claims{"name": name})); no != (refusal{}) || p.Name != want {
			t.Errorf("%.20q is shown as %.20q", name, p.Name)
		}
	}
}

// No token of this gateway has the name of a user of the agent's server.
func TestNamesOfTheOtherSideAreItsOwn(t *testing.T) {
	t.Parallel()
	_, err := New(Config{Listen: "127.0.0.1:1", PassThrough: "ops", Tokens: []Token{{Name: "ops:ada", Token: "abc", Role: Viewer}}})
	if err == nil || !strings.Contains(err.Error(), `"ops:ada"`) {
		t.Errorf("error %v", err)
	}
}

func TestJWTSettingsThatCannotBeMeant(t *testing.T) {
	t.Parallel()
	s := signer{"", jose.RS256, rsaKey()}
	private := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(rsaKey())})
	privateJWK, err := json.Marshal(jose.JSONWebKey{Key: rsaKey()})
	if err != nil {
		t.Fatal(err)
	}
	small := must(x509.MarshalPKIXPublicKey(&must(rsa.GenerateKey(rand.Reader, 1024)).PublicKey))
	for want, j := range map[string]JWT{
		"has no keys":                     {},
		"several places":                  {KeyFile: "a", JWKSURL: "b"},
		"cannot be read":                  {KeyFile: filepath.Join(t.TempDir(), "none")},
		"is not set":                      {KeyEnv: "TRIBUTARY_NO_SUCH_VARIABLE"},
		"holds no key":                    {KeyFile: write(t, "hello")},
		"give the public one":             {KeyFile: write(t, string(private))},
		"it is a private key; give":       {KeyFile: write(t, string(privateJWK))},
		"not a JSON Web Key":              {KeyFile: write(t, `{"kty":"x"}`)},
		"holds no key that can be used":   {KeyFile: write(t, `{"keys":[{"kty":"x"}]}`)},
		"use is not to sign":              {KeyFile: write(t, strings.Replace(string(s.jwk(t)), `"sig"`, `"enc"`, 1))},
		"does not fit its kind":           {KeyFile: write(t, strings.Replace(string(s.jwk(t)), `"use"`, `"alg":"ES256","use"`, 1))},
		"RSA key of 1024 bits":            {KeyFile: write(t, string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: small})))},
		"name it as key_file":             {SecretFile: s.pem(t)},
		"secret of 5 bytes":               {SecretFile: write(t, "short")},
		"fits none of the algorithms":     {KeyFile: s.pem(t), Algorithms: []string{"ES256"}},
		`algorithm "none" is unknown`:     {KeyFile: s.pem(t), Algorithms: []string{"none"}},
		"leeway":                          {KeyFile: s.pem(t), Leeway: time.Hour},
		"has no audience":                 {JWKSURL: "https://id.example/keys"},
		"jwks_url \"http://id.example":    {JWKSURL: "http://id.example/keys", Audience: []string{"a"}},
		"is not a URL":                    {JWKSURL: "id.example", Audience: []string{"a"}},
		"issuer \"http://id.example\" is": {Issuer: "http://id.example", Audience: []string{"a"}},
	} {
		_, err := New(Config{Mode: ModeJWT, Listen: "127.0.0.1:1", JWT: j})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
	if _, err := New(Config{Mode: ModeJWT, Listen: "127.0.0.1:1", JWT: JWT{KeyFile: s.pem(t)}}); err != nil {
		t.Errorf("a gateway that knows no token but those of others: %v", err)
	}
}

//evidence:for promise-jwt
func FuzzBearer(f *testing.F) {
	s := signer{"k", jose.EdDSA, newEdKey(f)}
	verify, err := newVerifier(JWT{KeyFile: s.pem(f), RoleClaim: "a.b", SessionClaim: "s"}, func(id string) bool { return id == operatorID }, nil)
	if err != nil {
		f.Fatal(err)
	}
	g := &Guard{mode: ModeJWT, jwt: verify, side: "ops", tokens: shelf{Store: NewMemory(), kind: KindToken}}
	good := s.token(f, nil)
	for _, token := range []string{
		good, "", "opaque", "sk_0123456789abcdef", "eyJ.a.b", strings.Replace(good, ".", "..", 1), unsigned(f, `{"alg":"none"}`, `{"sub":"operator"}`, nil),
		unsigned(f, `{"alg":"HS256"}`, `{}`, []byte("x")), unsigned(f, `{"alg":"EdDSA","kid":7}`, `{}`, nil), s.sign(f, []byte(`{"exp":1e999}`)),
	} {
		f.Add(token)
	}
	f.Fuzz(func(t *testing.T, token string) {
		who, no := g.bearing(t.Context(), token)
		if no != (refusal{}) {
			return
		}
		p, ok := From(who.in(t.Context()))
		got, isPassThrough := PassThroughOf(who.in(t.Context()))
		switch {
		case !ok || !validID(p.ID):
			t.Fatalf("%q lets %+v in", token, p)
		case isPassThrough && (p.Role != 0 || got.Bearer() != token || strings.Contains(p.ID, token) && len(token) > 16):
			t.Fatalf("%q is a pass-through token %+v", token, p)
		case !isPassThrough && token != good && !bytes.HasPrefix([]byte(token), []byte(good[:strings.LastIndex(good, ".")])):
			t.Fatalf("%q lets %+v in", token, p)
		}
	})
}

// FuzzClaims reads claims that are signed, and may be nonsense all the same.
func FuzzClaims(f *testing.F) {
	s := signer{"", jose.EdDSA, newEdKey(f)}
	verify, err := newVerifier(JWT{KeyFile: s.pem(f), RoleClaim: "a.b", SessionClaim: "s"}, func(id string) bool { return id == operatorID }, nil)
	if err != nil {
		f.Fatal(err)
	}
	for _, payload := range []string{`{"sub":"a","exp":99999999999}`, `{"sub":"a","exp":9e300}`, `{"a":{"b":["owner",7,null]},"s":{},"sub":"x","exp":99999999999}`, `[]`, `{"aud":[[]]}`} {
		f.Add([]byte(payload))
	}
	f.Fuzz(func(t *testing.T, payload []byte) {
		p, no := verify.principal(t.Context(), s.sign(t, payload))
		if no == (refusal{}) && (!validID(p.ID) || p.ID == operatorID || !p.Role.known() || p.Expires.Before(time.Now())) {
			t.Fatalf("%s is %+v", payload, p)
		}
	})
}

func FuzzKeySet(f *testing.F) {
	f.Add([]byte(`{"keys":[` + string(signer{"k", jose.RS256, rsaKey()}.jwk(f)) + `,{"kty":"oct","k":"AAAA"},{"kty":"EC"},7]}`))
	f.Add([]byte(`{"keys":{}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		keys, err := readJWKSet(data, false)
		if (err == nil) != (len(keys) > 0) {
			t.Fatalf("%d keys, %v", len(keys), err)
		}
		for _, k := range keys {
			for _, alg := range k.algs {
				if strings.HasPrefix(string(alg), "HS") {
					t.Fatalf("a published key is a secret: %+v", k)
				}
			}
		}
		_, _ = readPEM(data)
	})
}
