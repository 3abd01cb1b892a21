package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/tributary-dev/tributary/internal/httpjson"
	"github.com/tributary-dev/tributary/trace"
)

type sessionsCommand struct {
	List   sessionsListCommand   `cmd:"" help:"List the sessions of a running gateway, the newest first."`
	Show   sessionsShowCommand   `cmd:"" help:"Show a session, and what was said in it."`
	Export exportCommand         `cmd:"" hidden:"" help:"The same as tributary export."`
	Delete sessionsDeleteCommand `cmd:"" help:"End a session's turn and agent, and remove its records."`
}

// errOtherVersion says that an answer cannot be read.
var errOtherVersion = errors.New("the gateway describes its sessions in another form: is it of another version?")

// sessionInfo is a session as the gateway describes it.
type sessionInfo struct {
	ID        string    `json:"id"`
	Agent     string    `json:"agent"`
	Title     string    `json:"title"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
	State     string    `json:"state"`
	Held      int       `json:"held,omitempty"`
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
	var page struct {
		Sessions []json.RawMessage `json:"sessions"`
	}
	err := c.using(func(g remote) error {
		query := url.Values{"limit": {strconv.Itoa(c.Limit + 1)}}
		return g.plain(g.Do(ctx, httpjson.Call{Method: "GET", Path: "/api/sessions", Query: query, Out: &page}))
	})
	if err != nil {
		return err
	}
	more := len(page.Sessions) > c.Limit
	page.Sessions = page.Sessions[:min(c.Limit, len(page.Sessions))]
	if c.JSON {
		return json.NewEncoder(p.stdout).Encode(page.Sessions)
	}
	table := newTable(p.stdout, "ID", "AGENT", "STATE", "UPDATED", "TITLE")
	for _, raw := range page.Sessions {
		var s sessionInfo
		if err := json.Unmarshal(raw, &s); err != nil {
			return errOtherVersion
		}
		table.row(oneParagraph(s.ID), oneParagraph(s.Agent), s.State, s.UpdatedAt.Local().Format(time.DateTime), oneLine(s.Title))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if more {
		fmt.Fprintf(p.stderr, "There are more sessions: --limit shows up to %d.\n", most)
	}
	return nil
}

type sessionsShowCommand struct{ oneSession }

// Run shows a session.
func (c *sessionsShowCommand) Run(ctx context.Context, p *program) error {
	return c.using(func(g remote) error {
		s, err := g.session(ctx, c.Session)
		if err != nil {
			return err
		}
		table := newTable(p.stdout)
		table.row("session", oneParagraph(s.ID))
		table.row("title", oneLine(s.Title))
		table.row("agent", oneParagraph(s.Agent))
		table.row("state", oneParagraph(s.State))
		if s.Held > 0 {
			table.row("held", fmt.Sprintf("%d prompts, until somebody continues the queue: POST %s/queue/continue", s.Held, of(c.Session)))
		}
		table.row("owner", oneParagraph(cmp.Or(s.Owner, "-")))
		table.row("created", s.CreatedAt.Local().Format(time.DateTime))
		table.row("updated", s.UpdatedAt.Local().Format(time.DateTime))
		if err := table.Flush(); err != nil {
			return err
		}
		return printAll(&transcript{printText: newPrintText(p)}, g.history(ctx, c.Session))
	})
}

// session asks for one session.
func (g remote) session(ctx context.Context, id string) (s sessionInfo, err error) {
	if err := g.Do(ctx, httpjson.Call{Method: "GET", Path: of(id), Out: &s}); err != nil {
		return s, g.plain(err)
	}
	return s, nil
}

type sessionsDeleteCommand struct {
	oneSession

	Yes bool `help:"Do not ask."`
}

// Run deletes a session, after a question to the person at the terminal.
func (c *sessionsDeleteCommand) Run(ctx context.Context, p *program) error {
	return c.using(func(g remote) error {
		s, err := g.session(ctx, c.Session)
		if err != nil {
			return err
		}
		if yes, err := c.confirm(ctx, p, s); !yes {
			return err
		}
		var answer struct{ Kept string }
		if err := g.Do(ctx, httpjson.Call{Method: "DELETE", Path: of(c.Session), Out: &answer}); err != nil {
			return g.plain(err)
		}
		if answer.Kept != "" {
			fmt.Fprintln(p.stderr, "tributary: "+oneParagraph(answer.Kept))
		}
		return nil
	})
}

// confirm asks the person at the terminal.
func (c *sessionsDeleteCommand) confirm(ctx context.Context, p *program, s sessionInfo) (yes bool, err error) {
	person := &asker{out: p.stderr, in: p.stdin, there: isTerminal(p.stdin) && isTerminal(p.stderr)}
	switch {
	case c.Yes:
		return true, nil
	case !person.there:
		return false, usage("there is no terminal to ask: add --yes to delete the session %s", oneParagraph(s.ID))
	}
	line, _ := person.line(ctx, fmt.Sprintf("Delete the session %q of %s for ever? y or n: ", oneLine(cmp.Or(s.Title, s.ID)), oneParagraph(s.Agent)))
	if answer := strings.ToLower(strings.TrimSpace(line)); answer == "y" || answer == "yes" {
		return true, nil
	}
	fmt.Fprintln(p.stderr, "The session stays.")
	return false, nil
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
