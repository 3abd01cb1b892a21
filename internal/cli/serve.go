package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"os"
	"path/filepath"

	"github.com/tributary-dev/tributary/access"
	"github.com/tributary-dev/tributary/config"
)

type serveCommand struct {
	Config   string `placeholder:"FILE" help:"The configuration (default ./tributary.yaml, if it is there). Flags win over it."`
	Listen   string `placeholder:"HOST:PORT" help:"Where to listen (default 127.0.0.1:8787); port 0 is any free port."`
	Cluster  string `name:"cluster-address" placeholder:"HOST:PORT" help:"How other gateways reach this one, with the section cluster of the configuration (default cluster.address)."`
	Metrics  string `name:"metrics-listen" placeholder:"HOST:PORT" help:"A further address, which answers GET /metrics without a token (default none)."`
	Data     string `placeholder:"DIR" help:"The data directory (default $XDG_DATA_HOME/tributary or ~/.local/share/tributary)."`
	Cwd      string `placeholder:"DIR" help:"The directory that agents work in (default the current one)."`
	Agent    string `placeholder:"NAME" help:"The agent of sessions that name none (default demo)."`
	DB       string `name:"db" placeholder:"URL" help:"A PostgreSQL database for the log (postgres://…), instead of SQLite in the data directory."`
	App      string `placeholder:"URL" help:"An app whose pages the gateway serves instead of its own, such as http://localhost:5173."`
	Auth     string `placeholder:"MODE" help:"token (default), jwt, or none: on a loopback address only."`
	Fsync    string `placeholder:"on|off" help:"Whether SQLite syncs each commit to the disk (default on)."`
	LogLevel string `placeholder:"LEVEL" help:"debug, info (default), warn or error."`
}

// Run runs the gateway until a signal stops it.
func (s *serveCommand) Run(ctx context.Context, p *program) error {
	cfg, err := s.settings(ctx, p.kinds())
	if err != nil {
		return err
	}
	logger := newLogger(p.stderr, cfg.LogLevel.Slog())
	err = p.untilSignal(ctx, exitFailed, func(ctx context.Context) error {
		return serve(ctx, cfg, logger, func(bare string, guard *access.Guard) { printURL(p, bare, guard, logger) })
	})
	if exit, ok := errors.AsType[*exitError](err); ok && exit.err == nil {
		logger.Warn("ended at once, by a second signal")
		endAgents(cfg.Data, logger)
	}
	return err
}

// printURL prints where the gateway is. On a terminal the URL signs in.
func printURL(p *program, bare string, guard *access.Guard, logger *slog.Logger) {
	if isTerminal(p.stdout) {
		address, once := guard.SignInURL(bare)
		fmt.Fprintln(p.stdout, address)
		if once {
			logger.Info("the URL signs in as admin once, within 15 minutes: the next start prints another one, and `tributary token reset` prints a new token")
		}
		return
	}
	fmt.Fprintln(p.stdout, bare) // it may end up in a log, which others read
	switch {
	case guard.URL(bare) != bare:
		logger.Info("the URL is printed without the token, since this is no terminal: `tributary token` shows it")
	case guard.Hashed():
		logger.Info("the URL does not sign in, since this is no terminal: if you have no token and cannot sign in otherwise, `tributary token reset` prints a new admin token")
	}
}

