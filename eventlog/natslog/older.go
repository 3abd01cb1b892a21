package natslog

import (
	"context"
	"errors"
)

// loadOlder looks up the segment before the oldest one that is known. Pages of
// history need the newest ones only, so the others wait until they are asked for.
func (s *Store) loadOlder(ctx context.Context, se *session, l *lane) error {
	if err := s.enter(ctx, se.loading); err != nil {
		return err
	}
	defer func() { <-se.loading }()
	se.mu.Lock()
	at := l.older
	se.mu.Unlock()
	if at == 0 {
		return nil // somebody else did
	}
	m, err := s.at(ctx, l.stream, at)
	var i indexMessage
	var places []place
	if err == nil {
		i, places, err = decodeIndex(m.body)
		if err != nil {
			err = &lossError{err.Error()}
		}
	} else if errors.Is(err, errGone) {
		err = &lossError{"a part of its index is not in the store any more"}
	}
	if isLoss(err) {
		err = s.lostIndex(ctx, se, l, at, err)
	}
	if err != nil {
		return err
	}
	se.mu.Lock()
	defer se.mu.Unlock()
	if l.older != at {
		return nil // deleted meanwhile
	}
	if i.Deleted {
		l.older = 0
		return nil
	}
	l.prepend(at, i, places)
	se.remember(i.Begin, i.End)
	return nil
}

// lostIndex decides about an index message that is gone. What it leads to is out
// of reach; nil means that this is as it should be, or known.
func (s *Store) lostIndex(ctx context.Context, se *session, l *lane, at uint64, loss error) error {
	if !l.kept {
		if first, err := s.firstKept(ctx, l.stream); err != nil || at < first {
			return err
		}
	}
	se.mu.Lock()
	deleted := l.older != at
	l.older = 0
	se.mu.Unlock()
	if deleted || s.isDamaged(se.id) {
		return nil
	}
	return s.damage(ctx, se.id, loss)
}

// enter takes a token of a channel that serves as a lock.
func (s *Store) enter(ctx context.Context, lock chan struct{}) error {
	select {
	case lock <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-s.closing:
		return errClosing
	}
}

// firstKept is the place of the first message that is left of the stream.
func (s *Store) firstKept(ctx context.Context, stream string) (uint64, error) {
	st, err := s.js.Stream(ctx, stream)
	if err != nil {
		return 0, err
	}
	return st.CachedInfo().State.FirstSeq, nil
}
