package cli

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/config"
	"github.com/tributary-dev/tributary/export/atif"
	"github.com/tributary-dev/tributary/export/reader"
	"github.com/tributary-dev/tributary/export/redact"
	"github.com/tributary-dev/tributary/internal/testkit/replay"
	"github.com/tributary-dev/tributary/trace"
	"github.com/tributary-dev/tributary/uistream"
)

type convertCommand struct {
	From    string   `placeholder:"ADAPTER" help:"The adapter whose recording it is. Needed without --agent."`
	Agent   string   `placeholder:"NAME" help:"The agent of the configuration whose recording it is, with its tool_kinds."`
	Config  string   `placeholder:"FILE" help:"The configuration of --agent (default ./tributary.yaml, if it is there)."`
	To      string   `default:"uistream" placeholder:"FORM" help:"uistream (server-sent events), legacy (those for older clients), trace (JSON lines), atif (a trajectory) or otlp (spans, a request in each line)."`
	Content *string  `placeholder:"CLASSES" help:"What atif and otlp may have, as in export."`
	Client  string   `placeholder:"V" help:"The release of the AI SDK for which events are (default: what 6 and 7 share)."`
	Compat  string   `placeholder:"rfc" help:"rfc: write the stream as the Agent Ops RFC does."`
	Domain  []string `name:"domain-events" placeholder:"NAME" help:"Events beside the conversation to show, as in stream.domain_events."`
	At      string   `placeholder:"TIME" help:"When the trace begins (default 1970-01-01T00:00:00Z)."`
	File    string   `arg:"" placeholder:"FILE" help:"The recording, or - for standard input."`
}

// Run converts a recording. The same input gives the same output.
func (c *convertCommand) Run(ctx context.Context, p *program) error {
	decoder, about, err := c.reader(p)
	if err != nil {
		return err
	}
	o := replay.Options{Agent: about}
	if c.At != "" {
		if o.Start, err = time.Parse(time.RFC3339, c.At); err != nil {
			return usage("--at %s is no time: write one such as 2026-03-04T05:06:07Z", c.At)
		}
	}
	out, end, err := c.form(p.stdout, about)
	if err != nil {
		return err
	}
	recording, err := c.recording(p.stdin)
	if err != nil {
		return fmt.Errorf("the recording cannot be read: %w", err)
	}
	o.Session = sessionOf(recording)
	records := 0
	sum, err := o.Run(ctx, decoder, bytes.NewReader(recording), func(r trace.Record) error {
		records++
		return out(r)
	})
	switch {
	case err != nil:
		return err
	case records == 0 && !sum.BothSides:
		return fmt.Errorf("nothing in the recording is a message of %s that means anything: is it of another agent? The adapters that read recordings are %s", about.Adapter, p.kinds().readers())
	case records == 0:
		fmt.Fprintln(p.stderr, "tributary: nothing happened in the recording: there is no prompt and no message in it")
	}
	if sum.Skipped > 0 {
		fmt.Fprintf(p.stderr, "tributary: %d of %d messages were not understood and left out; the first: %v\n", sum.Skipped, sum.Messages, sum.First)
	}
	return end()
}

// reader returns what reads the recording, and the name and the adapter of its agent.
func (c *convertCommand) reader(p *program) (agent.Decoder, trace.AgentInfo, error) {
	s := agent.Settings{Name: cmp.Or(c.Agent, c.From)}
	adapter := c.From
	switch {
	case c.Agent != "":
		cfg, err := load(p.kinds(), c.Config, flags{agent: c.Agent, alone: true})
		if err != nil {
			return nil, trace.AgentInfo{}, err
		}
		of, preset, err := cfg.adapterOf(c.Agent)
		if err != nil {
			return nil, trace.AgentInfo{}, err
		}
		s.ToolKinds, adapter = cfg.Agents[c.Agent].ToolKinds, cmp.Or(c.From, preset.Name, of.Name)
	case c.Config != "":
		return nil, trace.AgentInfo{}, usage("--config is for --agent: name the agent of the configuration whose recording it is")
	case c.From == "":
		return nil, trace.AgentInfo{}, usage("--from is missing: write --from ADAPTER for the adapter whose recording it is, or --agent NAME for an agent of the configuration")
	}
	kind, preset, ok := p.kinds().find(adapter)
	if !ok || kind.Decoder == nil {
		return nil, trace.AgentInfo{}, usage("--from %s names no adapter that reads recordings: use one of %s", adapter, p.kinds().readers())
	}
	s.Preset = preset.Name
	return kind.Decoder(s), trace.AgentInfo{Name: s.Name, Adapter: adapter}, nil
}

// recording reads the whole recording, because the name of its session is made of all of it.
func (c *convertCommand) recording(stdin io.Reader) ([]byte, error) {
	if c.File == "-" {
		return io.ReadAll(stdin)
	}
	return os.ReadFile(c.File)
}

// sessionOf names the session of a recording by its content, so that the sessions of two recordings
// are two sessions wherever their traces go.
func sessionOf(recording []byte) string {
	sum := sha256.Sum256(recording)
	return "recording-" + hex.EncodeToString(sum[:])[:12]
}

// form returns what takes each record, and what writes the rest at the end.
func (c *convertCommand) form(w io.Writer, about trace.AgentInfo) (each func(trace.Record) error, end func() error, err error) {
	profile, err := uistream.ParseProfile(c.Client)
	domain, unknown := uistream.ParseDomainEvents(c.Domain)
	switch {
	case err != nil:
		return nil, nil, usage("--%w", err)
	case unknown != nil:
		return nil, nil, usage("--domain-events %w", unknown)
	case c.Compat != "" && c.Compat != string(config.CompatRFC):
		return nil, nil, usage("--compat %s is unknown: the only one is rfc", c.Compat)
	}
	end = func() error { return nil }
	drop, err := dropped(c.Content)
	switch {
	case err != nil:
		return nil, nil, err
	case c.Content != nil && c.To != "atif" && c.To != "otlp":
		return nil, nil, usage("--content does nothing for --to %s: remove it, or write --to atif or --to otlp", c.To)
	}
	switch c.To {
	case "atif", "otlp":
		var kept []trace.Record
		each = func(r trace.Record) error {
			if !trace.Ephemeral(r.Payload) {
				kept = append(kept, r)
			}
			return nil
		}
		return each, func() error {
			return writeTurns(w, reader.Kept(kept), c.To, redact.Filter{Agent: about, Drop: drop}, atif.Options{})
		}, nil
	case "trace":
		return func(r trace.Record) error { return writeRecord(w, r) }, end, nil
	case "uistream", "legacy":
		o := uistream.Options{Profile: profile, RFC: c.Compat != "", Domain: domain, Legacy: c.To == "legacy"}
		return writeStreams(w, o), end, nil
	}
	return nil, nil, usage("--to %s is unknown: use uistream, legacy, trace, atif or otlp", c.To)
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

// writeStreams writes the stream of each turn once the turn has stopped.
func writeStreams(w io.Writer, o uistream.Options) func(trace.Record) error {
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
