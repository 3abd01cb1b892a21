package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/tributary-dev/tributary/internal/httpjson"
	"github.com/tributary-dev/tributary/trace"
)

type chatCommand struct {
	reach

	Agent   string `placeholder:"NAME" help:"The agent of a new session (default the gateway's)."`
	Session string `placeholder:"SESSION" help:"Go on with this session, instead of a new one."`
}

// Run talks with an agent until the person ends the input.
func (c *chatCommand) Run(ctx context.Context, p *program) error {
	g, err := c.connect()
	if err != nil {
		return err
	}
	defer g.Close()
	s, err := c.open(ctx, g)
	if err != nil {
		return err
	}
	person := &asker{out: p.stderr, in: p.stdin, there: isTerminal(p.stdin) && isTerminal(p.stderr)}
	talk := &talk{remote: g, session: s.ID, person: person, show: newPrintText(p)}
	if person.there {
		fmt.Fprintf(p.stderr, "The session %s with %s. Ctrl+C stops a turn, Ctrl+D ends the chat, and the session stays.\n", oneParagraph(s.ID), oneParagraph(s.Agent))
	}
	if talk.last, err = g.newest(ctx, s.ID); err != nil {
		return err
	}
	for {
		line, ok := talk.prompt(ctx, p)
		switch {
		case !ok:
			return nil
		case strings.TrimSpace(line) == "":
			continue
		}
		err := talk.turn(ctx, p, line)
		if _, ended := errors.AsType[*exitError](err); ended || err != nil && !person.there {
			return err
		}
		if err != nil {
			fmt.Fprintln(p.stderr, "tributary:", err)
		}
	}
}

// open finds the session, or makes one.
func (c *chatCommand) open(ctx context.Context, g remote) (s sessionInfo, err error) {
	if c.Session != "" {
		if c.Agent != "" {
			return s, usage("--agent is for a new session, and --session names one: use one of them")
		}
		return g.session(ctx, c.Session)
	}
	in := map[string]string{}
	if c.Agent != "" {
		in["agent"] = c.Agent
	}
	if err := g.Do(ctx, httpjson.Call{Method: "POST", Path: "/api/sessions", In: in, Out: &s}); err != nil {
		return s, g.plain(err)
	}
	return s, nil
}

// newest is the number of the last record of a session.
func (g remote) newest(ctx context.Context, session string) (last uint64, err error) {
	for r, err := range g.history(ctx, session) {
		if err != nil {
			return 0, err
		}
		last = r.Seq
	}
	return last, nil
}

// talk is a chat in a session.
type talk struct {
	remote

	session string
	person  *asker
	show    *printText
	last    uint64 // the number of the last record that was read
}

// prompt reads the next prompt. A signal ends the chat, too.
func (t *talk) prompt(ctx context.Context, p *program) (line string, ok bool) {
	hint := ""
	if t.person.there {
		hint = "> "
	}
	_ = p.untilSignal(ctx, exitOK, func(ctx context.Context) error {
		line, ok = t.person.line(ctx, hint)
		return nil
	})
	if !ok && t.person.there {
		fmt.Fprintln(t.person.out)
	}
	return line, ok
}

// turn sends a prompt and shows its turn to the end. A signal stops the turn.
func (t *talk) turn(ctx context.Context, p *program, text string) error {
	return p.untilSignal(ctx, exitCanceled, func(signaled context.Context) error {
		if err := t.Do(ctx, httpjson.Call{Method: "POST", Path: of(t.session, "prompt"), In: map[string]string{"content": text}}); err != nil {
			return t.plain(err)
		}
		defer context.AfterFunc(signaled, func() {
			_ = t.Do(ctx, httpjson.Call{Method: "POST", Path: of(t.session, "stop")}) //nolint:errcheck // the record of the stop ends the turn
		})()
		return t.watch(ctx, signaled, text)
	})
}

// watch shows the records of the turn that the prompt began.
func (t *talk) watch(ctx, signaled context.Context, text string) error {
	ours := ""
	for r, err := range t.follow(ctx, t.session, t.last) {
		if err != nil {
			return err
		}
		t.last = max(t.last, r.Seq)
		if prompt, is := r.Payload.(trace.Prompt); is && ours == "" && len(prompt.Message.Parts) == 1 && prompt.Message.Parts[0].Text == text {
			ours = r.Turn
		}
		if ours == "" || r.Turn != ours {
			continue // another person's turn
		}
		if err := t.show.print(r); err != nil {
			return err
		}
		if err := t.person.asked(signaled, remoteAnswers{t.remote, t.session}, r); err != nil {
			return err
		}
		if stop, is := r.Payload.(trace.Stop); is {
			return t.outcome(stop)
		}
	}
	return errors.New("the turn was not seen to its end")
}

// outcome says what went wrong in a turn. The chat goes on.
func (t *talk) outcome(s trace.Stop) error {
	err := outcome(s)
	if exit, canceled := errors.AsType[*exitError](err); canceled && exit.err == nil {
		fmt.Fprintln(t.person.out, "Stopped.")
		return nil
	}
	return err
}