// settings are the configuration with the flags on top.
func (s *serveCommand) settings(ctx context.Context, kinds catalog) (setup, error) {
	for _, at := range []struct{ flag, address string }{{"--listen", s.Listen}, {"--metrics-listen", s.Metrics}, {"--cluster-address", s.Cluster}} {
		if at.address == "" {
			continue
		}
		if err := config.CheckListen(at.address); err != nil {
			return setup{}, usage("%s %w", at.flag, err)
		}
	}
	switch access.Mode(s.Auth) {
	case "", access.ModeNone, access.ModeToken, access.ModeJWT:
	default:
		return setup{}, usage("--auth %s is unknown: use token, jwt or none", s.Auth)
	}
	if err := checkLevel(s.LogLevel); err != nil {
		return setup{}, err
	}
	c, err := load(kinds, s.Config, flags{agent: s.Agent, cwd: s.Cwd, listen: s.Listen, auth: s.Auth})
	if err := cmp.Or(err, c.chosen()); err != nil {
		return c, err
	}
	switch f := config.Fsync(s.Fsync); f {
	case "":
	case config.FsyncOn, config.FsyncOff:
		c.Fsync = f
	default:
		return c, usage("--fsync %q is unknown: write on or off", s.Fsync)
	}
	if s.DB != "" {
		if err := config.CheckDB(s.DB); err != nil {
			return c, usage("--db %w", err)
		}
		c.DB = s.DB
	}
	if s.App != "" {
		if err := config.CheckApp(s.App); err != nil {
			return c, usage("--app %w", err)
		}
		c.App = s.App
	}
	if c.App != "" && (!access.Loopback(c.Listen) || c.PublicURL != "") {
		return c, usage("app is for an app in development: it needs a listen address on loopback, and no public_url")
	}
	if c.App != "" && len(c.Widget.AllowOrigins) > 0 {
		return c, usage("the widget is one of the gateway's own pages, which an app replaces: leave app or widget.allow_origins out")
	}
	switch {
	case s.Cluster == "":
	case c.Cluster == nil:
		return c, usage("--cluster-address is for several gateways: write the section cluster with its listen into the configuration, or leave the flag out")
	default:
		c.Cluster.Address = s.Cluster
	}
	c.LogLevel, c.MetricsListen = cmp.Or(config.LogLevel(s.LogLevel), c.LogLevel), cmp.Or(s.Metrics, c.MetricsListen)
	if c.Data, err = dataDir(cmp.Or(s.Data, c.Data)); err != nil {
		return c, err
	}
	if err := cmp.Or(c.checkBackup(), c.checkCluster()); err != nil {
		return c, err
	}
	_, err = c.countTokens(ctx, c.Data, c.DB, s.Agent) // a start says why the store cannot be read
	return c, cmp.Or(err, c.chosen())
}

// dataDir is the directory in which the gateway keeps its log and its secrets.
func dataDir(named string) (string, error) {
	if named == "" {
		base := os.Getenv("XDG_DATA_HOME")
		if !filepath.IsAbs(base) { // relative ones are to be ignored, says the XDG specification
			home, err := os.UserHomeDir()
			if err != nil {
				return "", usage("the data directory is not known, since there is no home directory: name one with --data")
			}
			base = filepath.Join(home, ".local", "share")
		}
		named = filepath.Join(base, "tributary")
	}
	path, err := filepath.Abs(named)
	if err != nil {
		return "", fmt.Errorf("find the current directory: %w", err)
	}
	return path, nil
}

// baseURL is where the gateway is reached from this machine.
func baseURL(scheme, listen string, at net.Addr) string {
	tcp, ok := at.(*net.TCPAddr)
	if !ok {
		return scheme + "://" + at.String()
	}
	host, _, _ := net.SplitHostPort(listen)
	return localURL(scheme, net.JoinHostPort(host, fmt.Sprint(tcp.Port)))
}

// appURL is the gateway's address under the name of an app's host. Development servers refuse pages
// of other names: Next.js does not take 127.0.0.1 for localhost.
func appURL(base, app string) string {
	at, err := url.Parse(base)
	own, wrong := url.Parse(app)
	if err != nil || wrong != nil || net.ParseIP(own.Hostname()) != nil || !access.Loopback(own.Host) {
		return base
	}
	at.Host = net.JoinHostPort(own.Hostname(), at.Port())
	return at.String()
}

// localURL is the address, on this machine, of a gateway that listens somewhere.
func localURL(scheme, listen string) string {
	host, port, _ := net.SplitHostPort(listen)
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() { // every address, so loopback too
		host = "127.0.0.1"
	}
	return scheme + "://" + net.JoinHostPort(host, port)
}
