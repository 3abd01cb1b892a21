package cli

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/tributary-dev/tributary/eval/run"
)

type evalInitCommand struct {
	Dir string `arg:"" optional:"" default:"." placeholder:"DIR" help:"The directory (default the current one), made if it is not there."`
}

// Run writes the example.
func (c *evalInitCommand) Run(_ context.Context, p *program) error {
	names, err := run.WriteExample(c.Dir)
	if err != nil {
		return usage("%w", err)
	}
	for _, name := range names {
		fmt.Fprintln(p.stdout, filepath.Join(c.Dir, filepath.FromSlash(name)))
	}
	fmt.Fprintf(p.stdout, "\nNow run it: tributary eval run %s\n", filepath.Join(c.Dir, "suite.yaml"))
	return nil
}
