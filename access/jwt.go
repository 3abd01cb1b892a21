package access

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

// JWT says which JSON Web Tokens let their bearers in, and as whom.
//
// The keys come from one place: KeyFile or KeyEnv (public keys, as PEM, JWK or JWK
// set), SecretFile or SecretEnv (a secret that both sides know), JWKSURL, or else
// OIDC discovery at the Issuer.
type JWT struct {
	KeyFile, KeyEnv       string
	SecretFile, SecretEnv string
	JWKSURL               string
	// Issuer is what iss must be; "" where any will do.
	Issuer string
	// Audience lists the words of which aud must hold one. Keys that others publish
	// sign tokens for others too, so there it is required.
	Audience []string
	// Algorithms restricts what the keys allow; nil does not.
	Algorithms []string
	// Leeway is how far clocks may be apart; 30 s if zero.
	Leeway time.Duration
	// IDClaim names the claim that identifies the person ("sub"), and NameClaim the
	// claim with their display name ("name").
	IDClaim, NameClaim string
	// RoleClaim names the claim that Roles maps to roles: a text, words with spaces
	// between, or a list; "" for none. The greatest role counts. Without Roles the
	// words are the names of roles themselves.
	RoleClaim string
	Roles     map[string]Role
	// DefaultRole is the role of those whose claim gives none; Viewer if zero.
	DefaultRole Role
	// GroupClaim names the claim with the groups that somebody belongs to: a text or a
	// list; "" for none.
	GroupClaim string
	// SessionClaim names a claim that binds a token to a session, or a list of them.
	SessionClaim string
}

const (
	// maxJWT bounds what the parser is given.
	maxJWT = 16 << 10
	// defaultLeeway is how far clocks may be apart.
	defaultLeeway = 30 * time.Second
	// mostTried bounds the keys that a token without a key id is tried with.
	mostTried = 16
)

// keySource finds the keys that may have signed a token.
type keySource interface {
	// find returns the keys for a key id ("" if the token names none) and an
	// algorithm. Its error says that there are no keys at all now.
	find(ctx context.Context, id string, alg jose.SignatureAlgorithm) ([]key, error)
}

// verifier tells whose a JSON Web Token is.
type verifier struct {
	JWT
	claims Claims
	keys   keySource
	algs   []jose.SignatureAlgorithm
	// taken reports whether an id is somebody else's, whom no claim can make one.
	taken func(id string) bool
}

func newVerifier(c JWT, taken func(id string) bool, logger *slog.Logger) (*verifier, error) {
	v := &verifier{JWT: c, taken: taken}
	v.Leeway = cmp.Or(c.Leeway, defaultLeeway)
	v.claims = Claims{c.IDClaim, c.NameClaim, c.RoleClaim, c.Roles, cmp.Or(c.DefaultRole, Viewer), c.GroupClaim}
	if v.Leeway < 0 || v.Leeway > 5*time.Minute {
		return nil, fmt.Errorf("jwt leeway %s is not from 0 to 5 minutes", v.Leeway)
	}
	for _, name := range c.Algorithms {
		alg := jose.SignatureAlgorithm(name)
		if !slices.Contains(algorithms(), alg) {
			return nil, fmt.Errorf("jwt algorithm %q is unknown; use %s", name, words(algorithms()))
		}
		v.algs = append(v.algs, alg)
	}
	if v.algs == nil {
		v.algs = algorithms()
	}
	var err error
	v.keys, err = newKeySource(c, v.algs, logger)
	return v, err
}

func newKeySource(c JWT, algs []jose.SignatureAlgorithm, logger *slog.Logger) (keySource, error) {
	named := 0
	for _, place := range []string{c.KeyFile, c.KeyEnv, c.SecretFile, c.SecretEnv, c.JWKSURL} {
		if place != "" {
			named++
		}
	}
	switch {
	case named > 1:
		return nil, errors.New("jwt names several places of keys; use one of key_file, key_env, secret_file, secret_env and jwks_url")
	case named == 0 && c.Issuer == "":
		return nil, errors.New("access mode jwt has no keys; give a key, a secret, a jwks_url, or an issuer that publishes them")
	case c.KeyFile != "" || c.KeyEnv != "" || c.SecretFile != "" || c.SecretEnv != "":
		return loadKeys(c, algs)
	case len(c.Audience) == 0:
		return nil, errors.New("jwt has no audience; name it, since who publishes keys signs tokens for other programs too")
	case c.JWKSURL != "":
		return newRemoteKeys(c.JWKSURL, "", algs, logger)
	}
	return newRemoteKeys("", c.Issuer, algs, logger)
}

// isJWT reports whether a token has the shape of a JSON Web Token. The other kinds of token have not.
func isJWT(token string) bool {
	return strings.Count(token, ".") == 2 && strings.HasPrefix(token, "eyJ")
}

// principal verifies a token and says whose it is.
func (v *verifier) principal(ctx context.Context, token string) (Principal, refusal) {
	if len(token) > maxJWT {
		return Principal{}, jwtWrong("it is too long")
	}
	parsed, err := jwt.ParseSigned(token, v.algs) // the algorithm none is never among them
	if err != nil || len(parsed.Headers) != 1 {
		return Principal{}, jwtWrong("it cannot be read, or its algorithm is not allowed")
	}
	head := parsed.Headers[0]
	if _, critical := head.ExtraHeaders["crit"]; critical {
		return Principal{}, jwtWrong("it has critical headers, and none is known here")
	}
	found, err := v.keys.find(ctx, head.KeyID, jose.SignatureAlgorithm(head.Algorithm))
	if err != nil {
		return Principal{}, keysAway()
	}
	for _, k := range found[:min(len(found), mostTried)] {
		var standard jwt.Claims
		claims := map[string]any{}
		if parsed.Claims(k.verifies, &standard, &claims) == nil {
			return v.claimed(standard, claims)
		}
	}
	return Principal{}, jwtWrong("no key that this gateway knows has signed it")
}

// claimed checks the claims of a token whose signature is good.
func (v *verifier) claimed(standard jwt.Claims, claims map[string]any) (Principal, refusal) {
	err := standard.ValidateWithLeeway(jwt.Expected{Issuer: v.Issuer, AnyAudience: v.Audience, Time: time.Now()}, v.Leeway)
	switch {
	case standard.Expiry == nil:
		return Principal{}, jwtWrong("it does not say when it expires")
	case errors.Is(err, jwt.ErrExpired):
		return Principal{}, tokenExpired()
	case errors.Is(err, jwt.ErrNotValidYet), errors.Is(err, jwt.ErrIssuedInTheFuture):
		return Principal{}, jwtWrong("it is not valid yet: are the clocks right?")
	case errors.Is(err, jwt.ErrInvalidIssuer):
		return Principal{}, jwtWrong("it is of another issuer")
	case errors.Is(err, jwt.ErrInvalidAudience):
		return Principal{}, jwtWrong("it is meant for another audience")
	case err != nil:
		return Principal{}, jwtWrong("its claims do not hold")
	}
	p, no := v.claims.principal(claims, v.taken)
	if no != "" {
		return Principal{}, jwtWrong(no)
	}
	p.Expires = standard.Expiry.Time().Add(v.Leeway)
	if v.SessionClaim != "" {
		if bound := claim(claims, v.SessionClaim); bound != nil {
			sessions, is := names(bound)
			if !is {
				return Principal{}, jwtWrong("its claim of sessions is neither a session id nor a list of them")
			}
			p.Bound = NewBound(sessions...)
		}
	}
	return p, refusal{}
}
