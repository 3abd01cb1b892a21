package chatsocket

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"runtime/debug"
	"sync"
	"time"

	"github.com/tributary-dev/tributary/gateway/chatbody"
	"github.com/tributary-dev/tributary/internal/wsconn"
)

// This file serves one socket.

// Subprotocol is the name that a client offers beside a secret in another subprotocol: a
// browser wants one of its subprotocols in the answer.
const Subprotocol = "ai-sdk-chat"

// maxOpen bounds the requests that are open on one socket.
const maxOpen = 100

// endWithin bounds the wait for open requests when the gateway ends.
const endWithin = 2 * time.Second

// Options say how a socket reads and answers.
type Options struct {
	// Read reads a frame to its end. The chat of the frame counts as memory until done is called.
	Read func(in io.ReadCloser) (f chatbody.Frame, done func(), err error)
	// Handler answers a frame that sends, resumes or gets. The handler calls done when the chat is on
	// record or refused. The socket calls done too, at the end of the answer at the latest.
	Handler func(f chatbody.Frame, done func()) http.Handler
	// Request makes the HTTP request of a frame.
	Request func(ctx context.Context, f chatbody.Frame) *http.Request
	// Explain makes a sentence of an error of Read.
	Explain func(err error) string
	// Stopping closes when the gateway ends.
	Stopping <-chan struct{}
	Logger   *slog.Logger
}

// socket is one connection and its open requests.
type socket struct {
	Options
	conn     *wsconn.Conn
	requests sync.WaitGroup

	mu      sync.Mutex
	open    map[string]context.CancelFunc // by the id of the request
	closing bool                          // no request is opened any more
}

// Serve serves a connection until either side leaves, or ctx ends.
func Serve(ctx context.Context, conn *wsconn.Conn, o Options) {
	s := &socket{Options: o, conn: conn, open: map[string]context.CancelFunc{}}
	life, cancel := context.WithCancel(ctx)
	read := make(chan struct{})
	go func() {
		defer close(read)
		s.read(life)
	}()
	select {
	case <-read: // the client has gone, or has sent nonsense
	case <-ctx.Done(): // the open streams say why
		s.wait()
		conn.CloseWith(wsconn.PolicyViolation, context.Cause(ctx).Error())
	case <-o.Stopping:
		s.wait()
		conn.CloseWith(wsconn.GoingAway, "the gateway is stopping")
	}
	cancel()
	conn.Cut()
	<-read
	s.requests.Wait()
}

// wait lets no further request in and waits for the open ones, but not for ever.
func (s *socket) wait() {
	s.mu.Lock()
	s.closing = true
	s.mu.Unlock()
	over := make(chan struct{})
	go func() { // Serve waits for the same
		s.requests.Wait()
		close(over)
	}()
	select {
	case <-over:
	case <-time.After(endWithin):
	}
}

// read reads frames until the connection ends.
func (s *socket) read(ctx context.Context) {
	for {
		in, err := s.conn.Next(context.WithoutCancel(ctx)) // Cut ends it: the streams may have a last word
		if err != nil {
			return
		}
		f, done, err := s.Read(in)
		if _, lost := errors.AsType[*wsconn.Error](err); lost {
			return
		}
		if err == nil {
			err = s.receive(ctx, f, done)
		} else if f.RequestID != "" {
			err = s.refuse(f, s.Explain(err))
		} else {
			err = errUnaddressed
		}
		if errors.Is(err, errUnaddressed) {
			s.conn.CloseWith(wsconn.PolicyViolation, err.Error())
		}
		if err != nil {
			return
		}
	}
}

// errUnaddressed is the error of a frame that no error frame can answer.
var errUnaddressed = errors.New("a frame has no requestId, or that of an open request") //nolint:gochecknoglobals // never written

func (s *socket) refuse(f chatbody.Frame, sentence string) error {
	return newSink(f, s.write).fail(sentence)
}

// write writes a frame. Its error for a client that does not read is the one of an HTTP
// response, so that both are logged and counted as cut.
func (s *socket) write(frame []byte) error {
	err := s.conn.Write(context.Background(), frame)
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("%w: %w", os.ErrDeadlineExceeded, err)
	}
	return err
}

// receive carries out a frame. An error ends the connection.
func (s *socket) receive(ctx context.Context, f chatbody.Frame, done func()) error {
	switch {
	case f.RequestID == "":
		done()
		return errUnaddressed
	case f.Type == chatbody.Abort:
		done()
		s.abort(f.RequestID)
		return nil
	case f.Type != chatbody.Send && f.Type != chatbody.Resume && f.Type != chatbody.Get:
		done()
		return s.refuse(f, "`type` must be send, resume, get or abort.")
	}
	open, err := s.begin(ctx, f.RequestID)
	if err != nil {
		done()
		if errors.Is(err, errUnaddressed) {
			return err
		}
		return s.refuse(f, err.Error())
	}
	go s.serve(open, f, done)
	return nil
}

// The sentences for requests that are not opened.
var (
	errTooMany = errors.New("This socket has too many open requests: wait until some have ended.") //nolint:gochecknoglobals,revive,staticcheck // never written, and a sentence for the user
	errClosing = errors.New("This socket is closing: open another one.")                           //nolint:gochecknoglobals,revive,staticcheck // the same
)

// begin opens a request, unless one of the same id is open, or too many are, or the sender's
// access has ended.
func (s *socket) begin(ctx context.Context, request string) (context.Context, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.open[request] != nil:
		return nil, errUnaddressed
	case s.closing || ctx.Err() != nil:
		return nil, errClosing
	case len(s.open) >= maxOpen:
		return nil, errTooMany
	}
	ctx, s.open[request] = context.WithCancel(ctx)
	s.requests.Add(1)
	return ctx, nil
}

// end closes a request, and reports whether it was aborted.
func (s *socket) end(ctx context.Context, request string) (aborted bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	aborted = ctx.Err() != nil
	s.open[request]()
	delete(s.open, request)
	return aborted
}

// abort ends a request as the end of its connection does on HTTP.
func (s *socket) abort(request string) {
	s.mu.Lock()
	cancel := s.open[request]
	s.mu.Unlock()
	if cancel != nil {
		cancel()
	}
}

// serve answers a request.
func (s *socket) serve(ctx context.Context, f chatbody.Frame, done func()) {
	defer s.requests.Done()
	id, out := f.RequestID, newSink(f, s.write)
	defer func() {
		p := recover()
		if err, is := p.(error); p != nil && !(is && errors.Is(err, http.ErrAbortHandler)) {
			s.Logger.Error("a request of a socket panicked", "error", p, "stack", string(debug.Stack()))
		}
		done()
		if aborted := s.end(ctx, id); !aborted || out.status >= http.StatusBadRequest {
			_ = out.finish(p != nil) // its error says that the client has gone
		}
	}()
	s.Handler(f, done).ServeHTTP(out, s.Request(ctx, f))
}
