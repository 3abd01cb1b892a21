package jsonrpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"
)

// Options are the settings of a Conn. The zero value is plain JSON-RPC 2.0.
type Options struct {
	// Bare leaves out the field "jsonrpc".
	Bare bool
	// Cancel encodes the notification that withdraws a request that this end sent and
	// whose context ended. If nil, the notification is $/cancel_request with the
	// request's id.
	Cancel func(id json.RawMessage) (method string, params any)
	// MaxCalls and MaxHandlers bound calls in flight and running handlers; 256 and 64
	// if zero.
	MaxCalls, MaxHandlers int
}

// Handler answers a request. An [Error] is replied as it is, and any other error
// with [CodeInternal]. ctx ends when the request is withdrawn or the Conn is closed.
type Handler func(ctx context.Context, params json.RawMessage) (any, error)

// Conn is one end of a connection. A Conn is safe for concurrent use.
type Conn struct {
	send func(context.Context, json.RawMessage) error
	opts Options

	life     context.Context //nolint:containedctx // ends with Close
	end      context.CancelCauseFunc
	handling sync.WaitGroup

	mu       sync.Mutex
	closed   bool
	lastID   int64
	calls    map[string]chan Message       // calls that wait for their reply, by id
	handlers map[string]Handler            // by method
	running  map[string]context.CancelFunc // handlers at work, by the id of their request
	busy     int                           // handlers and refusals at work
}

// New returns a Conn that sends through send. send may be called from several
// goroutines, and must return when its context ends.
func New(send func(context.Context, json.RawMessage) error, o Options) *Conn {
	if o.MaxCalls == 0 {
		o.MaxCalls = 256
	}
	if o.MaxHandlers == 0 {
		o.MaxHandlers = 64
	}
	if o.Cancel == nil {
		o.Cancel = func(id json.RawMessage) (string, any) {
			return cancelMethod, map[string]json.RawMessage{"requestId": id}
		}
	}
	c := &Conn{
		send: send, opts: o, calls: map[string]chan Message{}, handlers: map[string]Handler{}, running: map[string]context.CancelFunc{},
	}
	c.life, c.end = context.WithCancelCause(context.Background())
	return c
}

// withdrawTime bounds how long a call whose context ended waits for its withdrawal to
// be written.
const withdrawTime = time.Second

// cancelMethod is the notification that withdraws a request.
const cancelMethod = "$/cancel_request"

var (
	// ErrClosed is the error of a Conn that was closed without a cause.
	ErrClosed = errors.New("the connection is closed")
	// ErrBusy says that too many calls are in flight.
	ErrBusy = errors.New("too many calls are in flight")
)

// Call sends a request and waits for the reply, which is decoded into result unless
// result is nil. An error that the other end replied is an [Error]. When ctx ends,
// Call withdraws the request and returns the cause.
func (c *Conn) Call(ctx context.Context, method string, params, result any) error {
	id, line, err := c.Request(method, params)
	if err != nil {
		return err
	}
	reply := make(chan Message, 1)
	if err := c.await(id, reply); err != nil {
		return err
	}
	defer c.forget(id)
	if err := c.send(ctx, line); err != nil {
		return fmt.Errorf("send %s: %w", method, err)
	}
	select {
	case m := <-reply:
		return take(m, method, result)
	case <-c.life.Done():
		return context.Cause(c.life) //nolint:contextcheck // why the connection was closed
	case <-ctx.Done():
	}
	select {
	case m := <-reply: // the reply came together with the end
		return take(m, method, result)
	default:
	}
	bounded, cancel := context.WithTimeout(c.life, withdrawTime)
	defer cancel()
	method, withdrawal := c.opts.Cancel(id)
	_ = c.Notify(bounded, method, withdrawal) //nolint:contextcheck // ctx is over, and the call fails in any case
	return context.Cause(ctx)
}

func take(m Message, method string, result any) error {
	if m.Error != nil {
		return *m.Error
	}
	if result == nil || len(m.Result) == 0 {
		return nil
	}
	if err := json.Unmarshal(m.Result, result); err != nil {
		return fmt.Errorf("decode the reply to %s: %w", method, err)
	}
	return nil
}

func (c *Conn) await(id json.RawMessage, reply chan Message) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.closed:
		return context.Cause(c.life)
	case len(c.calls) >= c.opts.MaxCalls:
		return ErrBusy
	}
	c.calls[string(id)] = reply
	return nil
}

func (c *Conn) forget(id json.RawMessage) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.calls, string(id))
}

// Request encodes a request with an id of its own. The caller sends the line, and
// reads the reply from what Take returns.
func (c *Conn) Request(method string, params any) (id, line json.RawMessage, err error) {
	c.mu.Lock()
	c.lastID++
	id = json.RawMessage(strconv.FormatInt(c.lastID, 10))
	c.mu.Unlock()
	line, err = c.encode(outgoing{ID: id, Method: method, Params: params})
	return id, line, err
}

// Notification encodes a notification.
func (c *Conn) Notification(method string, params any) (line json.RawMessage, err error) {
	return c.encode(outgoing{Method: method, Params: params})
}

// Reply encodes the reply to a request that no Handler answers.
func (c *Conn) Reply(id json.RawMessage, result any) (line json.RawMessage, err error) {
	if result == nil {
		result = json.RawMessage("null")
	}
	return c.encode(outgoing{ID: id, Result: result})
}

// Notify sends a notification.
func (c *Conn) Notify(ctx context.Context, method string, params any) error {
	line, err := c.Notification(method, params)
	if err != nil {
		return err
	}
	if err := c.send(ctx, line); err != nil {
		return fmt.Errorf("send %s: %w", method, err)
	}
	return nil
}

func (c *Conn) encode(m outgoing) (json.RawMessage, error) {
	if !c.opts.Bare {
		m.Version = "2.0"
	}
	return encode(m)
}

// Close ends all calls and handlers with the cause, or with ErrClosed if it is nil,
// and waits for the handlers.
func (c *Conn) Close(cause error) {
	if cause == nil {
		cause = ErrClosed
	}
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.end(cause)
	c.handling.Wait()
}
