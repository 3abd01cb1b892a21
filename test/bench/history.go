package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/eventlog/sqllog"
	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/trace"
)

// Which sessions of the full store are read, and how often after the first time.
const (
	readSessions = 20
	readAgain    = 5
)

// measureHistory reads pages from a store that many sessions have filled.
func (b *bencher) measureHistory(ctx context.Context) error {
	for _, name := range b.start.engines() {
		if err := b.readHistory(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

func (b *bencher) readHistory(ctx context.Context, name string) error {
	fmt.Fprintf(os.Stderr, "  filling a store with %d sessions of %d turns, %s\n", b.scale.stored, b.scale.history, name)
	data, err := b.start.filled(ctx, name, "full", func(store *sqllog.Store) error {
		return fillStore(ctx, store, b.scale.stored, b.scale.history)
	})
	if err != nil {
		return err
	}
	began := time.Now()
	s, err := b.start.server(ctx, name, data)
	if err != nil {
		return err
	}
	defer s.end()
	b.figures.add(historyReady, s.name, milliseconds(time.Since(began)))
	for i := range min(readSessions, b.scale.stored) {
		for n := range 1 + readAgain {
			took, size, err := s.get(ctx, "/api/sessions/"+stored(i)+"/messages?limit=100")
			if err == nil && size < 100*minTurn {
				err = fmt.Errorf("a page of 100 turns has only %d bytes", size)
			}
			if err != nil {
				return errors.Join(err, s.alive())
			}
			what := historyLater
			if n == 0 {
				what = historyFirst
			}
			b.figures.add(what, s.name, milliseconds(took))
		}
	}
	return nil
}

func stored(i int) string { return fmt.Sprintf("stored-%d", i) }

// filled makes the log of a gateway with that name, fills it, and returns its data
// directory.
func (s starter) filled(ctx context.Context, name, what string, fill func(*sqllog.Store) error) (data string, err error) {
	data = filepath.Join(s.dir, what+"_"+strings.ToLower(name))
	if err := os.MkdirAll(data, 0o700); err != nil {
		return "", fmt.Errorf("make a full store: %w", err)
	}
	o := sqllog.Options{Dir: data, NoSync: true}
	if name == onPostgres {
		if o.URL, err = s.database(data); err != nil {
			return "", err
		}
	}
	store, err := sqllog.Open(ctx, o)
	if err != nil {
		return "", err
	}
	return data, errors.Join(fill(store), store.Close()) //nolint:contextcheck // closing has bounds of its own
}

// fillStore writes sessions whose turns lie among each other, as they do in life.
func fillStore(ctx context.Context, store *sqllog.Store, sessions, turns int) error {
	const writers = 64 // so that a commit has many turns
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	for turn := range turns {
		var wait sync.WaitGroup
		for w := range writers {
			wait.Go(func() {
				for i := w; i < sessions && ctx.Err() == nil; i += writers {
					if err := fillTurn(ctx, store, stored(i), turn); err != nil {
						cancel(err)
					}
				}
			})
		}
		wait.Wait()
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	return nil
}

// enlist puts a session into the registry.
func enlist(ctx context.Context, store *sqllog.Store, info session.Info, at time.Time) error {
	info.Agent, info.CreatedAt, info.UpdatedAt = agentFor(0), at, at
	doc, err := json.Marshal(info)
	if err != nil {
		return err
	}
	return store.Put(ctx, eventlog.Entry{Session: info.ID, Agent: info.Agent, Title: info.Title, CreatedAt: at, Updated: at, Doc: doc})
}

// minTurn is how many bytes a turn has at least in a page of history.
const minTurn = 500

// fillTurn writes a turn with a call.
func fillTurn(ctx context.Context, store *sqllog.Store, id string, n int) error {
	if n == 0 {
		if err := enlist(ctx, store, session.Info{ID: id}, time.Now()); err != nil {
			return err
		}
	}
	turn := fmt.Sprintf("turn_%06d", n)
	text := strings.Repeat("some text of an answer ", 15)
	output, err := json.Marshal(text)
	if err != nil {
		return err
	}
	question := trace.UserMessage{ID: fmt.Sprintf("u%d", n), Parts: []trace.InputPart{{Type: trace.InputText, Text: "What is in this directory?"}}}
	var events []trace.Event
	for at, p := range []trace.Payload{
		trace.Prompt{Message: question},
		trace.Reply{MessageID: fmt.Sprintf("m%d", n), Cause: trace.CausePrompt},
		trace.Step{Phase: trace.PhaseStart},
		trace.MessageStart{Part: "text-1", Role: trace.RoleAssistant},
		trace.Message{Part: "text-1", Role: trace.RoleAssistant, Text: text},
		trace.ToolCallStart{ToolCallID: "call-1", RawName: "ls", Name: "ls", ToolKind: trace.ToolRead},
		trace.ToolCall{ToolCallID: "call-1", RawName: "ls", Name: "ls", ToolKind: trace.ToolRead, Title: "List files", Input: json.RawMessage(`{"path":"."}`)},
		trace.ToolResult{ToolCallID: "call-1", Status: trace.ToolCompleted, Output: output},
		trace.Step{Phase: trace.PhaseEnd},
		trace.Step{Phase: trace.PhaseStart},
		trace.MessageStart{Part: "text-2", Role: trace.RoleAssistant},
		trace.Message{Part: "text-2", Role: trace.RoleAssistant, Text: text},
		trace.Step{Phase: trace.PhaseEnd},
		trace.Stop{Reason: "end_turn", Outcome: trace.OutcomeCompleted, FinalOutput: text},
	} {
		events = append(events, trace.Event{ID: fmt.Sprintf("%s.%d", turn, at+1), Time: time.Now(), Actor: trace.Agent, Payload: p})
	}
	if _, err := store.Append(ctx, id, turn, events); err != nil {
		return fmt.Errorf("fill the store: %w", err)
	}
	return nil
}
