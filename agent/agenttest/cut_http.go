package agenttest

import (
	"bytes"
	"net/http"
	"strings"
)

// Serve makes an agent that is a server die at a point of what it streams. A message is
// an event of an event stream, except for heartbeats. The server is in this process: its
// connection breaks off. A nil Cut changes nothing.
func (c *Cut) Serve(h http.Handler) http.Handler {
	if c == nil {
		return h
	}
	return c.handler(h, func() { panic(http.ErrAbortHandler) })
}

// FakeServer is Cut.Serve for the process that [Fake] runs: the process dies.
func FakeServer(h http.Handler) http.Handler {
	if c := inherited(); c != nil {
		return c.handler(h, dieNow)
	}
	return h
}

func (c *Cut) handler(h http.Handler, die func()) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		stream := &cutWriter{ResponseWriter: w, cut: c, die: die}
		h.ServeHTTP(stream, r)
		_, _ = w.Write(stream.rest)
	})
}

// cutWriter passes events through a Cut.
type cutWriter struct {
	http.ResponseWriter
	cut  *Cut
	die  func()
	rest []byte // of an event that is not whole
}

// Write implements http.ResponseWriter.
func (w *cutWriter) Write(b []byte) (int, error) {
	if !strings.HasPrefix(w.Header().Get("Content-Type"), "text/event-stream") {
		return w.ResponseWriter.Write(b)
	}
	w.rest = append(w.rest, b...)
	for {
		end := bytes.Index(w.rest, []byte("\n\n"))
		if end < 0 {
			return len(b), nil
		}
		event := w.rest[:end+2]
		w.rest = w.rest[end+2:]
		sent, dies := event, false
		if !bytes.Contains(event, []byte("heartbeat")) {
			sent, dies = w.cut.Pass(event)
		}
		_, err := w.ResponseWriter.Write(sent)
		if dies {
			w.Flush()
			w.die()
		}
		if err != nil {
			return 0, err
		}
	}
}

// Flush implements http.Flusher.
func (w *cutWriter) Flush() { _ = http.NewResponseController(w.ResponseWriter).Flush() }

// Unwrap serves http.ResponseController.
func (w *cutWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
