package gateway

import (
	"cmp"
	"context"
	"io"
	"net/http"
	"time"

	"github.com/tributary-dev/tributary/access"
	"github.com/tributary-dev/tributary/gateway/chatbody"
	"github.com/tributary-dev/tributary/gateway/chatsocket"
	"github.com/tributary-dev/tributary/gateway/cluster"
	"github.com/tributary-dev/tributary/gateway/refusal"
	"github.com/tributary-dev/tributary/internal/wsconn"
	"github.com/tributary-dev/tributary/uistream"
)

// This file has the chat route by WebSocket.

// firstWithSocket is the release that brought WebSocketChatTransport. A chunk that a client
// does not know ends the socket for all of its chats.
const firstWithSocket = "7.0.135"

// connect serves GET /api/chat: the socket of the stock client, or a resume.
func (g *gateway) connect(w http.ResponseWriter, r *http.Request) error {
	if !access.Upgrades(r) {
		return g.resumeBehindQuery(w, r)
	}
	return g.anyRole(g.streaming(g.socket))(w, r)
}

// socket serves a WebSocket of the stock client until either side leaves.
func (g *gateway) socket(w http.ResponseWriter, r *http.Request) error {
	opts, err := g.streamOptions(r)
	if err != nil {
		return err
	}
	if opts.Legacy {
		return refusal.Malformed("A WebSocket has the format uistream only: leave `format` out.")
	}
	g.Sockets.Begin()
	defer g.Sockets.End()
	conn, err := wsconn.Accept(w, r, wsconn.Config{ //nolint:contextcheck // Serve ends the connection
		Subprotocols: []string{chatsocket.Subprotocol}, MaxFrame: chatbody.MaxBytes + 1<<10, PieceTime: g.Read, MinRate: 1 << 10,
		WriteTime: g.Timing.Write, PingEvery: cmp.Or(g.Timing.Keepalive, 15*time.Second), PongTime: g.Timing.Write,
	})
	if err != nil {
		return nil //nolint:nilerr // the response has been written
	}
	chatsocket.Serve(r.Context(), conn, chatsocket.Options{
		Read:     func(in io.ReadCloser) (chatbody.Frame, func(), error) { return g.readFrame(r, in) },
		Handler:  g.framed,
		Request:  func(ctx context.Context, f chatbody.Frame) *http.Request { return framedRequest(ctx, r, f) },
		Explain:  func(err error) string { _, _, text := g.describe(r, err); return text },
		Stopping: g.Hub.Done(), Logger: g.Logger,
	})
	return nil
}

// framed is the handler of a frame: that of the route to which the other transports of the
// stock client send the same. The chat leaves memory before its answer begins.
func (g *gateway) framed(f chatbody.Frame, done func()) http.Handler {
	h := g.resumeRoute()
	switch f.Type {
	case chatbody.Get:
		h = func(w http.ResponseWriter, r *http.Request) error { g.carried.ServeHTTP(w, r); return nil }
	case chatbody.Send:
		h = g.anyRole(g.streaming(g.served(func(w http.ResponseWriter, r *http.Request) (s *stream, err error) {
			defer func() { f.Request = chatbody.Request{}; s.keeps(done) }()
			opts, err := g.streamOptions(r)
			if err != nil {
				return nil, err
			}
			now := time.Now()
			return g.converse(w, r, f.Request, opts, now, now)
		})))
	}
	return g.count(g.handle(counts(g.limited(h))))
}

// counts refuses a frame whose sender's credential has ended. The context of its socket ends
// only seconds later.
func counts(h handler) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		if !access.Counts(r.Context()) {
			return &refusal.Error{Status: http.StatusUnauthorized, Code: uistream.ErrExpired.Code, Sentence: uistream.ErrExpired.Sentence}
		}
		return h(w, r)
	}
}

// framedRequest is the HTTP request of a frame. Its sender is that of the opening request.
func framedRequest(ctx context.Context, opening *http.Request, f chatbody.Frame) *http.Request {
	r := opening.Clone(ctx)
	for _, name := range []string{"Connection", "Upgrade", "Traceparent", cluster.KeyHeader} {
		r.Header.Del(name)
	}
	if f.Traceparent != "" {
		r.Header.Set("Traceparent", f.Traceparent)
	}
	r.Body = http.NoBody
	query := r.URL.Query()
	if to, err := opening.URL.Parse(f.Path); f.Path != "" && err == nil {
		r.URL = to
	} else if query.Get("client") == "" {
		query.Set("client", firstWithSocket)
		r.URL.RawQuery = query.Encode()
	}
	switch f.Type {
	case chatbody.Send:
		r.Method = http.MethodPost
	case chatbody.Resume:
		nameStream(r, f.ID)
	}
	return r
}
