package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/tributary-dev/tributary/export/atif"
	"github.com/tributary-dev/tributary/export/otlp"
	"github.com/tributary-dev/tributary/export/otlp/send"
	"github.com/tributary-dev/tributary/export/redact"
	"github.com/tributary-dev/tributary/internal/httpjson"
	"github.com/tributary-dev/tributary/trace"
)

type exportCommand struct {
	reach

	Format      string   `placeholder:"FORMAT" enum:"trace,markdown,json,atif,otlp,otlp-protobuf" default:"trace" help:"trace (records as JSON lines; the default), markdown, json (UIMessage[]), atif (a trajectory), otlp (spans, a request in each line) or otlp-protobuf."`
	Version     *string  `name:"atif" placeholder:"V" help:"The version of ATIF: 1.7 (the default) or 1.8."`
	Content     *string  `placeholder:"CLASSES" help:"What atif and otlp may have: all (the default), none (names, kinds, numbers and times), or some of prompt, output, reasoning, tool-input, tool-output, title, error, person, path, with commas between them."`
	Turn        *string  `placeholder:"TURN" help:"The only turn that atif and otlp have."`
	NoDenied    bool     `name:"no-denied" help:"Leave calls that were refused out of atif and otlp."`
	NoSubagents bool     `name:"no-subagents" help:"Leave the work of sub-agents out of atif and otlp."`
	Output      string   `name:"output" short:"o" placeholder:"FILE" help:"A file, or a directory for a file of each session (default standard output). Pictures go beside a trajectory."`
	To          string   `placeholder:"URL" help:"Send the spans of otlp, as protobuf, to this receiver. /v1/traces is added to an address that does not end in /traces."`
	Header      []string `sep:"none" placeholder:"NAME=VALUE" help:"A header for the receiver; for a key NAME=env:VARIABLE, an environment variable. May be given several times."`
	AllowHTTP   bool     `name:"allow-http" help:"Send by http to another machine too, where everybody on the way can read the spans and the key."`
	All         bool     `help:"Export all sessions."`
	Agent       string   `placeholder:"NAME" help:"Export the sessions with this agent."`
	Query       string   `placeholder:"WORDS" help:"Export the sessions in which all of these words occur."`
	Sessions    []string `arg:"" optional:"" name:"session" placeholder:"SESSION" help:"The ids of sessions."`
}

// Run exports sessions.
func (c *exportCommand) Run(ctx context.Context, p *program) error {
	filter, err := c.filter()
	chosen := c.All || c.Agent != "" || c.Query != ""
	switch {
	case err != nil:
		return err
	case len(c.Sessions) == 0 && !chosen:
		return usage("no session is named: write its id, or --all, --agent or --query")
	case len(c.Sessions) > 0 && chosen:
		return usage("sessions are named and chosen by a flag: use one of them")
	}
	to, err := c.sender(p)
	if err != nil {
		return err
	}
	return p.untilSignal(ctx, exitCanceled, func(ctx context.Context) error {
		err := c.export(ctx, p, to, filter)
		if err != nil && ctx.Err() != nil {
			return &exitError{exitCanceled, err}
		}
		return err
	})
}

// filter says what is exported, and refuses filters that the format does not have: the export would
// have what the user wants to keep.
func (c *exportCommand) filter() (f redact.Filter, err error) {
	for _, one := range []struct {
		flag, filter string
		given        bool
	}{
		{"--content", "content", c.Content != nil},
		{"--turn", "turn", c.Turn != nil},
		{"--no-denied", "denied", c.NoDenied},
		{"--no-subagents", "subagents", c.NoSubagents},
		{"--atif", "version", c.Version != nil},
	} {
		if formats := redact.Formats(one.filter); one.given && !slices.Contains(formats, c.Format) {
			return f, usage("%s does nothing for --format %s: remove it, or write --format %s", one.flag, c.Format, strings.Join(formats, " or "))
		}
	}
	if err := (atif.Options{Version: value(c.Version)}).Check(); err != nil {
		return f, usage("--atif: %w", err)
	}
	if c.Turn != nil && *c.Turn == "" {
		return f, usage("--turn is empty: write the id of a turn, or remove the flag")
	}
	f = redact.Filter{Turn: value(c.Turn), NoDenied: c.NoDenied, NoSubagents: c.NoSubagents}
	if f.Drop, err = dropped(c.Content); err != nil {
		return f, err
	}
	return f, nil
}

