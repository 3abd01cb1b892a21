package cli

import "context"

type logsCommand struct {
	oneSession

	All  bool `help:"Show what has been before, too."`
	JSON bool `name:"json" help:"Print the trace as JSON lines, instead of the text."`
}

// Run shows what happens in a session, until a signal.
func (c *logsCommand) Run(ctx context.Context, p *program) error {
	return c.using(func(g remote) error {
		return p.untilSignal(ctx, exitCanceled, func(ctx context.Context) (err error) {
			last := uint64(0)
			if !c.All {
				if last, err = g.newest(ctx, c.Session); err != nil {
					return err
				}
			}
			var show printer = &transcript{newPrintText(p)}
			if c.JSON {
				show = printTrace{p.stdout}
			}
			return printAll(show, g.follow(ctx, c.Session, last))
		})
	})
}
