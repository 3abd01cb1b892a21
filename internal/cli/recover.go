package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/tributary-dev/tributary/eventlog/sqllog"
)

type recoverCommand struct {
	Old string `arg:"" placeholder:"OLD" help:"The damaged database. It is not changed."`
	New string `arg:"" placeholder:"NEW" help:"The new database, a file that is not there yet."`
}

// Run saves what can be read of a damaged database, and says what cannot.
func (c *recoverCommand) Run(ctx context.Context, p *program) error {
	return p.untilSignal(ctx, exitCanceled, func(ctx context.Context) error {
		found, err := sqllog.Recover(ctx, c.Old, c.New)
		if err != nil {
			return err
		}
		table := newTable(p.stdout, "SESSION", "RECORDS", "LOST", "DAMAGE")
		read, lost, damaged := 0, 0, 0
		for _, s := range found.Sessions {
			read, lost = read+s.Records, lost+s.Lost
			if s.Damage != "" {
				damaged++
			}
			table.row(oneParagraph(s.Session), fmt.Sprint(s.Records), fmt.Sprint(s.Lost), oneParagraph(s.Damage))
		}
		if err := table.Flush(); err != nil {
			return err
		}
		if found.Journal {
			fmt.Fprintf(p.stdout, "The newest commits are lost: the journal %s-wal is damaged or cut.\n", c.Old)
		}
		if len(found.Tables) > 0 {
			fmt.Fprintf(p.stdout, "Parts of these tables cannot be read: %s.\n", strings.Join(found.Tables, ", "))
		}
		_, err = fmt.Fprintf(p.stdout, "%s has %d records of %d sessions. At least %d records are lost, and %d sessions are damaged.\n", c.New, read, len(found.Sessions), lost, damaged)
		return err
	})
}
