package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/tributary-dev/tributary/access"
	"github.com/tributary-dev/tributary/access/accessdb"
	"github.com/tributary-dev/tributary/config"
)

// tokenFile is the file of the minted token in the data directory.
const tokenFile = "token"

type tokenCommand struct {
	Show   tokenShow   `cmd:"" default:"withargs" help:"Print the token that the first start made. It opens the gateway as admin. Where several people use the gateway, only its hash is kept."`
	Reset  tokenReset  `cmd:"" help:"Replace the token of the first start, print the new one once, and end the sign-ins of the old one."`
	Create tokenCreate `cmd:"" help:"Make a token for a person or a program, and print it once."`
	List   tokenList   `cmd:"" help:"List the tokens that were created."`
	Revoke tokenRevoke `cmd:"" help:"Revoke a created token, and end the sign-ins of the page that it opened."`
}

// at says which gateway a command is about.
type at struct {
	Config string `placeholder:"FILE" help:"The configuration (default ./tributary.yaml, if it is there)."`
	Data   string `placeholder:"DIR" help:"The data directory, as for serve."`
	DB     string `name:"db" placeholder:"URL" help:"The PostgreSQL database of the log, as for serve."`
}

// place loads the configuration, and puts the data directory and the database into it.
func (a at) place() (c config.Config, err error) {
	if c, err = config.Load(a.Config); err != nil {
		return c, err
	}
	if a.DB != "" {
		if err := config.CheckDB(a.DB); err != nil {
			return c, usage("--db %w", err)
		}
	}
	c.DB = cmp.Or(a.DB, c.DB)
	c.Data, err = dataDir(cmp.Or(a.Data, c.Data))
	return c, err
}

// open opens the store of a gateway that was started before. The gateway may run.
func open(ctx context.Context, c config.Config) (*accessdb.Store, error) {
	db, err := storeOf(c.Data, c.DB)
	if err != nil {
		return nil, err
	}
	if db == "" {
		if err := started(c.Data); err != nil {
			return nil, err
		}
	}
	return accessdb.Open(ctx, c.Data, db, newLogger(os.Stderr, slog.LevelWarn))
}

// started reports a data directory that does not exist.
func started(dir string) error {
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return fmt.Errorf("there is no data directory %s: start the gateway once with `tributary serve`, or name its data directory with --data", dir)
	}
	return nil
}

// using runs a function with the store.
func (a at) using(ctx context.Context, do func(config.Config, access.Store) error) error {
	c, err := a.place()
	if err != nil {
		return err
	}
	store, err := open(ctx, c)
	if err != nil {
		return err
	}
	return errors.Join(do(c, store), store.Close())
}

type tokenShow struct{ at }

// Run prints the minted token.
func (t *tokenShow) Run(_ context.Context, p *program) error {
	c, err := t.place()
	if err != nil {
		return err
	}
	if err := noAdminToken(c); err != nil {
		return err
	}
	token, err := access.ReadTokenFile(filepath.Join(c.Data, tokenFile))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("there is no token in %s: start the gateway once with `tributary serve`, or name its data directory with --data", c.Data)
	case errors.Is(err, access.ErrHashed):
		return fmt.Errorf("the token cannot be shown, because several people use the gateway and so %s keeps its hash only: `tributary token reset` prints a new one and ends the old one", filepath.Join(c.Data, tokenFile))
	case err != nil:
		return fmt.Errorf("the token in %s cannot be read: %w", c.Data, reason(err))
	}
	_, err = fmt.Fprintln(p.stdout, token)
	return err
}

// noAdminToken says that there is no admin token, if the configuration has switched it off.
func noAdminToken(c config.Config) error {
	if c.Auth.AdminToken == config.AdminTokenOff {
		return usage("auth.admin_token is off, so there is no admin token: sign in as somebody with the role admin, or make a token with `tributary token create NAME --role admin`")
	}
	return nil
}

type tokenReset struct{ at }

