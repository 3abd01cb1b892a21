package session

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tributary-dev/tributary/session/lockorder"
)

// This file tells whether the log takes records.

// health remembers how writing to the log went.
type health struct {
	mu       lockorder.Mutex
	failed   time.Time // when a write last failed
	trouble  error
	writes   map[*time.Time]struct{} // when those under way began
	failures uint64
}

// A gateway whose log fails is not ready until a write succeeds, or until no write
// was tried for some time. A gateway that is not ready gets no requests that could
// show that the log works again.
const (
	troubled = 30 * time.Second
	stuck    = 5 * time.Second
)

// write brackets a write to the log.
func (h *health) write(now func() time.Time, do func() error) error {
	began := now()
	h.mu.Lock()
	h.writes[&began] = struct{}{}
	h.mu.Unlock()
	err := do()
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.writes, &began)
	switch {
	case err == nil:
		h.trouble = nil
	case !errors.Is(err, context.Canceled) && !ofOneSession(err):
		h.trouble, h.failed = err, now()
		h.failures++
	}
	return err
}

// Ready reports in a sentence why prompts could not be taken now, or nil.
func (h *Hub) Ready() error {
	if h.refuses() {
		return ErrClosing
	}
	if err := h.Log.Reachable(); err != nil {
		return err
	}
	now := h.Now()
	h.health.mu.Lock()
	defer h.health.mu.Unlock()
	for since := range h.health.writes {
		if d := now.Sub(*since); d > stuck {
			return fmt.Errorf("the log has not taken a write for %s: see whether its disk or its database server works", d.Round(time.Second))
		}
	}
	if h.health.trouble != nil && now.Sub(h.health.failed) < troubled {
		return errors.New("the log could not be written: the gateway's own log says why")
	}
	return nil
}

// LogFailures counts the writes to the log that failed since the start.
func (h *Hub) LogFailures() uint64 {
	h.health.mu.Lock()
	defer h.health.mu.Unlock()
	return h.health.failures
}
