package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/config"
	"github.com/tributary-dev/tributary/internal/cli/cmdline"
	"github.com/tributary-dev/tributary/internal/cli/manual"
	"github.com/tributary-dev/tributary/policy/box"
)

// Main runs the command line of this process with further adapters, and ends the process
// with the exit status.
func Main(adapters ...agent.Adapter) {
	box.Enter()
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	p := &program{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, signals: signals, more: adapters}
	os.Exit(p.main(context.Background(), os.Args[1:]))
}

// program is the command line program with its streams and its environment.
type program struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	signals        <-chan os.Signal
	more           []agent.Adapter // beside those that are built in
}

func (p *program) kinds() catalog { return builtIn().with(p.more) }

// commands is the command line.
type commands struct {
	Serve   serveCommand   `cmd:"" help:"Run the gateway."`
	Run     runCommand     `cmd:"" help:"Run one turn in the terminal."`
	Convert convertCommand `cmd:"" help:"Convert a recording of an agent's own protocol."`
	Agents  agentsCommand  `cmd:"" help:"List the agents and whether they can start here."`
	Token   tokenCommand   `cmd:"" help:"Show, create, list and revoke tokens."`
	SignIns signInsCommand `cmd:"" name:"signins" help:"List who is signed in to the page, and end sign-ins."`
	Widget  widgetCommand  `cmd:"" help:"Print the script tag of the widget, with its hash."`
	Version versionCommand `cmd:"" help:"Print the version."`

	Chat       chatCommand       `cmd:"" help:"Talk with an agent in the terminal, by a running gateway."`
	Sessions   sessionsCommand   `cmd:"" help:"Look at the sessions of a running gateway, and remove them."`
	Workspaces workspacesCommand `cmd:"" help:"Look at the workspaces that sessions of a running gateway have of their own, and remove them."`
	Export     exportCommand     `cmd:"" help:"Export sessions of a running gateway: their records, their conversation, trajectories or spans."`
	Import     importCommand     `cmd:"" help:"Print the records of a trajectory in ATIF that another program wrote."`
	Eval       evalCommand       `cmd:"" help:"Judge what agents did in sessions."`
	Recover    recoverCommand    `cmd:"" help:"Save what can be read of a damaged database into a new one."`
	Logs       logsCommand       `cmd:"" help:"Show what happens in a session of a running gateway."`
	Config     configCommand     `cmd:"" help:"Check the configuration."`
	Health     healthCommand     `cmd:"" help:"Ask a running gateway whether it takes requests."`
	Completion completionCommand `cmd:"" help:"Print the completion script of a shell."`
	Man        manCommand        `cmd:"" help:"Print the manual page."`
}

// main runs a command line and returns the exit status.
func (p *program) main(ctx context.Context, args []string) int {
	err := p.dispatch(ctx, args)
	var exit *exitError
	var fault *config.Fault
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &exit):
		if exit.err != nil {
			fmt.Fprintln(p.stderr, "tributary:", exit.err)
		}
		return exit.status
	case errors.As(err, &fault):
		fmt.Fprintln(p.stderr, "tributary:", fault)
		return exitUsage
	default:
		fmt.Fprintln(p.stderr, "tributary:", err)
		return exitFailed
	}
}

// line describes the command line that is read into c.
func line(c *commands) *cmdline.Command {
	return cmdline.New("tributary", "Any agent, for a stock useChat: the gateway to the AI SDK's UI message stream.", c)
}

// runnable is the struct of a command without commands below it.
type runnable interface {
	Run(ctx context.Context, p *program) error
}

func (p *program) dispatch(ctx context.Context, args []string) error {
	if len(args) == 0 {
		args = []string{"--help"}
	}
	named, help, err := line(&commands{}).Parse(args)
	if err != nil {
		return usage("%w (tributary --help shows what there is)", err)
	}
	if help {
		_, err := io.WriteString(p.stdout, manual.Help(named))
		return err
	}
	return named.Target.(runnable).Run(ctx, p) //nolint:forcetypeassert // a test looks at all commands
}
