package jsonrpc

import (
	"context"
	"encoding/json"
	"errors"
)

// Handle sets the handler of a method. A request of a method without a handler is
// refused with [CodeMethodNotFound]. A nil handler says that the Conn's owner answers
// the requests of the method.
func (c *Conn) Handle(method string, h Handler) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.handlers[method] = h
}

// Take takes one incoming message and returns what it is; see [Conn.Receive]. An error
// means that the line is no message; nothing is sent in return, because an agent's stray
// output is no request.
func (c *Conn) Take(line []byte) (Message, error) {
	m, err := Parse(line)
	if err == nil {
		c.Receive(m)
	}
	return m, err
}

// Receive takes a message that was parsed. A reply goes to the call that waits for it, a
// request to a goroutine with its handler. Receive waits for the other end only to refuse
// what exceeds MaxHandlers.
func (c *Conn) Receive(m Message) {
	switch {
	case m.Kind() == Response:
		c.reply(m)
	case m.Kind() == Request:
		c.request(m)
	case m.Method == cancelMethod:
		c.withdraw(m.Params)
	}
}

// reply hands a reply to the call that waits for it. The first reply counts.
func (c *Conn) reply(m Message) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if waiter, ok := c.calls[string(m.ID)]; ok {
		delete(c.calls, string(m.ID))
		waiter <- m
	}
}

// request starts the handler of a request, or refuses the request.
func (c *Conn) request(m Message) {
	c.mu.Lock()
	h, known := c.handlers[m.Method]
	_, twice := c.running[string(m.ID)]
	full := c.busy >= c.opts.MaxHandlers
	switch {
	case c.closed, known && h == nil:
		c.mu.Unlock()
		return
	case !known:
		h = refuse(CodeMethodNotFound, "the method "+m.Method+" is not known")
	case twice:
		h = refuse(CodeInvalidRequest, "an earlier request with the same id still runs")
	case full:
		h = refuse(CodeServer, "too many requests run at once")
	}
	if full {
		c.mu.Unlock()
		c.answer(c.life, m, h)
		return
	}
	ctx, cancel := context.WithCancel(c.life)
	c.busy++
	if !twice {
		c.running[string(m.ID)] = cancel
	}
	c.handling.Go(func() {
		defer cancel()
		c.answer(ctx, m, h)
		c.mu.Lock()
		defer c.mu.Unlock()
		c.busy--
		if !twice {
			delete(c.running, string(m.ID))
		}
	})
	c.mu.Unlock()
}

func refuse(code int, sentence string) Handler {
	return func(context.Context, json.RawMessage) (any, error) { return nil, Error{Code: code, Message: sentence} }
}

// answer runs a handler and sends its reply.
func (c *Conn) answer(ctx context.Context, m Message, h Handler) {
	result, err := h(ctx, m.Params)
	if c.life.Err() != nil {
		return
	}
	line, encodeErr := c.Reply(m.ID, result)
	if err == nil {
		err = encodeErr
	}
	if err != nil {
		reply, ok := errors.AsType[Error](err)
		switch {
		case ok:
		case ctx.Err() != nil:
			reply = Error{Code: CodeRequestCancelled, Message: "the request was withdrawn"}
		default:
			reply = Error{Code: CodeInternal, Message: err.Error()}
		}
		if line, err = c.encode(outgoing{ID: m.ID, Error: &reply}); err != nil {
			return // data of the error that is no JSON
		}
	}
	_ = c.send(c.life, line) //nolint:contextcheck // a withdrawn request is answered, too; the owner learns of a broken connection by reading
}

// withdraw ends the handler of a request that the other end withdrew.
func (c *Conn) withdraw(params json.RawMessage) {
	var p struct {
		RequestID json.RawMessage `json:"requestId"`
	}
	if json.Unmarshal(params, &p) != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if cancel, ok := c.running[string(p.RequestID)]; ok {
		cancel()
	}
}
