package replay

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/trace"
)

// Ended is the reason of the stop of a turn that the recording leaves open.
const Ended = "recording_ended"

// Summary tells what a recording held.
type Summary struct {
	Messages int
	Turns    int
	// BothSides says that the recording also holds the messages to the agent.
	BothSides bool
	// Skipped are the messages that the decoder did not understand, and First is
	// its word on the first of them.
	Skipped int
	First   error
}

// Options say of the records what a recording does not tell. The zero value is for tests, whose
// golden files must not change with their recordings.
type Options struct {
	// Session is the session of every record; "recording" if empty.
	Session string
	// Agent has the name and the adapter of the agent. They are on record before everything else,
	// and again when the decoder learns more of the agent, also in the middle of a turn. Without an adapter the records have
	// what the decoder says, as it is.
	Agent trace.AgentInfo
	// Start is the time of the first record. If it is zero, times count from 1970.
	Start time.Time
}

// Run is Options.Run with the zero value.
func Run(ctx context.Context, d agent.Decoder, recording io.Reader, emit func(trace.Record) error) (Summary, error) {
	return Options{}.Run(ctx, d, recording, emit)
}

// Run plays a recording through the decoder and hands every record to emit, in
// order. Records outside any turn have no Turn; those that come while a turn
// runs follow it. An error means that the recording could not be read at all or
// that emit failed.
func (o Options) Run(ctx context.Context, d agent.Decoder, recording io.Reader, emit func(trace.Record) error) (Summary, error) {
	o.Session = cmp.Or(o.Session, "recording")
	p := &player{Options: o, ctx: ctx, emit: emit}
	source := newScanner(recording)
	for {
		m, at, err := source.next()
		if errors.Is(err, io.EOF) {
			if e, ok := d.(interface{ AtEnd(t agent.Turns) }); ok {
				e.AtEnd(p)
			}
			break
		}
		if err != nil {
			return p.sum, errors.Join(err, p.finish())
		}
		p.clock.set(at)
		p.sum.Messages++
		p.sum.BothSides = p.sum.BothSides || m.Dir == agent.In
		effects, err := d.Decode(m, p)
		p.resumes(effects)
		if err != nil {
			p.sum.Skipped++
			if p.sum.First == nil {
				p.sum.First = err
			}
		}
		if err := p.settle(); err != nil {
			return p.sum, err
		}
	}
	if err := p.finish(); err != nil {
		return p.sum, err
	}
	if p.sum.Messages == 0 {
		return p.sum, errors.New("the recording holds no message: is it the right file?")
	}
	if p.sum.Messages == p.sum.Skipped {
		return p.sum, fmt.Errorf("no message of the recording could be understood: is it of this agent? The first one: %w", p.sum.First)
	}
	return p.sum, nil
}
