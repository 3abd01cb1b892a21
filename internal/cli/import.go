package cli

import (
	"context"
	"fmt"
	"os"

	"github.com/tributary-dev/tributary/export/atif"
	"github.com/tributary-dev/tributary/trace"
)

type importCommand struct {
	File string `arg:"" placeholder:"FILE" help:"The trajectory in ATIF, or - for standard input."`
}

// Run prints the records of a trajectory that another program wrote.
func (c *importCommand) Run(ctx context.Context, p *program) error {
	in := p.stdin
	if c.File != "-" {
		f, err := os.Open(c.File)
		if err != nil {
			return fmt.Errorf("the trajectory cannot be read: %w", err)
		}
		defer f.Close()
		in = f
	}
	return atif.Read(ctx, in, func(r trace.Record) error { return writeRecord(p.stdout, r) }) //nolint:wrapcheck // a sentence
}
