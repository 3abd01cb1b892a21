package remote

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/internal/procio"
	"github.com/tributary-dev/tributary/internal/sse"
)

// Program is a Transport to a program that runs once for each stream. The program gets the
// body of the call in place of agentkit.Placeholder or on standard input: a text as it is,
// all else as one line of JSON. The program prints events, as JSON lines or server-sent.
type Program struct{ procio.Config }

var _ Transport = Program{}

// Do implements Transport: a program has no other calls.
func (Program) Do(context.Context, Call, agent.Caller) (json.RawMessage, error) {
	return nil, errors.ErrUnsupported
}

// Close implements Transport.
func (Program) Close() {}

// Stream implements Transport.
func (p Program) Stream(ctx context.Context, c Call, _ agent.Caller) (Stream, error) {
	var prompt string
	if json.Unmarshal(c.Body, &prompt) != nil {
		prompt = string(c.Body)
	}
	cfg, given := p.Config, false
	cfg.Args, given = agentkit.WithPrompt(p.Args, prompt)
	run, err := procio.Start(cfg)
	if err != nil {
		return nil, agentkit.Unstarted("the program", p.Path, fmt.Errorf("the program %s was not found: install it, or correct command", p.Path), err)
	}
	fed := make(chan struct{})
	go func() { // ends with the process
		defer close(fed)
		if !given {
			_ = run.WriteLine(ctx, []byte(prompt)) // a program may answer without reading
		}
		run.EndInput()
	}()
	return printed{run, fed}, nil
}

// printed is what a program prints.
type printed struct {
	*procio.Process
	fed chan struct{}
}

// Close implements Stream.
func (p printed) Close() {
	p.Kill()
	_ = p.Process.Close() // its group was killed, or has ended
	<-p.fed
}

// Events implements Stream.
func (p printed) Events() iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		name := Unnamed
		for {
			line, err := p.ReadLine()
			if long, ok := errors.AsType[procio.LineTooLongError](err); ok {
				if !yield(Event{}, sse.TooLargeError{Max: long.Max}) {
					return
				}
				continue
			}
			if err != nil {
				if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) || p.ExitCode() != 0 {
					yield(Event{}, fmt.Errorf("the program failed (%s)", p.Why()))
				}
				return
			}
			line = bytes.TrimSpace(line)
			if field, value, ok := bytes.Cut(line, []byte(":")); ok && string(field) == "event" {
				name = string(bytes.TrimSpace(value))
				continue
			} else if ok && string(field) == "data" {
				line = bytes.TrimSpace(value)
			}
			switch {
			case len(line) == 0:
				name = Unnamed
			case line[0] != ':' && !bytes.HasPrefix(line, []byte("id:")) && !yield(Event{Name: name, Data: asJSON(bytes.Clone(line))}, nil):
				return
			}
		}
	}
}
