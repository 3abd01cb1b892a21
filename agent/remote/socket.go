package remote

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"net/http"
	"sync"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/internal/address"
	"github.com/tributary-dev/tributary/internal/httpjson"
	"github.com/tributary-dev/tributary/internal/wsconn"
)

// Socket is a Transport by WebSocket. A stream is a connection, each event is a frame, and
// the body of a call is a frame, too.
type Socket struct {
	// URL is the address, and Bearer is sent as a token if it is not empty.
	URL, Bearer string
	// PassCaller sends the token of the person in whose name a connection is opened.
	PassCaller bool

	mu   sync.Mutex
	conn *wsconn.Conn // of the newest stream
	by   string       // the token with which it was opened
}

var _ Transport = (*Socket)(nil)

// bearer is the token with which a connection in somebody's name is opened; "" for none.
func (t *Socket) bearer(by agent.Caller) string {
	if t.PassCaller && by.Bearer != "" {
		return by.Bearer
	}
	return t.Bearer
}

func (t *Socket) dial(ctx context.Context, by agent.Caller) (*wsconn.Conn, error) {
	h := caller(by, false)
	if bearer := t.bearer(by); bearer != "" {
		h.Set("Authorization", "Bearer "+bearer)
	}
	conn, err := wsconn.Dial(ctx, t.URL, wsconn.Config{Header: h})
	return conn, t.failure(err)
}

// failure is an error of a connection as the session knows errors of calls: those without a
// status may pass.
func (t *Socket) failure(err error) error {
	failed, ok := errors.AsType[*wsconn.Error](err)
	switch {
	case !ok:
		return err
	case failed.Final() && failed.Status == 0:
		return failed
	}
	return &httpjson.Error{Server: address.Public(t.URL), Method: http.MethodGet, Status: failed.Status, Message: failed.Message}
}

// Do implements Transport. The frame goes by the connection of the newest stream, or by one
// of its own: also if that connection is in the name of another person. What the gateway
// says by itself goes by the stream's.
func (t *Socket) Do(ctx context.Context, c Call, by agent.Caller) (json.RawMessage, error) {
	t.mu.Lock()
	conn, mine := t.conn, by.Bearer == "" || t.by == t.bearer(by)
	t.mu.Unlock()
	if conn != nil && mine && conn.Write(ctx, c.Body) == nil {
		return nil, nil
	}
	conn, err := t.dial(ctx, by)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	return nil, t.failure(conn.Write(ctx, c.Body))
}

// Stream implements Transport. The connection is there before the frame, so that no event is
// lost.
func (t *Socket) Stream(ctx context.Context, c Call, by agent.Caller) (Stream, error) {
	conn, err := t.dial(ctx, by)
	if err != nil {
		return nil, err
	}
	if c.Body != nil {
		if err := conn.Write(ctx, c.Body); err != nil {
			conn.Close()
			return nil, t.failure(err)
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.conn, t.by = conn, t.bearer(by)
	return frames{conn, t}, nil
}

// Close implements Transport.
func (t *Socket) Close() {}

// frames is a stream of frames.
type frames struct {
	conn *wsconn.Conn
	of   *Socket
}

// Close implements Stream.
func (f frames) Close() {
	f.of.mu.Lock()
	if f.of.conn == f.conn {
		f.of.conn = nil
	}
	f.of.mu.Unlock()
	f.conn.Close()
}

// Events implements Stream.
func (f frames) Events() iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		for {
			data, err := f.conn.Read(context.Background()) // Close ends it
			if !yield(Event{Name: Unnamed, Data: data}, err) || err != nil {
				return
			}
		}
	}
}