// Run makes a new token in the place of the minted one. A gateway that runs takes it.
func (t *tokenReset) Run(ctx context.Context, p *program) error {
	return t.using(ctx, func(c config.Config, s access.Store) error {
		if err := noAdminToken(c); err != nil {
			return err
		}
		if err := started(c.Data); err != nil { // also where the store is in a database
			return err
		}
		created, err := access.Tokens(ctx, s)
		if err != nil {
			return err
		}
		token, err := access.ResetTokenFile(filepath.Join(c.Data, tokenFile), peopleOf(c, len(created) > 0) == severalPeople)
		if err != nil {
			return err
		}
		fmt.Fprintln(p.stderr, "This is the new admin token. A gateway that runs takes it now, and refuses the old one and its sign-ins. Keep it: where several people use the gateway, it is shown only now.")
		_, err = fmt.Fprintln(p.stdout, token)
		return err
	})
}

type tokenCreate struct {
	at

	Name    string         `arg:"" help:"The name of the holder, which the log shows."`
	Role    string         `placeholder:"ROLE" help:"viewer, collaborator (default) or admin."`
	Expires *time.Duration `placeholder:"TIME" help:"How long the token counts, such as 720h (default: until it is revoked)."`
}

// Run makes a token.
func (t *tokenCreate) Run(ctx context.Context, p *program) error {
	var role access.Role
	if err := role.UnmarshalText([]byte(cmp.Or(t.Role, access.Collaborator.String()))); err != nil {
		return usage("--role: %w", err)
	}
	n := access.Named{Name: t.Name, Role: role}
	switch {
	case t.Expires == nil:
	case *t.Expires <= 0:
		return usage("--expires is %s: write a time such as 720h", t.Expires)
	default:
		n.Expires = time.Now().Add(*t.Expires)
	}
	return t.using(ctx, func(c config.Config, s access.Store) error {
		token, err := access.CreateToken(ctx, s, n)
		if err != nil {
			return err
		}
		first := filepath.Join(c.Data, tokenFile)
		switch changed, err := access.HashTokenFile(first); {
		case err != nil:
			fmt.Fprintf(p.stderr, "The next start of the gateway will keep the hash of the admin token only; that did not succeed now: %v.\n", err)
		case changed:
			fmt.Fprintf(p.stderr, "Several people use the gateway now, so %s keeps the hash of the admin token only. The token stays valid; `tributary token reset` prints a new one.\n", first)
		}
		if peopleOf(c, false) != severalPeople {
			fmt.Fprintln(p.stderr, "The next start of the gateway counts several people: it offers agents that act on this machine only if the configuration names them, in the box that is the default for several people.")
		}
		fmt.Fprintf(p.stderr, "This is the token of %s, with the role %s. It is shown only now.\n", n.Name, role)
		_, err = fmt.Fprintln(p.stdout, token)
		return err
	})
}

type tokenList struct{ at }

// Run lists the created tokens.
func (t *tokenList) Run(ctx context.Context, p *program) error {
	return t.using(ctx, func(_ config.Config, s access.Store) error {
		all, err := access.Tokens(ctx, s)
		if err != nil {
			return err
		}
		table := newTable(p.stdout, "NAME", "ROLE", "CREATED", "EXPIRES")
		for _, n := range all {
			table.row(n.Name, n.Role.String(), day(n.Created), day(n.Expires))
		}
		return table.Flush()
	})
}

// day shows a time in lists.
func day(t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return t.UTC().Format("2006-01-02 15:04 UTC")
}

type tokenRevoke struct {
	at

	Name string `arg:"" help:"The name of the token."`
}

// Run revokes a token.
func (t *tokenRevoke) Run(ctx context.Context, p *program) error {
	return t.using(ctx, func(_ config.Config, s access.Store) error {
		if err := access.RevokeToken(ctx, s, t.Name); err != nil {
			return err
		}
		_, err := fmt.Fprintf(p.stdout, "The token of %s is revoked. A gateway that runs refuses it within seconds.\n", t.Name)
		return err
	})
}
