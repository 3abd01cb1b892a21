// Package live sends each turn to a receiver of spans when the turn has ended, and each score when it comes.
//
// The log is the queue: it knows where each turn ends, and how far each exporter has come in each
// session. So a turn waits for as long as its receiver is down, and survives the end of the process.
// An Exporter has one turn in memory at a time.
package live

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/export/otlp"
	"github.com/tributary-dev/tributary/export/otlp/send"
	"github.com/tributary-dev/tributary/internal/address"
)

// Options say what goes where.
type Options struct {
	// Name finds the exporter's positions again after a restart.
	Name string
	// Receiver is where spans go. The Exporter sets its Attempts and Waits.
	Receiver send.Config
	// Spans say what spans have. The Exporter sets its Agent.
	Spans otlp.Options
	// Agents are the agents whose sessions are sent; none are all.
	Agents []string
	// Backfill sends the turns, too, that have ended before the first start with this name.
	Backfill bool
	Logger   *slog.Logger
}

// Exporter sends the turns of a log to one receiver.
type Exporter struct {
	Options
	sender *send.Sender
	log    *eventlog.Log
	stop   context.CancelFunc
	done   chan struct{} // closed when the worker has ended

	mu     sync.Mutex
	status Status
	behind map[string]*failing // sessions whose next turn was tried in vain

	// The worker's alone.
	sessions    map[string]place // where the reading of sessions goes on
	taken       bool             // the receiver has taken a span
	inRow       int              // failures since a success
	since, full time.Time        // where the next scan begins; when the last one of all was
	told        time.Time        // when the log was told of a failure; zero after the end of an outage
}

// New returns an Exporter that does nothing yet. Errors are of the receiver's address and headers.
func New(o Options) (*Exporter, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	e := &Exporter{Options: o, behind: map[string]*failing{}, sessions: map[string]place{}}
	e.Logger = o.Logger.With("exporter", o.Name)
	e.status = Status{Name: o.Name, Receiver: address.Public(o.Receiver.URL), Agents: o.Agents}
	receiver := o.Receiver
	receiver.Attempts, receiver.Waits = attempts, func(why string, _ time.Duration) { e.failed("the receiver did not take the spans (" + why + ")") }
	var err error
	e.sender, err = send.New(receiver)
	return e, err //nolint:wrapcheck // a sentence
}

// Start begins to send the turns of a log. The caller calls Stop before the log closes.
func (e *Exporter) Start(ctx context.Context, log *eventlog.Log) error {
	if err := log.AddExporter(ctx, e.Name, e.Backfill); err != nil {
		return fmt.Errorf("begin the exporter %s: %w", e.Name, err)
	}
	ctx, e.stop = context.WithCancel(context.WithoutCancel(ctx))
	e.log, e.done = log, make(chan struct{})
	ends := log.Ends() // from here on no end is missed
	go func() {
		defer close(e.done)
		defer ends.Close()
		defer e.sender.Close()
		e.run(ctx, ends)
	}()
	return nil
}

// Stop ends the sending and waits. What was not sent is sent after the next start.
func (e *Exporter) Stop() {
	if e.stop != nil {
		e.stop()
		<-e.done
	}
}

// Status says how an exporter is doing in this gateway.
type Status struct {
	Name string `json:"name"`
	// Receiver is its address, without what may be secret.
	Receiver string   `json:"receiver"`
	Agents   []string `json:"agents,omitempty"`
	// Turns and Spans were taken by the receiver. Dropped are spans that it refused, and Skipped
	// are turns that could not be exported. Failures are attempts in vain.
	Turns    int64 `json:"turns"`
	Spans    int64 `json:"spans"`
	Dropped  int64 `json:"dropped"`
	Skipped  int64 `json:"skipped"`
	Failures int64 `json:"failures"`
	// LastSent is when the receiver took a turn, and FailingSince when a turn that still waits was
	// tried in vain for the first time.
	LastSent     *time.Time `json:"last_sent,omitempty"`
	FailingSince *time.Time `json:"failing_since,omitempty"`
	// LastFailure is one sentence without secrets, and LastFailureAt its time.
	LastFailure   string     `json:"last_failure,omitempty"`
	LastFailureAt *time.Time `json:"last_failure_at,omitempty"`
}

// Status returns it.
func (e *Exporter) Status() Status {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := e.status
	for _, f := range e.behind {
		if s.FailingSince == nil || f.since.Before(*s.FailingSince) {
			s.FailingSince = &f.since
		}
	}
	return s
}

// Waiting counts the turns that wait, on all gateways.
func (e *Exporter) Waiting(ctx context.Context) (int, error) {
	return e.log.CountUnsent(ctx, e.Name, e.Agents) //nolint:wrapcheck // a sentence
}

// failed notes an attempt in vain.
func (e *Exporter) failed(why string) {
	now := time.Now().UTC()
	e.mu.Lock()
	defer e.mu.Unlock()
	e.status.Failures++
	e.status.LastFailure, e.status.LastFailureAt = strings.TrimSpace(why), &now
}

// succeeded notes what became of turns, and of scores that came later.
func (e *Exporter) succeeded(session string, turns int64, r send.Result) {
	now := time.Now().UTC()
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.behind, session)
	e.status.Turns += turns
	e.status.Spans += int64(r.Sent)
	e.status.Dropped += int64(r.Dropped)
	e.status.LastSent = &now
}
