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
	data := filepath.Join(b.start.dir, "full")
	fmt.Fprintf(os.Stderr, "  filling a store with %d sessions of %d turns\n", b.scale.stored, b.scale.history)
	if err := fillStore(ctx, data, b.scale.stored, b.scale.history); err != nil {
		return err
	}
	began := time.Now()
	s, err := b.start.server(ctx, gateway, data)
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

// fillStore writes sessions whose turns lie among each other, as they do in life.
func fillStore(ctx context.Context, dir string, sessions, turns int) (err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make the full store: %w", err)
	}
	store, err := sqllog.Open(ctx, sqllog.Options{Dir: dir})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }() //nolint:contextcheck // closing has bounds of its own
	const writers = 8
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

// minTurn is how many bytes a turn has at least in a page of history.
const minTurn = 500

// fillTurn writes a turn with a call in three appends, as group commit would.
func fillTurn(ctx context.Context, store *sqllog.Store, id string, n int) error {
	if n == 0 {
		now := time.Now()
		info := session.Info{ID: id, Agent: agentFor(0), CreatedAt: now, UpdatedAt: now}
		doc, err := json.Marshal(info)
		if err == nil {
			err = store.Put(ctx, eventlog.Entry{Session: id, Agent: info.Agent, CreatedAt: now, Updated: now, Doc: doc})
		}
		if err != nil {
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
	at := 0
	for _, payloads := range [][]trace.Payload{
		{trace.Prompt{Message: question}, trace.Reply{MessageID: fmt.Sprintf("m%d", n), Cause: trace.CausePrompt}},
		{
			trace.Step{Phase: trace.PhaseStart},
			trace.MessageStart{Part: "text-1", Role: trace.RoleAssistant},
			trace.Message{Part: "text-1", Role: trace.RoleAssistant, Text: text},
			trace.ToolCallStart{ToolCallID: "call-1", RawName: "ls", Name: "ls", ToolKind: trace.ToolRead},
			trace.ToolCall{ToolCallID: "call-1", RawName: "ls", Name: "ls", ToolKind: trace.ToolRead, Title: "List files", Input: json.RawMessage(`{"path":"."}`)},
		},
		{
			trace.ToolResult{ToolCallID: "call-1", Status: trace.ToolCompleted, Output: output},
			trace.Step{Phase: trace.PhaseEnd},
			trace.Step{Phase: trace.PhaseStart},
			trace.MessageStart{Part: "text-2", Role: trace.RoleAssistant},
			trace.Message{Part: "text-2", Role: trace.RoleAssistant, Text: text},
			trace.Step{Phase: trace.PhaseEnd},
			trace.Stop{Reason: "end_turn", Outcome: trace.OutcomeCompleted, FinalOutput: text},
		},
	} {
		var events []trace.Event
		for _, p := range payloads {
			at++
			events = append(events, trace.Event{ID: fmt.Sprintf("%s.%d", turn, at), Time: time.Now(), Actor: trace.Agent, Payload: p})
		}
		if _, err := store.Append(ctx, id, turn, events); err != nil {
			return fmt.Errorf("fill the store: %w", err)
		}
	}
	return nil
}
