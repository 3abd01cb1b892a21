package access

import (
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"time"
)

// Mode is how callers show who they are.
type Mode string

const (
	// ModeToken asks every caller for a token. This is the default.
	ModeToken Mode = "token"
	// ModeNone asks for nothing: every caller that can reach the port is an admin. The
	// mode needs a loopback listen address, and serves its own pages only.
	ModeNone Mode = "none"
	// ModeJWT takes JSON Web Tokens beside the tokens of ModeToken.
	ModeJWT Mode = "jwt"
)

// NullOrigin is the entry of Config.AllowOrigins that stands for pages without an
// origin, as apps on phones show them from their own files. Pages in a sandbox have it
// too: they need the token as everybody does.
const NullOrigin = "null"

// LoopbackOrigins is the entry of Config.AllowOrigins that stands for http and
// https pages on any loopback address and port.
const LoopbackOrigins = "loopback"

// Config is what a Guard is made from.
type Config struct {
	// Mode is ModeToken when empty.
	Mode Mode
	// Listen is the address the gateway listens on, host:port.
	Listen string
	// TokenFile holds the admin's token. New makes the file if it does not exist. Without a
	// file there is no such token, and Tokens must name at least one.
	TokenFile string
	// HashToken replaces the token in TokenFile by its hash, and keeps only the hash of a new
	// one. This is for a gateway of several people: an agent that one of them lets run a
	// command could read the file. [Guard.SignInURL] then signs in.
	HashToken bool
	// Tokens are further tokens, each with a name and a role of its own.
	Tokens []Token
	// JWT is how JSON Web Tokens are judged in ModeJWT.
	JWT JWT
	// Groups are lists of people, by their Principal's ID. Claims may add to them.
	Groups map[string][]string
	// PassThrough names the agent whose server judges bearer tokens that the gateway does not
	// know. Such a token alone gives no rights. "": the gateway refuses such tokens.
	PassThrough string
	// PublicURL is the address that people open, such as https://agents.example.com, if a
	// proxy stands in front. "": the address that the gateway listens on.
	PublicURL string
	// TrustedProxies are addresses and networks. Their headers X-Forwarded-* and Forwarded
	// name the client.
	TrustedProxies []string
	// Store keeps created tokens, and the sign-ins of the page. Nil: NewMemory.
	Store Store
	// App says that an app stands in the place of the page. Its addresses may have a token of its
	// own, so only a token of the gateway is taken out of an address.
	App bool
	// SignInLifetime is how long a sign-in of the page lasts; 7 days if zero.
	SignInLifetime time.Duration
	// SignIn signs people in with an OpenID provider. Nil: none.
	SignIn *OpenID
	// Revoked is the cause with which the context of a request ends when its credential
	// is revoked meanwhile. Nil: ErrRevoked.
	Revoked error
	// AllowHosts adds to the names the gateway answers to: loopback and the host
	// of Listen, on any port. An entry is "name" (any port) or "name:port".
	AllowHosts []string
	// AllowOrigins lists the other pages that may talk to the gateway, with a
	// bearer token, as scheme://host[:port]. Nil stands for LoopbackOrigins;
	// a list replaces it, and may hold it. Our own origin is always allowed.
	AllowOrigins []string
	// Public says which paths can be read (GET, HEAD) without a token. Host and
	// Origin are checked there too. Nil: none.
	Public func(*http.Request) bool
	// Probe says which requests are health checks. The Guard passes them on without any
	// check, since a probe comes by the address of a machine or of a pod. Nil: none.
	Probe func(*http.Request) bool
	// TurnAway may answer a request itself, and reports whether it did. The Guard calls
	// TurnAway after the checks of Host and Origin, so that the page that sent the request
	// reads the answer, and before the check of the token. Nil: no request is answered.
	TurnAway func(w http.ResponseWriter, r *http.Request) bool
	// Logger hears of keys that cannot be read. Nil: nobody does.
	Logger *slog.Logger
	// Refuse writes a refusal: one sentence for the user and a code for
	// programs. Headers that belong to it are already set. Nil: RefuseJSON.
	Refuse func(w http.ResponseWriter, r *http.Request, status int, code, sentence string)
}

// Token is a configured token. Exactly one of Token, TokenEnv (the name of an
// environment variable) and TokenFile (a file that holds it) is set.
type Token struct {
	Name      string `json:"name"`
	Token     string `json:"token,omitempty"`
	TokenEnv  string `json:"token_env,omitempty"`
	TokenFile string `json:"token_file,omitempty"`
	Role      Role   `json:"role"`
}

// listenHost returns the host part of a listen address.
func listenHost(listen string) string {
	host, _, err := net.SplitHostPort(listen)
	if err != nil {
		return listen
	}
	return host
}

func (c Config) checkNone() error {
	if !Loopback(c.Listen) {
		return fmt.Errorf("access mode none needs a loopback listen address and %q is none; listen on 127.0.0.1 or use mode token", c.Listen)
	}
	if len(c.AllowOrigins) > 0 {
		return fmt.Errorf("access mode none serves its own pages only; remove allow_origins or use mode token")
	}
	if len(c.Tokens) > 0 {
		return fmt.Errorf("access mode none reads no tokens; remove them or use mode token")
	}
	if c.SignIn != nil {
		return fmt.Errorf("access mode none signs nobody in; remove oidc or use mode token")
	}
	if c.PublicURL != "" {
		return fmt.Errorf("access mode none lets everybody in who reaches the port, so that it must not be public; remove public_url or use mode token")
	}
	if len(c.TrustedProxies) > 0 {
		return fmt.Errorf("access mode none lets everybody in who reaches the port, so that no proxy may pass requests on; remove trusted_proxies or use mode token")
	}
	if c.PassThrough != "" {
		return fmt.Errorf("access mode none reads no tokens, so none can be passed through; remove pass_through or use mode token")
	}
	return nil
}

// unspecified reports whether host means "every address", which is no name
// anybody should call us by.
func unspecified(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "" || err == nil && addr.IsUnspecified()
}
