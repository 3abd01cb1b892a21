package scriptedmodel

import (
	"encoding/json"
	"net/http"
	"time"
)

// A stage is what a wire plays one answer on. Once the client is gone every
// call reports false and writes nothing.
type stage struct {
	w     http.ResponseWriter
	r     *http.Request
	body  []byte
	turns int // of the conversation
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
	var line []byte
	if name != "" {
		line = append(line, "event: "+name+"\n"...)
	}
	line = append(line, "data: "...)
	line = append(append(line, raw...), "\n\n"...)
	if _, err := s.w.Write(line); err != nil {
		return false
	}
	return http.NewResponseController(s.w).Flush() == nil
}

// cut drops the connection in the middle of the answer, as net/http offers it.
func (s *stage) cut() { panic(http.ErrAbortHandler) }

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
