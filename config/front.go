package config

import (
	"maps"
	"slices"
	"time"

	"github.com/tributary-dev/tributary/access"
)

// TLS has the gateway answer by https. The gateway reads changed files without a restart.
type TLS struct {
	Cert string `yaml:"cert" file:"path"`
	Key  string `yaml:"key" file:"secret"`
	// HSTS is how long browsers are to use nothing but https for the host; zero: not said.
	HSTS time.Duration `yaml:"hsts"`
}

// OIDC is the OpenID provider with which people sign in to the page. The claims are those
// of access.Claims.
type OIDC struct {
	Issuer           string                 `yaml:"issuer"`
	ClientID         string                 `yaml:"client_id"`
	ClientSecretEnv  string                 `yaml:"client_secret_env"`
	ClientSecretFile string                 `yaml:"client_secret_file" file:"secret"`
	Scopes           []string               `yaml:"scopes"`
	UserInfo         bool                   `yaml:"user_info"`
	IDClaim          string                 `yaml:"id_claim"`
	NameClaim        string                 `yaml:"name_claim"`
	RoleClaim        string                 `yaml:"role_claim"`
	Roles            map[string]access.Role `yaml:"roles"`
	DefaultRole      access.Role            `yaml:"default_role"`
	GroupClaim       string                 `yaml:"group_claim"`
}

// AdminToken says whether there is the admin token of the first start.
type AdminToken string

// The values of AdminToken. The empty one means AdminTokenOn.
const (
	AdminTokenOn  AdminToken = "on"
	AdminTokenOff AdminToken = "off"
)

// checkAdminToken refuses to switch the admin token off where nobody else can be admin.
func (c *Config) checkAdminToken() error {
	admin := slices.ContainsFunc(c.Auth.Tokens, func(t Token) bool { return t.Role == access.Admin })
	if o := c.Auth.OIDC; o != nil {
		admin = admin || gives(o.RoleClaim, o.Roles, o.DefaultRole)
	}
	if j := c.Auth.JWT; j != nil {
		admin = admin || gives(j.RoleClaim, j.Roles, j.DefaultRole)
	}
	switch {
	case c.Auth.AdminToken != AdminTokenOff || admin:
		return nil
	case c.Auth.Mode == access.ModeNone:
		return c.Fault("auth.admin_token", "means nothing in mode none, where everybody is admin: remove it")
	}
	return c.Fault("auth.admin_token", "is off, and nobody else can be admin: let a claim of auth.oidc or auth.jwt give the role admin, or name a token with that role in auth.tokens")
}

// gives reports whether claims can make somebody an admin. Without a map the words of the claim are
// the roles.
func gives(claim string, roles map[string]access.Role, otherwise access.Role) bool {
	return otherwise == access.Admin || claim != "" && (roles == nil || slices.Contains(slices.Collect(maps.Values(roles)), access.Admin))
}

// checkFront looks at the settings of the way to the gateway.
func (c *Config) checkFront() error {
	if t := c.TLS; t != nil && (t.Cert == "" || t.Key == "") {
		return c.Fault("tls", "needs cert and key: name the two files of one pair")
	}
	if err := access.CheckPublicURL(c.PublicURL); err != nil {
		return c.Fault("public_url", "%v", err)
	}
	if err := access.CheckProxies(c.TrustedProxies); err != nil {
		return c.Fault("trusted_proxies", "%v", err)
	}
	o := c.Auth.OIDC
	switch {
	case o == nil:
		return c.checkAdminToken()
	case o.Issuer == "":
		return c.Fault("auth.oidc", "has no issuer: write the URL of the provider, as its discovery document has it")
	case o.ClientID == "":
		return c.Fault("auth.oidc", "has no client_id: register the gateway with the provider and write the id that the provider gives")
	case o.ClientSecretEnv != "" && o.ClientSecretFile != "":
		return c.Fault("auth.oidc", "has client_secret_env and client_secret_file: leave one of them out")
	case o.RoleClaim == "" && o.DefaultRole == 0:
		return c.Fault("auth.oidc", "gives nobody a role: write role_claim, or default_role: collaborator")
	case o.Roles != nil && o.RoleClaim == "":
		return c.Fault("auth.oidc.roles", "means nothing without role_claim: name the claim that holds these words")
	case c.Auth.JWT != nil && c.Auth.JWT.Issuer != o.Issuer && (c.Auth.JWT.Issuer != "" || c.Auth.JWT.JWKSURL != ""):
		return c.Fault("auth.jwt.issuer", "has to be that of auth.oidc, %q, because two issuers may give one id to different people: write that issuer, or none with keys of your own, or remove auth.jwt or auth.oidc", o.Issuer)
	case c.PublicURL == "":
		return c.Fault("auth.oidc", "needs public_url: write the address that people open, to which the provider sends them back")
	}
	return c.checkAdminToken()
}
