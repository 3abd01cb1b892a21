package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/tributary-dev/tributary/config"
	"github.com/tributary-dev/tributary/eval"
	"github.com/tributary-dev/tributary/export/atif"
	"github.com/tributary-dev/tributary/export/otlp"
	"github.com/tributary-dev/tributary/export/otlp/send"
	"github.com/tributary-dev/tributary/export/redact"
	"github.com/tributary-dev/tributary/trace"
)

// This file sends the spans of sessions to a receiver.

// sender is nil if nothing is to be sent.
func (c *exportCommand) sender(p *program) (*send.Sender, error) {
	switch {
	case c.To == "" && (len(c.Header) > 0 || c.AllowHTTP):
		return nil, usage("--header and --allow-http are for a receiver: name it with --to")
	case c.To == "":
		return nil, nil
	case !strings.HasPrefix(c.Format, "otlp"):
		return nil, usage("--to sends spans, and no %s: write --format otlp", c.Format)
	case c.Output != "":
		return nil, usage("--to sends the spans and --output writes them into a file: use one of them")
	}
	header, err := headers(c.Header)
	if err != nil {
		return nil, err
	}
	s, err := send.New(send.Config{
		URL: c.To, AllowHTTP: c.AllowHTTP, Header: header,
		Waits: func(why string, wait time.Duration) {
			fmt.Fprintf(p.stderr, "tributary: the receiver did not take the spans (%s): trying again in %v\n", oneParagraph(why), wait)
		},
	})
	if err != nil {
		return nil, usage("%w", err)
	}
	return s, nil
}

// headers reads headers as NAME=VALUE, or as NAME=env:VARIABLE for secrets.
func headers(all []string) (http.Header, error) {
	h := http.Header{}
	for _, one := range all {
		name, value, ok := strings.Cut(one, "=")
		if !ok || strings.ContainsAny(name, ": ") {
			if end := strings.IndexAny(name, ": "); end >= 0 {
				name = name[:end] // the rest may be a key
			}
			return nil, usage("--header %s is not NAME=VALUE: write it so, or NAME=env:VARIABLE for a secret", oneLine(name))
		}
		value, err := headerValue(value)
		if err != nil {
			return nil, usage("--header %s %w", oneLine(name), err)
		}
		h.Add(name, value)
	}
	return h, nil
}

// headerValue is the value of a header, or of the environment variable that it names. The error is a phrase.
func headerValue(value string) (string, error) {
	variable, is := config.SecretEnv(value)
	if !is {
		return value, nil
	}
	if value = strings.TrimSpace(os.Getenv(variable)); value == "" {
		return "", fmt.Errorf("names %s, and there is no such environment variable: set it", oneLine(variable))
	}
	return value, nil
}

// sent counts what was sent.
type sent struct {
	sessions, turns int
	send.Result
}

func (s sent) String() string {
	return fmt.Sprintf("%s, %s, %s sent, %d dropped", eval.Counted(s.sessions, "session"), eval.Counted(s.turns, "turn"), eval.Counted(s.Sent, "span"), s.Dropped)
}

// send sends all sessions, and prints one line for each, and one with the sums. Spans that the
// receiver did not take are an error at the end.
func (c *exportCommand) send(ctx context.Context, p *program, g remote, to *send.Sender, ids []string, filter redact.Filter) error {
	defer to.Close()
	var sum sent
	err := c.each(p, ids, func(id string) error {
		one, err := sendOne(ctx, g, to, id, filter)
		if one.turns > 0 || one.Sent > 0 {
			fmt.Fprintf(p.stderr, "tributary: %s: %s, %s sent, %d dropped\n", oneParagraph(id), eval.Counted(one.turns, "turn"), eval.Counted(one.Sent, "span"), one.Dropped)
			sum = sent{sum.sessions + 1, sum.turns + one.turns, sum.Plus(one.Result)}
		}
		return err
	})
	if err != nil {
		if !errors.Is(err, atif.ErrNothing) {
			fmt.Fprintln(p.stdout, sum)
		}
		return err
	}
	fmt.Fprintln(p.stdout, sum)
	if sum.Dropped > 0 {
		return fmt.Errorf("the receiver did not take %s; of the first it said: %s", eval.Counted(sum.Dropped, "span"), cmp.Or(oneParagraph(sum.First), "nothing"))
	}
	return nil
}

// sendOne sends a session. All of it is read first: the gateway does not wait while a receiver does.
func sendOne(ctx context.Context, g remote, to *send.Sender, id string, filter redact.Filter) (one sent, err error) {
	s, err := g.session(ctx, id)
	if err != nil {
		return one, err
	}
	filter.Agent.Name = s.Agent
	var turns [][]otlp.Request
	records := func() iter.Seq2[trace.Record, error] { return g.history(ctx, id) }
	for requests, err := range otlp.Turns(records, otlp.Options{Filter: filter, Version: version()}) {
		if err != nil {
			return one, err //nolint:wrapcheck // a sentence
		}
		turns = append(turns, requests)
	}
	if len(turns) == 0 {
		return one, atif.Nothing(filter.Turn)
	}
	for _, requests := range turns {
		for _, r := range requests {
			result, err := to.Send(ctx, r)
			one.Result = one.Plus(result)
			if err != nil {
				return one, err //nolint:wrapcheck // a sentence
			}
		}
		one.turns++
	}
	return one, nil
}
