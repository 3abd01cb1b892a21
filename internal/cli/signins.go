package cli

import (
	"context"
	"fmt"

	"github.com/tributary-dev/tributary/access"
	"github.com/tributary-dev/tributary/config"
)

type signInsCommand struct {
	List   signInsList   `cmd:"" default:"withargs" help:"List who is signed in to the page."`
	Revoke signInsRevoke `cmd:"" help:"End a sign-in of the page."`
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

	ID string `arg:"" help:"The id of the sign-in."`
}

// Run ends a sign-in.
func (r *signInsRevoke) Run(ctx context.Context, p *program) error {
	return r.using(ctx, func(_ config.Config, s access.Store) error {
		if err := access.EndSignIn(ctx, s, r.ID); err != nil {
			return err
		}
		_, err := fmt.Fprintln(p.stdout, "The sign-in is over. A gateway that runs refuses it within seconds.")
		return err
	})
}
