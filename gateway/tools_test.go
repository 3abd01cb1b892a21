package gateway_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tributary-dev/tributary/adapter/echo"
	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/eventlog/memlog"
	"github.com/tributary-dev/tributary/gateway"
	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/trace"
)

// counting is a store that counts the records that are read from it.
type counting struct {
	eventlog.Store
	read *atomic.Int64
}

func (c counting) Durable(ctx context.Context, id string, after, until uint64) iter.Seq2[trace.Record, error] {
	return func(yield func(trace.Record, error) bool) {
		for r, err := range c.Store.Durable(ctx, id, after, until) {
			c.read.Add(1)
			if !yield(r, err) {
				return
			}
		}
	}
}

// Tools and channels of a long session cost no more to read than the newest part of the
// session.
//
//evidence:for limit-tools
func TestToolsAndChannelsReadNoWholeSession(t *testing.T) {
	var read atomic.Int64
	store := keeping{memlog.New()}
	handlerOn := func(store eventlog.Store) (http.Handler, func()) {
		return newHandler(t, store, nil, func(o *gateway.Options) { o.Guard = func(next http.Handler) http.Handler { return next } })
	}
	first, end := handlerOn(store)
	askAs(t, first, owner("ada"), "POST", "/api/sessions", `{"id":"s"}`)
	end()
	const turns, each = 1000, 5
	for i := range turns {
		turn, call := fmt.Sprint("turn-", i), fmt.Sprint("call-", i)
		_, err := store.Append(t.Context(), "s", turn, []trace.Event{
			{ID: turn + "-1", Payload: trace.Prompt{Message: trace.UserMessage{ID: "user-" + turn, Parts: []trace.InputPart{{Type: trace.InputText, Text: "x"}}}, By: "ada"}},
			{ID: turn + "-2", Payload: trace.Reply{MessageID: "msg-" + turn, Cause: trace.CausePrompt}},
			{ID: turn + "-3", Payload: trace.ToolCall{ToolCallID: call, Name: "Read", RawName: fmt.Sprint("read-", i), ToolKind: "read", Input: json.RawMessage(`{"path":"x"}`)}},
			{ID: turn + "-4", Payload: trace.ToolResult{ToolCallID: call, Status: trace.ToolCompleted, Output: json.RawMessage(`"y"`)}},
			{ID: turn + "-5", Payload: trace.Stop{Reason: "end_turn", Outcome: trace.OutcomeCompleted}},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	handler, end := handlerOn(counting{store, &read})
	defer end()
	read.Store(0)
	tools := askAs(t, handler, owner("ada"), "GET", "/api/sessions/s/tools", "")
	if n := strings.Count(tools, `"raw_name"`); n != 100 || !strings.Contains(tools, `"read-999"`) || !strings.Contains(tools, `"read-900"`) {
		t.Errorf("%d tools: %.300s", n, tools)
	}
	if n := read.Load(); n > 100*each+each {
		t.Errorf("the tools of %d turns cost %d records", turns, n)
	}
	read.Store(0)
	if channels := askAs(t, handler, owner("ada"), "GET", "/api/sessions/s/channels", ""); channels != `{"channels":[{"id":"","default":true}]}`+"\n" {
		t.Error(channels)
	}
	if n := read.Load(); n != 0 {
		t.Errorf("the channels cost %d records", n)
	}
}

// However many channels prompts come from, the session's own document stays small; they
// are known after a restart.
//
//evidence:for limit-channels
func TestChannelsOfASessionHaveABound(t *testing.T) {
	store := keeping{memlog.New()}
	ask := func(do func(h http.Handler)) {
		h, end := newHandler(t, store, func(o *session.Options) { o.Agents["echo"] = session.Agent{Runtime: echo.Runtime{}, Cwd: t.TempDir()} }, func(o *gateway.Options) {
			o.Limits.Burst, o.Guard = 5000, func(next http.Handler) http.Handler { return next }
		})
		defer end()
		do(h)
	}
	ask(func(h http.Handler) {
		askAs(t, h, owner("ada"), "POST", "/api/sessions", `{"id":"s","agent":"echo"}`)
		askAs(t, h, owner("ada"), "POST", "/api/sessions/s/chat?channelId="+strings.Repeat("x", 513), submit("", "long", "x"))
		for i := range 260 {
			askAs(t, h, owner("ada"), "POST", fmt.Sprint("/api/sessions/s/chat?channelId=c-", i), submit("", fmt.Sprint("u", i), "x"))
		}
	})
	ask(func(h http.Handler) {
		channels := askAs(t, h, owner("ada"), "GET", "/api/sessions/s/channels", "")
		if n := strings.Count(channels, `"id"`); n != 257 || strings.Contains(channels, `"c-3"`) || !strings.Contains(channels, `"c-4"`) || !strings.Contains(channels, `"c-259"`) {
			t.Errorf("%d channels: %s", n, channels)
		}
	})
}

// keeping is a store that outlives the log that is closed over it.
type keeping struct{ eventlog.Store }

func (keeping) Close() error { return nil }
