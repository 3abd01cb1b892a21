package gateway

import (
	"context"
	"errors"
	"log/slog"
	"net/http/httptest"

	"github.com/tributary-dev/tributary/access"
	"github.com/tributary-dev/tributary/adapter/echo"
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
	g := &gateway{Options: Options{Hub: hub, Permits: access.Owner, Logger: slog.New(slog.DiscardHandler)}, limiter: newLimiter(Limits{})}
	s := &socket{wake: make(chan struct{}, 1), taken: make(chan struct{}, 1)}
	ada := access.Principal{ID: "ada", Role: access.Owner}
	o := &onlooker{
		g: g, r: httptest.NewRequestWithContext(access.With(ctx, ada), "GET", "/api/sessions/s/ws", nil), id: "s", who: ada,
		socket: s, screen: browser.New(browser.Options{Session: "s"}),
	}
	err = o.heed(ctx, frame)
	return s.frames, err
}
