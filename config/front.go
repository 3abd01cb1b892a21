package config

import (
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
		return nil
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
	case c.PublicURL == "":
		return c.Fault("auth.oidc", "needs public_url: write the address that people open, to which the provider sends them back")
	}
	return nil
}
