package cli

import (
	"context"
	"fmt"

	"github.com/tributary-dev/tributary/access"
	"github.com/tributary-dev/tributary/config"
)

type signInsCommand struct {
	List   signInsList   `cmd:"" default:"withargs" help:"List who is signed in to the page."`
	Revoke signInsRevoke `cmd:"" help:"End a sign-in of the page, or with --user all sign-ins of a person."`
}

type signInsList struct{ at }

// Run lists the sign-ins.
func (l *signInsList) Run(ctx context.Context, p *program) error {
	return l.using(ctx, func(_ config.Config, s access.Store) error {
		all, err := access.SignIns(ctx, s)
		if err != nil {
			return err
		}
		table := newTable(p.stdout, "ID", "USER", "NAME", "BY", "SINCE", "UNTIL")
		for _, i := range all {
			table.row(i.ID, oneLine(i.User), oneLine(i.Name), i.By, day(i.Created), day(i.Expires))
		}
		return table.Flush()
	})
}

type signInsRevoke struct {
	at

	ID   string `arg:"" optional:"" help:"The id of the sign-in."`
	User string `placeholder:"NAME" help:"End all sign-ins of this person, by USER or NAME of the list."`
}

// Run ends a sign-in, or those of a person.
func (r *signInsRevoke) Run(ctx context.Context, p *program) error {
	switch {
	case r.ID == "" && r.User == "":
		return usage("the id is missing: write the id of a sign-in, or --user NAME for all sign-ins of a person")
	case r.ID != "" && r.User != "":
		return usage("an id and --user exclude each other: leave one of them out")
	}
	return r.using(ctx, func(_ config.Config, s access.Store) error {
		if r.User != "" {
			n, err := access.EndSignInsOf(ctx, s, r.User)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(p.stdout, "The sign-ins of %s are over: %d. A gateway that runs refuses them within seconds.\n", oneLine(r.User), n)
			return err
		}
		if err := access.EndSignIn(ctx, s, r.ID); err != nil {
			return err
		}
		_, err := fmt.Fprintln(p.stdout, "The sign-in is over. A gateway that runs refuses it within seconds.")
		return err
	})
}
