package openharness

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"net/http"
	"net/url"
	"sync"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/remote"
	"github.com/tributary-dev/tributary/internal/httpjson"
	"github.com/tributary-dev/tributary/internal/wsconn"
)

// socketPath is the path of calls that are commands of a WebSocket.
const socketPath = "/ws"

// socket is a Transport by WebSocket: a stream is a connection, and a call is a command.
type socket struct {
	url        string
	bearer     string
	passCaller bool
	maxFrame   int64

	mu   sync.Mutex
	conn *wsconn.Conn // of the newest stream
}

func (t *socket) dial(ctx context.Context, by agent.Caller) (*wsconn.Conn, error) {
	h, bearer := http.Header{}, t.bearer
	if t.passCaller && by.Bearer != "" {
		bearer = by.Bearer
	}
	if bearer != "" {
		h.Set("Authorization", "Bearer "+bearer)
	}
	if by.Traceparent != "" {
		h.Set("Traceparent", by.Traceparent)
	}
	conn, err := wsconn.Dial(ctx, t.url, wsconn.Config{Header: h, MaxFrame: t.maxFrame})
	return conn, t.failure(err)
}

// failure is an error of a connection as the session knows errors of calls: those without a
// status may pass.
func (t *socket) failure(err error) error {
	failed, ok := errors.AsType[*wsconn.Error](err)
	switch {
	case !ok:
		return err
	case failed.Final() && failed.Status == 0:
		return failed
	}
	return &httpjson.Error{Server: t.url, Method: http.MethodGet, Status: failed.Status, Message: failed.Message}
}

// Do implements remote.Transport. A command goes by the connection of the turn, or by one of
// its own.
func (t *socket) Do(ctx context.Context, c remote.Call, by agent.Caller) (json.RawMessage, error) {
	t.mu.Lock()
	conn := t.conn
	t.mu.Unlock()
	if conn != nil && conn.Write(ctx, c.Body) == nil {
		return nil, nil
	}
	conn, err := t.dial(ctx, by)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	return nil, t.failure(conn.Write(ctx, c.Body))
}

// Stream implements remote.Transport. The connection is there before the command, so that no
// event is lost.
func (t *socket) Stream(ctx context.Context, c remote.Call, by agent.Caller) (remote.Stream, error) {
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
	t.conn = conn
	return frames{conn, t}, nil
}

// Close implements remote.Transport.
func (t *socket) Close() {}

// frames is a stream of frames.
type frames struct {
	conn *wsconn.Conn
	of   *socket
}

// Close implements remote.Stream.
func (f frames) Close() {
	f.of.mu.Lock()
	if f.of.conn == f.conn {
		f.of.conn = nil
	}
	f.of.mu.Unlock()
	f.conn.Close()
}

// Events implements remote.Stream.
func (f frames) Events() iter.Seq2[remote.Event, error] {
	return func(yield func(remote.Event, error) bool) {
		for {
			data, err := f.conn.Read(context.Background()) // Close ends it
			if err != nil {
				yield(remote.Event{}, err)
				return
			}
			if !yield(remote.Event{Name: remote.Unnamed, Data: data}, nil) {
				return
			}
		}
	}
}

// webTransport is a Transport for the HTTP server of version 0.2. A prompt is a request, and
// its events are another. The server keeps no event for a reader that comes late, so the
// reader comes first once the id of the run is known.
type webTransport struct {
	remote.HTTP
	mu  sync.Mutex
	run string
}

func (t *webTransport) known() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.run
}

func (t *webTransport) events(run string) remote.Call {
	return remote.Call{Method: http.MethodGet, Path: "/api/events/" + url.PathEscape(run), Stream: true}
}

// Stream implements remote.Transport.
func (t *webTransport) Stream(ctx context.Context, c remote.Call, by agent.Caller) (remote.Stream, error) {
	if c.Method != http.MethodPost {
		return t.HTTP.Stream(ctx, c, by)
	}
	var early remote.Stream
	run := t.known()
	if run != "" {
		early, _ = t.HTTP.Stream(ctx, t.events(run), by) // the prompt says what is wrong
	}
	var made struct {
		Run string `json:"runId"`
	}
	answer, err := t.Do(ctx, c, by)
	if err == nil && (json.Unmarshal(answer, &made) != nil || made.Run == "") {
		err = errors.New("the server took the prompt and named no run: is this Open Harness 0.2?")
	}
	if err == nil && early != nil && made.Run == run {
		return early, nil
	}
	if early != nil {
		early.Close()
	}
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	t.run = made.Run
	t.mu.Unlock()
	return t.HTTP.Stream(ctx, t.events(made.Run), by)
}
