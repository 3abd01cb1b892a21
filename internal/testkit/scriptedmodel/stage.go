package scriptedmodel

import (
	"encoding/json"
	"io"
	"net/http"
	"time"
)

// A stage is what a wire plays one answer on. Once the client is gone every
// call reports false and writes nothing.
type stage struct {
	w     http.ResponseWriter
	r     *http.Request
	asked asked
	pace  time.Duration
}

// wait lets the pace pass.
func (s *stage) wait() bool {
	if s.pace <= 0 {
		return s.r.Context().Err() == nil
	}
	t := time.NewTimer(s.pace)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-s.r.Context().Done():
		return false
	}
}

// open starts a stream of server-sent events.
func (s *stage) open() {
	h := s.w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-cache")
	s.w.WriteHeader(http.StatusOK)
}

// event sends one event; the name may be empty.
func (s *stage) event(name string, data any) bool {
	if s.r.Context().Err() != nil {
		return false
	}
	raw, err := json.Marshal(data)
	if err != nil {
		return false
	}
	if name != "" {
		return s.sendEvent("event: " + name + "\ndata: " + string(raw))
	}
	return s.sendEvent("data: " + string(raw))
}

// sendEvent sends one event as it stands.
func (s *stage) sendEvent(event string) bool {
	if _, err := io.WriteString(s.w, event+"\n\n"); err != nil {
		return false
	}
	return http.NewResponseController(s.w).Flush() == nil
}

// whole plays what comes before an answer in one piece: the script's failure, or the pace
// of the text. It reports whether the answer follows.
func (s *stage) whole(a Answer, failure int, refuse func(http.ResponseWriter, int, string)) bool {
	switch a.Break {
	case BreakNone:
	case BreakCut:
		s.cut()
	case BreakEvent:
		refuse(s.w, failure, "scripted failure")
		return false
	}
	if a.Pace <= 0 {
		return true
	}
	for range a.deltas(a.Text) {
		if !s.wait() {
			return false
		}
	}
	return true
}

// cutDelay gives the client time to read what came before the connection is
// cut: a client loses the bytes that it has not read by then.
const cutDelay = 50 * time.Millisecond

// cut drops the connection in the middle of the answer, as net/http offers it.
func (s *stage) cut() {
	s.pace = cutDelay
	s.wait()
	panic(http.ErrAbortHandler)
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	raw, err := json.Marshal(v)
	if err != nil {
		http.Error(w, "the answer could not be encoded: "+err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(raw) // a client that is gone needs no answer
}
