package scriptedmodel

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"time"
)

// Request is one request that a [Server] has received, and what it answered.
type Request struct {
	Seq       int             `json:"seq"` // from 1
	Time      time.Time       `json:"time"`
	Kind      string          `json:"kind"` // answer, title, side, invalid, unknown
	Method    string          `json:"method"`
	Path      string          `json:"path"`
	Header    http.Header     `json:"header,omitempty"`
	Body      json.RawMessage `json:"body,omitempty"` // nil if it was not JSON
	Directive Directive       `json:"directive,omitzero"`
	Step      int             `json:"step,omitempty"`
	Answer    Answer          `json:"answer,omitzero"`
}

// Requests returns what has been received so far, oldest first.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Await returns the first request that matches, past ones included; it waits
// for one until ctx is done.
func (s *Server) Await(ctx context.Context, match func(Request) bool) (Request, error) {
	for seen := 0; ; {
		s.mu.Lock()
		fresh, arrived := s.requests[seen:], s.arrived
		s.mu.Unlock()
		for _, r := range fresh {
			if match(r) {
				return r, nil
			}
		}
		seen += len(fresh)
		select {
		case <-arrived:
		case <-ctx.Done():
			return Request{}, context.Cause(ctx)
		}
	}
}
