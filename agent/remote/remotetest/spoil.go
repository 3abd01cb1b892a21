package remotetest

import (
	"bytes"
	"context"
	"io"
	"log"
	"net/http"
	"strings"
	"sync"
)

func silent() *log.Logger { return log.New(io.Discard, "", 0) }

// spoiled is a good server that is bad until it heals.
type spoiled struct {
	http.Handler
	bad
	mu    sync.Mutex
	good  bool
	fault fault
}

func (s *spoiled) heals() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.good = true
}

// ServeHTTP implements http.Handler.
func (s *spoiled) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	if s.fault == nil && s.stream != nil {
		s.fault = s.stream()
	}
	good, f := s.good, s.fault
	s.mu.Unlock()
	if r.URL.Query().Get("code") != key {
		http.Error(w, "the key is missing", http.StatusForbidden)
		return
	}
	switch {
	case good || s.answer == nil && f == nil:
		s.Handler.ServeHTTP(w, r)
		return
	case s.answer != nil:
		s.answer(w, r)
		return
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	stream := &stream{ResponseWriter: w, fault: f, gone: r.Context(), cancel: cancel}

	s.Handler.ServeHTTP(stream, r.WithContext(ctx))
	if stream.over == broken {
		panic(http.ErrAbortHandler)
	}
}

// streamEnd says what becomes of a stream.
type streamEnd int

const (
	goesOn streamEnd = iota
	ended            // without a fault that the client could see
	broken
)

// fault spoils the events of a server's streams.
type fault interface {
	// event takes an event, and passes on what the client gets in its place.
	event(event []byte, s *stream) streamEnd
}

// stream is an answer. Answers that are no streams pass.
type stream struct {
	http.ResponseWriter
	fault
	gone   context.Context //nolint:containedctx // of the request
	cancel context.CancelFunc
	rest   []byte // of an event that is not whole
	over   streamEnd
}

// separator returns what stands between two events, or "" if the answer is no stream.
func (s *stream) separator() string {
	switch kind := s.Header().Get("Content-Type"); {
	case strings.HasPrefix(kind, "text/event-stream"):
		return "\n\n"
	case strings.Contains(kind, "ndjson"), strings.Contains(kind, "jsonl"):
		return "\n"
	}
	return ""
}

// frame makes an event of data.
func (s *stream) frame(data string) []byte {
	if s.separator() == "\n" {
		return []byte(data + "\n")
	}
	return []byte("data: " + data + "\n\n")
}

// Write implements http.ResponseWriter.
func (s *stream) Write(b []byte) (int, error) {
	between := s.separator()
	if between == "" {
		return s.ResponseWriter.Write(b)
	}
	s.rest = append(s.rest, b...)
	for s.over == goesOn {
		end := bytes.Index(s.rest, []byte(between))
		if end < 0 {
			break
		}
		event := s.rest[:end+len(between)]
		s.rest = s.rest[end+len(between):]
		if s.over = s.event(event, s); s.over != goesOn {
			s.Flush()
			s.cancel() // the client has gone, as the handler sees it
		}
	}
	return len(b), nil
}

func (s *stream) send(data []byte) bool {
	_, err := s.ResponseWriter.Write(data)
	return err == nil && s.gone.Err() == nil
}

// Flush implements http.Flusher.
func (s *stream) Flush() { _ = http.NewResponseController(s.ResponseWriter).Flush() }

// Unwrap serves http.ResponseController.
func (s *stream) Unwrap() http.ResponseWriter { return s.ResponseWriter }

// everyEvent puts more events before each.
func everyEvent(more ...string) func() fault { return func() fault { return noise{more} } }

type noise struct{ more []string }

func (n noise) event(event []byte, s *stream) streamEnd {
	for _, data := range n.more {
		s.send(s.frame(data))
	}
	s.send(event)
	return goesOn
}

// endless is a line that never ends, after some events of the first stream.
type endless struct {
	after, seen int
}

func (e *endless) event(event []byte, s *stream) streamEnd {
	if e.seen++; e.seen != e.after+1 {
		s.send(event)
		return goesOn
	}
	s.send([]byte(`data: "`))
	for more := bytes.Repeat([]byte("x"), 1<<20); s.send(more); {
	}
	return broken
}

// cut ends the first stream after some events.
type cut struct {
	after   int
	half    bool // in the middle of the next event
	clean   bool // as if the stream had ended
	repeats bool // the next stream begins with the events of the first
	mu      sync.Mutex
	was     bool
	past    [][]byte
}

func (c *cut) event(event []byte, s *stream) streamEnd {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.was {
		for _, old := range c.past {
			s.send(old)
		}
		c.past = nil
		s.send(event)
		return goesOn
	}
	if len(c.past) < c.after {
		c.past = append(c.past, bytes.Clone(event))
		s.send(event)
		return goesOn
	}
	c.was = true
	if !c.repeats {
		c.past = nil
	}
	if c.half {
		s.send(event[:len(event)/2])
	}
	if c.clean {
		return ended
	}
	return broken
}
