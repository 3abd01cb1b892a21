package cli

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/tributary-dev/tributary/access"
	"github.com/tributary-dev/tributary/config"
	"github.com/tributary-dev/tributary/internal/httpjson"
)

// reach holds the flags of commands that talk to a running gateway.
type reach struct {
	URL       string `name:"url" placeholder:"URL" help:"The gateway (default that of the configuration, on this machine)."`
	TokenFile string `placeholder:"FILE" help:"The file with the token (default $TRIBUTARY_TOKEN, or the token in the data directory)."`
	Config    string `placeholder:"FILE" help:"The configuration (default ./tributary.yaml, if it is there)."`
	Data      string `placeholder:"DIR" help:"The data directory, as for serve."`
}

// remote is a running gateway, with a token for it.
type remote struct {
	*httpjson.Client
	url   string
	token string // where the token comes from, for sentences
}

// at is the address of the gateway.
func (r reach) at(c config.Config) string {
	if r.URL != "" {
		return strings.TrimRight(r.URL, "/")
	}
	return configuredURL(c)
}

// configuredURL is the address, on this machine, of the gateway that the configuration starts.
func configuredURL(c config.Config) string {
	scheme := "http"
	if c.TLS != nil {
		scheme = "https"
	}
	return localURL(scheme, cmp.Or(c.Listen, defaultListen))
}

// tokenVariable is the environment variable with the token of local commands.
const tokenVariable = "TRIBUTARY_TOKEN" //nolint:gosec // the name of a variable

// connect finds the token: in the file that the person names, in the environment, or in the
// data directory. The minted token leaves this machine only if the person names its file, and
// the one of the environment only if the person names the gateway.
func (r reach) connect() (remote, error) {
	c, err := config.Load(r.Config)
	if err != nil {
		return remote{}, err
	}
	g := remote{url: r.at(c)}
	settings := httpjson.Config{URL: g.url}
	u, err := url.Parse(g.url)
	far := err == nil && !access.Loopback(net.JoinHostPort(u.Hostname(), "0"))
	switch given := os.Getenv(tokenVariable); {
	case r.TokenFile != "":
		settings.Bearer, err = readToken(r.TokenFile)
		g.token = r.TokenFile
	case given != "" && (!far || r.URL != ""):
		settings.Bearer, g.token, err = strings.TrimSpace(given), tokenVariable, nil
	case c.Auth.Mode == access.ModeNone && r.URL == "":
	case far:
		return g, usage("the token for %s is not known: name its file with --token-file", g.url)
	default:
		dir, wrong := dataDir(cmp.Or(r.Data, c.Data))
		if wrong != nil {
			return g, wrong
		}
		g.token = filepath.Join(dir, tokenFile)
		settings.Bearer, err = readToken(g.token)
	}
	if g.token != "" && err != nil {
		return g, err
	}
	if g.Client, err = httpjson.New(settings); err != nil {
		return g, usage("--url: %w", err)
	}
	return g, nil
}

// readToken reads a file with a token.
func readToken(path string) (string, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return "", usage("the token in %s cannot be read: %w: name its file with --token-file, or the data directory with --data", path, reason(err))
	}
	if _, err := access.ReadTokenFile(path); errors.Is(err, access.ErrHashed) {
		return "", usage("%s keeps the hash of the token only, because several people use the gateway: set %s to a token of yours, or name its file with --token-file; `tributary token reset` prints a new admin token", path, tokenVariable)
	}
	return strings.TrimSpace(string(data)), nil
}

// using connects to the gateway for as long as do runs.
func (r reach) using(do func(remote) error) error {
	g, err := r.connect()
	if err != nil {
		return err
	}
	defer g.Close()
	return do(g)
}

// oneSession holds the arguments of commands about one session of a running gateway.
type oneSession struct {
	reach

	Session string `arg:"" placeholder:"SESSION" help:"The id of the session."`
}

// plain makes one sentence of the error of a call.
func (g remote) plain(err error) error {
	failed, is := errors.AsType[*httpjson.Error](err)
	switch {
	case !is:
		return err
	case errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Errorf("there is no gateway at %s: start it with `tributary serve`, or name another address with --url", g.url)
	case failed.Status == http.StatusUnauthorized && g.token == "":
		return fmt.Errorf("the gateway at %s wants a token: name its file with --token-file", g.url)
	case failed.Status == http.StatusUnauthorized:
		return fmt.Errorf("the gateway at %s does not know the token in %s: name another file with --token-file, or the data directory with --data", g.url, g.token)
	case failed.Status != 0 && failed.Message == http.StatusText(failed.Status):
		return fmt.Errorf("the server at %s answers %d %s without a reason: is a gateway of this version there?", g.url, failed.Status, failed.Message)
	case failed.Status != 0:
		return errors.New(sentenceOf(failed.Message))
	}
	return fmt.Errorf("the gateway at %s does not answer: %s", g.url, failed.Message)
}

// sentenceOf writes a sentence of the gateway as the program writes its own.
func sentenceOf(text string) string {
	text = strings.TrimSuffix(oneParagraph(text), ".")
	if first, rest, _ := strings.Cut(text, " "); strings.ToUpper(first) != first || len(first) == 1 {
		text = strings.ToLower(first[:1]) + first[1:]
		if rest != "" {
			text += " " + rest
		}
	}
	return text
}
