package session_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/eventlog/memlog"
	"github.com/tributary-dev/tributary/session"
)

// slowDelete is a store that deletes slowly, and once not at all.
type slowDelete struct {
	eventlog.Store
	fails *bool
}

func (s slowDelete) Delete(ctx context.Context, id string) error {
	select {
	case <-time.After(20 * time.Second):
	case <-ctx.Done():
		return ctx.Err()
	}
	if *s.fails {
		return errDisk
	}
	return s.Store.Delete(ctx, id)
}

func TestASessionIsDeletedThoughTheClientDoesNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := benchOn(t, eventlog.New(slowDelete{memlog.New(), new(bool)}), nil)
		defer b.close()
		b.wait(b.say("u1", "hello"))
		impatient, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		if err := b.Delete(impatient, "s"); err != nil {
			t.Errorf("the deletion: %v", err)
		}
		if _, err := b.Get(t.Context(), "s"); !errors.Is(err, session.ErrUnknownSession) {
			t.Errorf("afterwards the session is there: %v", err)
		}
	})
}

func TestASessionThatCouldNotBeDeletedGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fails := true
		b := benchOn(t, eventlog.New(slowDelete{memlog.New(), &fails}), nil)
		defer b.close()
		b.wait(b.say("u1", "hello"))
		if err := b.Delete(t.Context(), "s"); !errors.Is(err, errDisk) {
			t.Errorf("the deletion: %v", err)
		}
		b.wait(b.say("u2", "hello"))
		name := "still here"
		if _, err := b.Change(t.Context(), "s", session.Change{Title: &name}); err != nil {
			t.Error(err)
		}
		if doc, err := b.log.Get(t.Context(), "s"); err != nil || !strings.Contains(string(doc), name) {
			t.Errorf("the document is %s, %v", doc, err)
		}
		fails = false
		if err := b.Delete(t.Context(), "s"); err != nil {
			t.Errorf("the second deletion: %v", err)
		}
	})
}
