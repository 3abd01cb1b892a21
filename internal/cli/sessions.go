package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"net/url"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/tributary-dev/tributary/internal/httpjson"
	"github.com/tributary-dev/tributary/trace"
)

type sessionsCommand struct {
	List   sessionsListCommand   `cmd:"" help:"List the sessions of a running gateway, the newest first."`
	Show   sessionsShowCommand   `cmd:"" help:"Show a session, and what was said in it."`
	Export sessionsExportCommand `cmd:"" help:"Print the trace of a session, as JSON lines."`
	Delete sessionsDeleteCommand `cmd:"" help:"End a session's turn and agent, and remove its records."`
}

// oneSession is a session as the gateway describes it.
type oneSession struct {
	ID        string    `json:"id"`
	Agent     string    `json:"agent"`
	Title     string    `json:"title"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
	State     string    `json:"state"`
	Owner     string    `json:"owner,omitempty"`
}

type sessionsListCommand struct {
	reach

	Limit int  `placeholder:"N" default:"20" help:"How many sessions, at most 999 (default 20)."`
	JSON  bool `name:"json" help:"Print JSON."`
}

// Run lists sessions.
func (c *sessionsListCommand) Run(ctx context.Context, p *program) error {
	const most = 999 // of 1000: one tells whether there are more
	if c.Limit < 1 || c.Limit > most {
		return usage("--limit %d is out of range: write 1 to %d", c.Limit, most)
	}
	g, err := c.connect()
	if err != nil {
		return err
	}
	defer g.Close()
	var page struct {
		Sessions []json.RawMessage `json:"sessions"`
	}
	if err := g.Do(ctx, httpjson.Call{Method: "GET", Path: "/api/sessions", Query: url.Values{"limit": {strconv.Itoa(c.Limit + 1)}}, Out: &page}); err != nil {
		return g.plain(err)
	}
	more := len(page.Sessions) > c.Limit
	page.Sessions = page.Sessions[:min(c.Limit, len(page.Sessions))]
	if c.JSON {
		return json.NewEncoder(p.stdout).Encode(page.Sessions)
	}
	table := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "ID\tAGENT\tSTATE\tUPDATED\tTITLE")
	for _, raw := range page.Sessions {
		var s oneSession
		if err := json.Unmarshal(raw, &s); err != nil {
			return fmt.Errorf("the gateway at %s describes a session in another form: is it of another version?", g.url)
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", harmless(s.ID), harmless(s.Agent), s.State, s.UpdatedAt.Local().Format(time.DateTime), oneLine(s.Title))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if more {
		fmt.Fprintf(p.stderr, "There are more sessions: --limit shows up to %d.\n", most)
	}
	return nil
}

type sessionsShowCommand struct {
	reach

	Session string `arg:"" placeholder:"SESSION" help:"The id of the session."`
}

// Run shows a session.
func (c *sessionsShowCommand) Run(ctx context.Context, p *program) error {
	g, err := c.connect()
	if err != nil {
		return err
	}
	defer g.Close()
	s, err := g.session(ctx, c.Session)
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
	for _, row := range [][2]string{
		{"session", s.ID},
		{"title", oneLine(s.Title)},
		{"agent", s.Agent},
		{"state", s.State},
		{"owner", cmp.Or(s.Owner, "-")},
		{"created", s.CreatedAt.Local().Format(time.DateTime)},
		{"updated", s.UpdatedAt.Local().Format(time.DateTime)},
	} {
		fmt.Fprintf(table, "%s\t%s\n", row[0], harmless(row[1]))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	shown := &transcript{printText: newPrintText(p)}
	return printAll(shown, g.history(ctx, c.Session))
}

// session asks for one session.
func (g remote) session(ctx context.Context, id string) (s oneSession, err error) {
	if err := g.Do(ctx, httpjson.Call{Method: "GET", Path: of(id), Out: &s}); err != nil {
		return s, g.plain(err)
	}
	return s, nil
}

type sessionsExportCommand struct {
	reach

	Session string `arg:"" placeholder:"SESSION" help:"The id of the session."`
}

// Run prints a trace.
func (c *sessionsExportCommand) Run(ctx context.Context, p *program) error {
	g, err := c.connect()
	if err != nil {
		return err
	}
	defer g.Close()
	return printAll(printTrace{p.stdout}, g.history(ctx, c.Session))
}

type sessionsDeleteCommand struct {
	reach

	Session string `arg:"" placeholder:"SESSION" help:"The id of the session."`
	Yes     bool   `help:"Do not ask."`
}

// Run deletes a session, after a question to the person at the terminal.
func (c *sessionsDeleteCommand) Run(ctx context.Context, p *program) error {
	g, err := c.connect()
	if err != nil {
		return err
	}
	defer g.Close()
	s, err := g.session(ctx, c.Session)
	if err != nil {
		return err
	}
	person := &asker{out: p.stderr, in: p.stdin, there: isTerminal(p.stdin) && isTerminal(p.stderr)}
	switch {
	case c.Yes:
	case !person.there:
		return usage("there is no terminal to ask: add --yes to delete the session %s", harmless(s.ID))
	default:
		line, _ := person.line(ctx, fmt.Sprintf("Delete the session %q of %s for ever? y or n: ", oneLine(cmp.Or(s.Title, s.ID)), harmless(s.Agent)))
		if answer := strings.ToLower(strings.TrimSpace(line)); answer != "y" && answer != "yes" {
			fmt.Fprintln(p.stderr, "The session stays.")
			return nil
		}
	}
	if err := g.Do(ctx, httpjson.Call{Method: "DELETE", Path: of(c.Session)}); err != nil {
		return g.plain(err)
	}
	return nil
}

// printAll prints records to the first error.
func printAll(show printer, records iter.Seq2[trace.Record, error]) error {
	for r, err := range records {
		if err != nil {
			return err
		}
		if err := show.print(r); err != nil {
			return err
		}
	}
	return nil
}

// transcript prints what people and the agent have said, and what the agent did.
type transcript struct{ *printText }

func (c *transcript) print(r trace.Record) error {
	prompt, is := r.Payload.(trace.Prompt)
	if !is {
		return c.printText.print(r)
	}
	var text strings.Builder
	for _, part := range prompt.Message.Parts {
		switch {
		case part.Type == trace.InputText:
			text.WriteString(part.Text)
		default:
			fmt.Fprintf(&text, "[%s]", part.Type)
		}
	}
	if err := c.endLine(); err != nil {
		return err
	}
	return c.say("\n> " + strings.ReplaceAll(strings.TrimSpace(text.String()), "\n", "\n> ") + "\n\n")
}
