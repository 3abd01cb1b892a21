package cli

import (
	"cmp"
	"crypto/tls"
	"log/slog"
	"net/http"
	"os"
	"strconv"
	"strings"

	"github.com/tributary-dev/tributary/access"
	"github.com/tributary-dev/tributary/access/openid"
	"github.com/tributary-dev/tributary/config"
	"github.com/tributary-dev/tributary/internal/cli/certs"
)

// tlsConfig reads the certificate; nil without TLS.
func tlsConfig(t *config.TLS, logger *slog.Logger) (*tls.Config, error) {
	if t == nil {
		return nil, nil //nolint:nilnil // there is none
	}
	pair, err := certs.Load(t.Cert, t.Key, logger)
	if err != nil {
		return nil, usage("%w", err)
	}
	return pair.Config(), nil
}

// warnOfClearText warns where tokens would cross a network in clear text.
func (s *setup) warnOfClearText(logger *slog.Logger) {
	if s.TLS == nil && !access.Loopback(s.Listen) && !strings.HasPrefix(s.PublicURL, "https:") {
		logger.Warn("tokens and conversations cross the network in clear text: set tls.cert and tls.key, or let a proxy with TLS stand in front and set public_url", "listen", s.Listen)
	}
}

// warnOfViewers warns where everybody who signs in is a viewer and sessions are private:
// only an admin could make a session then.
func (s *setup) warnOfViewers(logger *slog.Logger) {
	at := ""
	switch o, j := s.Auth.OIDC, s.Auth.JWT; {
	case !private(s.Auth):
	case o != nil && o.RoleClaim == "" && o.DefaultRole == access.Viewer:
		at = "auth.oidc"
	case j != nil && j.RoleClaim == "" && cmp.Or(j.DefaultRole, access.Viewer) == access.Viewer:
		at = "auth.jwt"
	}
	if at != "" {
		logger.Warn("everybody who signs in is a viewer, and with private sessions a viewer can make no session: set default_role to collaborator, name a role_claim, or set auth.sessions to shared", "section", at)
	}
}

// strictTransport has browsers use https only, if that is configured.
func strictTransport(t *config.TLS, next http.Handler) http.Handler {
	if t == nil || t.HSTS == 0 {
		return next
	}
	value := "max-age=" + strconv.FormatInt(int64(t.HSTS.Seconds()), 10)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Strict-Transport-Security", value)
		next.ServeHTTP(w, r)
	})
}

// signIn makes the OpenID provider of the page; nil without one.
func (s *setup) signIn() (*access.OpenID, error) {
	o := s.Auth.OIDC
	if o == nil {
		return nil, nil //nolint:nilnil // there is none
	}
	secret, err := clientSecret(o)
	if err != nil {
		return nil, err
	}
	p, err := openid.New(openid.Config{Issuer: o.Issuer, ClientID: o.ClientID, ClientSecret: secret, Scopes: o.Scopes, UserInfo: o.UserInfo})
	if err != nil {
		return nil, s.Fault("auth.oidc", "cannot be used: %v", err)
	}
	return &access.OpenID{Provider: p, Claims: access.Claims{
		IDClaim: o.IDClaim, NameClaim: o.NameClaim, RoleClaim: o.RoleClaim, Roles: o.Roles, DefaultRole: o.DefaultRole, GroupClaim: o.GroupClaim,
	}}, nil
}

func clientSecret(o *config.OIDC) (string, error) {
	if o.ClientSecretEnv != "" {
		secret := os.Getenv(o.ClientSecretEnv)
		if secret == "" {
			return "", usage("auth.oidc.client_secret_env names %s, which is not set: set it to the secret that the provider gave", o.ClientSecretEnv)
		}
		return secret, nil
	}
	if o.ClientSecretFile == "" {
		return "", nil
	}
	secret, err := os.ReadFile(o.ClientSecretFile)
	if err != nil {
		return "", usage("the file %s of auth.oidc.client_secret_file cannot be read: %w", o.ClientSecretFile, reason(err))
	}
	if strings.TrimSpace(string(secret)) == "" {
		return "", usage("the file %s of auth.oidc.client_secret_file is empty: write the secret that the provider gave into it", o.ClientSecretFile)
	}
	return strings.TrimSpace(string(secret)), nil
}
