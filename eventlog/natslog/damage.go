package natslog

import (
	"context"
	"errors"
	"fmt"
	"maps"
)

// lossError says that something that was acknowledged is not there.
type lossError struct{ what string }

func (e *lossError) Error() string { return e.what }

func isLoss(err error) bool {
	var loss *lossError
	return errors.As(err, &loss)
}

// damageError is the end of the read that found a loss first.
type damageError struct{ session, what string }

func (e *damageError) Error() string {
	return fmt.Sprintf("session %q: %s: read again to get what is left", e.session, e.what)
}

func isDamage(err error) bool {
	var damage *damageError
	return errors.As(err, &damage)
}

// damage makes the session damaged and returns the error for the read that found
// out.
func (s *Store) damage(ctx context.Context, session string, loss error) error {
	s.mu.Lock()
	if _, known := s.damaged[session]; !known {
		s.damaged[session] = fmt.Sprintf("the log of the session is damaged: %v", loss)
	}
	what := s.damaged[session]
	s.mu.Unlock()
	s.notes.damaged(ctx, session, what)
	s.opts.Logger.Error("a session is damaged", "session", session, "what", what)
	return &damageError{session, what}
}

// undamage forgets that the session was damaged, because it was deleted.
func (s *Store) undamage(session string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.damaged, session)
}

func (s *Store) isDamaged(session string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, yes := s.damaged[session]
	return yes
}

// Damaged implements eventlog.Store. A damaged session can be read, without what
// was lost, and appended to.
func (s *Store) Damaged() map[string]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.damaged)
}
