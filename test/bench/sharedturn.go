package main

import (
	"context"
	"net/http"
	"sync"
)

// sharedTurns holds the raw server's turns with several readers.
type sharedTurns struct{ open sync.Map } // of *sharedTurn, by session

// sharedTurn holds the frames of a turn, encoded once for all readers.
type sharedTurn struct {
	mu     sync.RWMutex
	frames [][]byte
	over   bool
	wake   chan struct{} // closed when a frame comes
}

func (m *sharedTurn) add(frame []byte, last bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.frames = append(m.frames, frame)
	m.over = last
	close(m.wake)
	m.wake = make(chan struct{})
}

func (m *sharedTurn) from(at int) (frames [][]byte, over bool, wake <-chan struct{}) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.frames[at:], m.over, m.wake
}

// share answers a prompt to all readers of the turn.
func (rs *sharedTurns) share(w http.ResponseWriter, r *http.Request, o rawRequest) {
	ctx := r.Context()
	m := &sharedTurn{wake: make(chan struct{})}
	rs.open.Store(o.session, m)
	defer rs.open.Delete(o.session)
	m.add([]byte(opening), false)
	var wait sync.WaitGroup
	defer wait.Wait()
	wait.Go(func() {
		for range o.words {
			if pause(ctx, o.pace) != nil {
				break
			}
			m.add(appendWord(nil), false)
		}
		m.add([]byte(closing), true)
	})
	m.serve(ctx, w)
}

// follow reads the running turn of a session along.
func (rs *sharedTurns) follow(w http.ResponseWriter, r *http.Request) {
	m, ok := rs.open.Load(r.PathValue("id"))
	if !ok {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	m.(*sharedTurn).serve(r.Context(), w)
}

func (m *sharedTurn) serve(ctx context.Context, w http.ResponseWriter) {
	f := newFrames(w)
	for at := 0; ; {
		frames, over, wake := m.from(at)
		for _, frame := range frames {
			if err := f.write(frame); err != nil {
				return
			}
		}
		at += len(frames)
		switch {
		case over:
			return
		case len(frames) > 0:
			continue
		}
		select {
		case <-wake:
		case <-ctx.Done():
			return
		}
	}
}
