package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/tributary-dev/tributary/config"
	"github.com/tributary-dev/tributary/internal/testkit/replay"
	"github.com/tributary-dev/tributary/trace"
	"github.com/tributary-dev/tributary/uistream"
)

type convertCommand struct {
	From   string   `required:"" placeholder:"ADAPTER" help:"The adapter whose recording it is."`
	To     string   `default:"uistream" placeholder:"FORM" help:"uistream: the server-sent events of each turn; legacy: the same in the form of older clients; trace: JSON lines."`
	Client string   `placeholder:"V" help:"The release of the AI SDK that the events are for (default: what 6 and 7 have in common)."`
	Compat string   `placeholder:"rfc" help:"rfc: write the stream as the Agent Ops RFC does."`
	Domain []string `name:"domain-events" placeholder:"NAME" help:"Events beside the conversation that are shown, as in stream.domain_events: all, or some names."`
	File   string   `arg:"" placeholder:"FILE" help:"The recording, or - for standard input."`
}

// Run converts a recording. The same input gives the same output.
func (c *convertCommand) Run(ctx context.Context, p *program) error {
	kind, preset, ok := p.kinds().find(c.From)
	if !ok || kind.Decoder == nil {
		return usage("--from %s names no adapter that reads recordings: use one of %s", c.From, p.kinds().readers())
	}
	out, err := c.form(p.stdout)
	if err != nil {
		return err
	}
	in := p.stdin
	if c.File != "-" {
		f, err := os.Open(c.File)
		if err != nil {
			return fmt.Errorf("the recording cannot be read: %w", err)
		}
		defer f.Close()
		in = f
	}
	records := 0
	sum, err := replay.Run(ctx, kind.Decoder(preset.Name), in, func(r trace.Record) error {
		records++
		return out(r)
	})
	switch {
	case err != nil:
		return err
	case records == 0 && !sum.BothSides:
		return fmt.Errorf("nothing in the recording is a message of %s that means anything: is it of another agent? The adapters that read recordings are %s", c.From, p.kinds().readers())
	case records == 0:
		fmt.Fprintln(p.stderr, "tributary: nothing happened in the recording: there is no prompt and no message in it")
	}
	if sum.Skipped > 0 {
		fmt.Fprintf(p.stderr, "tributary: %d of %d messages were not understood and left out; the first: %v\n", sum.Skipped, sum.Messages, sum.First)
	}
	return nil
}

// form returns what writes each record.
func (c *convertCommand) form(w io.Writer) (func(trace.Record) error, error) {
	profile, err := uistream.ParseProfile(c.Client)
	domain, unknown := uistream.ParseDomainEvents(c.Domain)
	switch {
	case err != nil:
		return nil, usage("--%w", err)
	case unknown != nil:
		return nil, usage("--domain-events %w", unknown)
	case c.Compat != "" && c.Compat != string(config.CompatRFC):
		return nil, usage("--compat %s is unknown: the only one is rfc", c.Compat)
	}
	switch c.To {
	case "trace":
		return func(r trace.Record) error { return writeRecord(w, r) }, nil
	case "uistream", "legacy":
		o := uistream.Options{Profile: profile, RFC: c.Compat != "", Domain: domain, Legacy: c.To == "legacy"}
		return writeTurns(w, o), nil
	}
	return nil, usage("--to %s is unknown: use uistream, legacy or trace", c.To)
}

func writeRecord(w io.Writer, r trace.Record) error {
	line, err := r.AppendJSON(nil)
	if err == nil {
		_, err = w.Write(append(line, '\n'))
	}
	if err != nil {
		return fmt.Errorf("write the trace: %w", err)
	}
	return nil
}

// writeTurns writes the stream of each turn once the turn has stopped.
func writeTurns(w io.Writer, o uistream.Options) func(trace.Record) error {
	turns := map[string][]trace.Record{} // several may run at a time
	return func(r trace.Record) error {
		if r.Turn == "" {
			return nil // what belongs to no turn is in no stream
		}
		turn := append(turns[r.Turn], r)
		turns[r.Turn] = turn
		if _, last := r.Payload.(trace.Stop); !last {
			return nil
		}
		delete(turns, r.Turn)
		_, err := w.Write(uistream.AppendTurn(nil, slices.Values(turn), o, uistream.Framing{}))
		if err != nil {
			return fmt.Errorf("write the stream: %w", err)
		}
		return nil
	}
}
