package cli

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/tributary-dev/tributary/access"
	"github.com/tributary-dev/tributary/access/accessdb"
	"github.com/tributary-dev/tributary/eventlog/sqllog"
)

type configCommand struct {
	Check configCheckCommand `cmd:"" help:"Check the configuration, without a start of the gateway."`
}

type configCheckCommand struct {
	Config string `placeholder:"FILE" help:"The configuration (default ./tributary.yaml, if it is there)."`
}

// Run checks what a start of the gateway checks, and makes nothing.
func (c *configCheckCommand) Run(ctx context.Context, p *program) error {
	cfg, err := (&serveCommand{Config: c.Config}).settings(ctx, p.kinds())
	if err != nil {
		return err
	}
	logger := newLogger(p.stderr, cfg.LogLevel.Slog())
	options, err := cfg.sessionOptions(logger)
	if err := cmp.Or(err, cfg.checkAuth(options.Agents)); err != nil {
		return err
	}
	if err := cmp.Or(cfg.apart(options.Agents, logger), cfg.checkSecrets()); err != nil {
		return err
	}
	if _, err := adapterOff(); err != nil {
		return err
	}
	if _, err := cfg.exporters(logger); err != nil {
		return err
	}
	names := slices.Sorted(maps.Keys(options.Agents))
	for _, name := range names {
		for _, warning := range cfg.warnings(name) {
			fmt.Fprintf(p.stderr, "tributary: the agent %s: %s\n", name, warning)
		}
	}
	if err := cfg.checkAccess(ctx, p); err != nil {
		return err
	}
	if err := cfg.checkSchema(ctx, p); err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.stdout, "The configuration is right: the gateway listens on %s, with %s (default %s) and the data in %s.\n",
		cfg.Listen, strings.Join(names, ", "), cfg.DefaultAgent, cfg.Data)
	return err
}

// checkSchema says whether a start would change the tables of the log, or those of tokens and
// sign-ins. A database that does not answer is no fault of the configuration.
func (s *setup) checkSchema(ctx context.Context, p *program) error {
	there, own, err := sqllog.SchemaVersions(ctx, sqllog.Options{Dir: s.Data, URL: s.DB})
	if err != nil {
		fmt.Fprintf(p.stderr, "tributary: the schema of the database is not known: %v\n", err)
		return nil
	}
	if err := announce(p, "the database", there, own); err != nil {
		return err
	}
	there, own, err = accessdb.SchemaVersions(ctx, s.Data, s.DB)
	if err != nil {
		fmt.Fprintln(p.stderr, "tributary: the schema of tokens and sign-ins is not known: the start says why")
		return nil //nolint:nilerr // the error may have the password of the database
	}
	return announce(p, "tokens and sign-ins", there, own)
}

// announce says what a start would make of a schema.
func announce(p *program, of string, there, own int64) (err error) {
	switch {
	case there > own:
		return fmt.Errorf("the schema of %s has version %d and this program knows versions up to %d: start the newer tributary that wrote it", of, there, own)
	case there > 0 && there < own:
		_, err = fmt.Fprintf(p.stdout, "The first start brings the schema of %s from version %d to %d. Older programs cannot use it then: make a back-up before.\n", of, there, own)
	}
	return err
}

// checkAccess reads the certificate, the keys and the tokens that the configuration names. The
// gateway keeps its own token and its sign-ins in a folder that is removed again.
func (s *setup) checkAccess(ctx context.Context, p *program) error {
	dir, err := os.MkdirTemp("", "tributary-check-*")
	if err != nil {
		return fmt.Errorf("a temporary folder cannot be made: %w", err)
	}
	defer os.RemoveAll(dir) //nolint:errcheck // it is in the folder for temporary files
	c, logger := s.Config, newLogger(p.stderr, s.LogLevel.Slog())
	c.Data, c.Listen = dir, s.Listen
	if _, err := tlsConfig(c.TLS, logger); err != nil {
		return err
	}
	signIn, err := s.signIn()
	if err != nil {
		return err
	}
	store, err := accessdb.Open(ctx, dir, "", logger)
	if err != nil {
		return err
	}
	_, err = access.New(accessConfig(c, store, signIn, logger))
	if err := store.Close(); err != nil {
		return err
	}
	if err != nil {
		return faultOfAccess(err)
	}
	s.warnOfViewers(logger)
	return nil
}