// dropped are the classes of content that --content leaves out.
func dropped(content *string) ([]redact.Class, error) {
	if content == nil {
		return nil, nil
	}
	drop, err := redact.Parse(*content)
	if err != nil {
		return nil, usage("--content: %w", err)
	}
	return drop, nil
}

// value is what a flag says, empty if the flag is not given.
func value(flag *string) string {
	if flag == nil {
		return ""
	}
	return *flag
}

func (c *exportCommand) export(ctx context.Context, p *program, to *send.Sender, filter redact.Filter) error {
	return c.using(func(g remote) (err error) {
		ids := c.Sessions
		chosen := len(ids) == 0
		if chosen {
			if ids, err = g.sessions(ctx, url.Values{"agent": {c.Agent}, "q": {c.Query}}); err != nil {
				return err
			}
		}
		if to != nil {
			return c.send(ctx, p, g, to, ids, filter)
		}
		dir, err := c.directory(len(ids) > 1 || chosen)
		if err != nil {
			return err
		}
		return c.write(p, dir, ids, func(id string, w io.Writer, path string) error {
			return c.session(ctx, g, id, filter, w, mediaBeside(path))
		})
	})
}

// session writes one session.
func (c *exportCommand) session(ctx context.Context, g remote, id string, filter redact.Filter, w io.Writer, media func(string, []byte) (string, error)) error {
	switch c.Format {
	case "trace":
		return printAll(printTrace{w}, g.history(ctx, id))
	case "atif", "otlp", "otlp-protobuf":
	default:
		in, err := g.Stream(ctx, httpjson.Call{
			Method: "GET", Path: of(id, "export"), Query: url.Values{"format": {c.Format}}, Types: []string{"text/markdown", "application/json"},
		})
		if err != nil {
			return g.plain(err)
		}
		defer in.Close() //nolint:errcheck // nothing was written
		if _, err := io.Copy(w, in); err != nil {
			return fmt.Errorf("the conversation is not complete: try again: %w", err)
		}
		return nil
	}
	s, err := g.session(ctx, id)
	if err != nil {
		return err
	}
	filter.Agent.Name = s.Agent
	return writeTurns(w, func() iter.Seq2[trace.Record, error] { return g.history(ctx, id) }, c.Format, filter, atif.Options{Version: value(c.Version), Media: media})
}

// writeTurns writes a trajectory or spans.
func writeTurns(w io.Writer, records func() iter.Seq2[trace.Record, error], format string, filter redact.Filter, o atif.Options) error {
	if format == "atif" {
		o.Filter = filter
		return atif.Write(w, records, o) //nolint:wrapcheck // a sentence
	}
	n, err := otlp.Write(w, records, otlp.Options{Filter: filter, Version: version(), Proto: format == "otlp-protobuf"})
	if err == nil && n == 0 {
		err = atif.Nothing(filter.Turn)
	}
	return err //nolint:wrapcheck // a sentence
}

// sessions are the ids of all sessions that a filter chooses.
func (g remote) sessions(ctx context.Context, query url.Values) (ids []string, err error) {
	for before := ""; ; {
		var page struct {
			Sessions []sessionInfo `json:"sessions"`
		}
		var header http.Header
		query.Set("limit", "1000")
		query.Set("before", before)
		if err := g.Do(ctx, httpjson.Call{Method: "GET", Path: "/api/sessions", Query: query, Out: &page, Got: &header}); err != nil {
			return nil, g.plain(err)
		}
		for _, s := range page.Sessions {
			ids = append(ids, s.ID)
		}
		if before = next(header.Get("Link")); before == "" {
			break
		}
	}
	if len(ids) == 0 {
		return nil, errors.New("there is no such session: `tributary sessions list` shows what there is")
	}
	return ids, nil
}

// next is the mark of the page to which a header leads on, or "".
func next(link string) string {
	address, rest, _ := strings.Cut(strings.TrimPrefix(link, "<"), ">")
	u, err := url.Parse(address)
	if err != nil || !strings.Contains(rest, `rel="next"`) {
		return ""
	}
	return u.Query().Get("before")
}
