package cli

import (
	"context"
	"fmt"

	"github.com/tributary-dev/tributary/internal/cli/manual"
)

type completionCommand struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"The shell."`
}

// Run prints the completion script.
func (c *completionCommand) Run(_ context.Context, p *program) error {
	script, err := manual.Completion(line(&commands{}), c.Shell)
	if err == nil {
		_, err = fmt.Fprint(p.stdout, script)
	}
	return err
}

type manCommand struct{}

// Run prints the manual page.
func (manCommand) Run(_ context.Context, p *program) error {
	_, err := fmt.Fprint(p.stdout, manual.Page(line(&commands{}),
		manual.Section{Title: "exit status", Items: [][2]string{
			{"0", "Success."},
			{"1", "A failure."},
			{"2", "A mistake in the command line or the configuration."},
			{"130", "An interrupted command."},
		}},
		manual.Section{Title: "files", Items: [][2]string{
			{"tributary.yaml", "The configuration, in the current directory."},
			{"~/.local/share/tributary", "The data directory: the log, and the token of the gateway."},
		}},
		manual.Section{Title: "see also", Items: [][2]string{{"https://github.com/tributary-dev/tributary", "The documentation."}}},
	))
	return err
}
