package gateway

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"log/slog"
	"net/http/httptest"
	"time"

	"github.com/tributary-dev/tributary/access"
	"github.com/tributary-dev/tributary/adapter/echo"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agentops/browser"
	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/eventlog/memlog"
	"github.com/tributary-dev/tributary/session"
)

// HeedFrame gives a frame of a browser to a gateway of its own, and returns what the
// browser gets for it.
func HeedFrame(ctx context.Context, frame []byte) (replies [][]byte, err error) {
	log := eventlog.New(memlog.New(), eventlog.Options{})
	hub, err := session.New(ctx, session.Options{Log: log, Default: "echo", Agents: map[string]session.Agent{"echo": {Runtime: echo.Runtime{}, Cwd: "."}}})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, hub.Close(ctx), log.Close()) }()
	if _, err := hub.Create(ctx, session.Spec{ID: "s"}); err != nil {
		return nil, err
	}
	g := &gateway{Options: Options{Hub: hub, Permits: []access.Who{{Role: access.Admin}}, Logger: slog.New(slog.DiscardHandler)}, limiter: newLimiter(Limits{})}
	s := &socket{wake: make(chan struct{}, 1), taken: make(chan struct{}, 1)}
	ada := access.Principal{ID: "ada", Role: access.Admin}
	o := &onlooker{
		g: g, r: httptest.NewRequestWithContext(access.With(ctx, ada), "GET", "/api/sessions/s/ws", nil), id: "s", who: ada,
		socket: s, screen: browser.New(browser.Options{Session: "s"}),
	}
	err = o.heed(ctx, frame)
	return s.frames, err
}

// FindingsOfGuests lets so many guests into a session, one after another, and returns how
// much is remembered of them.
func FindingsOfGuests(ctx context.Context, guests uint64, pause time.Duration) int {
	f := newFindings()
	for i := range guests {
		token := sha256.Sum256(binary.BigEndian.AppendUint64(nil, i))
		_, _, _ = f.find(ctx, knock{visitor{guest: token, agent: "ops"}, "s"}, func(context.Context) (agent.Found, error) {
			return agent.Found{Role: "viewer"}, nil
		})
		time.Sleep(pause)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.of)
}
