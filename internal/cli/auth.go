package cli

import (
	"cmp"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/tributary-dev/tributary/access"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/config"
	"github.com/tributary-dev/tributary/gateway"
	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/uistream"
)

// accessConfig makes the access rules. The data directory holds the minted token.
func accessConfig(c config.Config, store access.Store, signIn *access.OpenID, logger *slog.Logger) access.Config {
	o := access.Config{
		Mode: cmp.Or(c.Auth.Mode, access.ModeToken), Listen: c.Listen, PublicURL: c.PublicURL, TrustedProxies: c.TrustedProxies,
		Store: store, SignIn: signIn, SignInLifetime: c.Auth.SignInLifetime, App: c.App != "", Revoked: uistream.ErrExpired,
		AllowHosts: c.Auth.AllowHosts, AllowOrigins: c.Auth.AllowOrigins, PassThrough: c.Auth.PassThrough, Groups: c.Auth.Groups,
		Public: gateway.Public, Probe: gateway.Probe, TurnAway: turnAway, Refuse: gateway.Refuse, Logger: logger,
	}
	if o.Mode != access.ModeNone && c.Auth.AdminToken != config.AdminTokenOff {
		o.TokenFile = filepath.Join(c.Data, tokenFile)
	}
	for _, t := range c.Auth.Tokens {
		o.Tokens = append(o.Tokens, access.Token{Name: t.Name, TokenEnv: t.TokenEnv, TokenFile: t.TokenFile, Role: t.Role})
	}
	if j := c.Auth.JWT; j != nil {
		o.JWT = access.JWT(*j)
	}
	return o
}

// guard makes the access rules. Where several people use the gateway, DATA/token keeps the
// hash of the token only.
func (s *setup) guard(store access.Store, signIn *access.OpenID, logger *slog.Logger) (*access.Guard, error) {
	o := accessConfig(s.Config, store, signIn, logger)
	o.HashToken = s.people == severalPeople
	if o.HashToken && o.TokenFile != "" {
		if changed, err := access.HashTokenFile(o.TokenFile); err == nil && changed { // else New says what is wrong
			logger.Warn("several people use this gateway, so the file of the admin token keeps its hash only from now on: the token stays valid, set TRIBUTARY_TOKEN to it for commands on this machine; `tributary token reset` prints a new one", "file", o.TokenFile)
		}
	}
	g, err := access.New(o)
	if err != nil {
		return nil, faultOfAccess(err)
	}
	return g, nil
}

// checkAuth reports settings that contradict each other.
func (s *setup) checkAuth(agents map[string]session.Agent) error {
	if s.Auth.JWT != nil && s.Auth.Mode != access.ModeJWT {
		return s.Fault("auth.jwt", "means something in mode jwt only: set auth.mode to jwt, or remove it")
	}
	name := s.Auth.PassThrough
	if name == "" {
		return nil
	}
	a, ok := agents[name]
	if !ok {
		return s.Fault("auth.pass_through", "is %q, which is no agent: there are %s", name, s.agentNames())
	}
	if _, ok := a.Runtime.(agent.AccessByToken); !ok {
		return s.Fault("auth.pass_through", "is %q, and that agent has no server that could judge tokens", name)
	}
	return nil
}

// users lists the people who may use each agent that is not for all.
func (s *setup) users() map[string][]access.Who {
	users := map[string][]access.Who{}
	for name, a := range s.Agents {
		if a.Roles != nil {
			users[name] = a.Roles
		}
	}
	return users
}

// private reports whether only its creator may see a session. People with tokens of their
// own do not expect that others read their sessions.
func private(a config.Auth) bool {
	return a.Sessions == config.Private || a.Sessions == "" && (a.Mode == access.ModeJWT || a.OIDC != nil)
}

// adapterSwitch is the environment variable that turns the route of the RFC off.
const adapterSwitch = "ENABLE_AI_SDK_ADAPTER"

// adapterOff reads the switch. Any other value is an error, because a wrong guess would
// open a route that the operator wanted closed.
func adapterOff() (bool, error) {
	switch said := os.Getenv(adapterSwitch); said {
	case "", "true", "1":
		return false, nil
	case "false", "0":
		return true, nil
	default:
		return false, usage("%s is %q: set it to true or false, or not at all", adapterSwitch, said)
	}
}
