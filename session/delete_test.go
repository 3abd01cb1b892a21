package session_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/eventlog/memlog"
	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/trace"
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
		began := time.Now()
		if _, err := b.Delete(impatient, "s"); !errors.Is(err, session.ErrLog) || time.Since(began) > 15*time.Second {
			t.Errorf("the deletion returns %v after %s", err, time.Since(began))
		}
		time.Sleep(20 * time.Second) // the deletion goes on
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
		if _, err := b.Delete(t.Context(), "s"); !errors.Is(err, errDisk) {
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
		if _, err := b.Delete(t.Context(), "s"); err != nil {
			t.Errorf("the second deletion: %v", err)
		}
	})
}

// keeper is an agent that keeps a file in its state directory, and says what it found there.
type keeper struct{ host agent.Host }

func (keeper) Open(_ context.Context, host agent.Host, _ agent.Config) (agent.Session, error) {
	return keeper{host}, nil
}

func (keeper) Close() error { return nil }

func (k keeper) Prompt(_ context.Context, p agent.Prompt, b *trace.Builder) error {
	dir, err := k.host.State()
	if err != nil {
		return err
	}
	file := filepath.Join(dir, "memory")
	found, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	b.Message("", "I remember: "+string(found))
	return os.WriteFile(file, []byte(p.Text()), 0o600)
}

func TestOnlyADeletionThatWasWrittenRemovesTheAgentsFiles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fails, state := true, t.TempDir()
		b := benchOn(t, eventlog.New(slowDelete{memlog.New(), &fails}), func(o *session.Options) {
			o.StateDir = state
			o.Agents["demo"] = session.Agent{Runtime: keeper{}, Cwd: t.TempDir(), InProcess: true}
		})
		defer b.close()
		hears := func(want string) {
			t.Helper()
			if s := stopOf(t, b.wait(b.say("", "blue"))); s.FinalOutput != want {
				t.Errorf("the agent says %q, want %q", s.FinalOutput, want)
			}
		}
		hears("I remember: ")
		if _, err := b.Delete(t.Context(), "s"); !errors.Is(err, errDisk) {
			t.Fatal("the deletion:", err)
		}
		hears("I remember: blue")
		left, err := os.ReadDir(filepath.Join(state, "agents"))
		if err != nil || len(left) != 1 {
			t.Fatal(left, err)
		}
		fails = false
		if _, err := b.Delete(t.Context(), "s"); err != nil {
			t.Fatal(err)
		}
		// A gateway that was killed before it removed the files leaves them to the next session of this id.
		dir := filepath.Join(state, "agents", left[0].Name())
		if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
			t.Fatal("the files are left:", err)
		}
		if err := errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(filepath.Join(dir, "memory"), []byte("of another"), 0o600)); err != nil {
			t.Fatal(err)
		}
		if _, err := b.Ensure(t.Context(), session.Spec{ID: "s"}); err != nil {
			t.Fatal(err)
		}
		hears("I remember: ")
	})
}
