package sqllog_test

import (
	"context"
	"errors"
	"net/url"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/eventlog/sqllog"
	"github.com/tributary-dev/tributary/internal/testkit/faultnet"
	"github.com/tributary-dev/tributary/trace"
)

func oneEvent(id string, p trace.Payload) []trace.Event {
	return []trace.Event{{ID: id, Time: time.Now(), Payload: p}}
}

// A fail-over of the database that lost a commit can leave two owners with one term.
//
//evidence:for promise-one-writer
func TestAnOwnerOfTheSameTermIsAnotherOwner(t *testing.T) {
	t.Parallel()
	for name, options := range engines() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := options(t)
			s := open(t, o)
			if _, err := s.Append(t.Context(), "s", "t", oneEvent("a", trace.MessageStart{Part: "p", Role: trace.RoleAssistant})); err != nil {
				t.Fatal(err)
			}
			if _, err := behind(t, o).ExecContext(t.Context(), `UPDATE places SET owner = 'other:1'`); err != nil {
				t.Fatal(err)
			}
			if _, err := s.Append(t.Context(), "s", "t", oneEvent("b", trace.Message{Part: "p", Text: "x"})); !errors.Is(err, eventlog.ErrNotOwner) {
				t.Errorf("an append after that: %v", err)
			}
		})
	}
}

// A session that somebody else has when it is given back is counted out of the memory once.
func TestASessionThatIsLostAsItIsGivenBack(t *testing.T) {
	onBoth(t, func(t *testing.T, o sqllog.Options) {
		o.Idle, o.Linger = time.Nanosecond, time.Nanosecond
		s := open(t, o)
		add(t, s, begins("p"), ends("p", "text"), stops())
		if _, err := behind(t, o).ExecContext(t.Context(), `UPDATE places SET owner = 'other:1'`); err != nil {
			t.Fatal(err)
		}
		sqllog.Sweep(s)
		if _, err := s.Term(t.Context(), "s"); err != nil && !errors.Is(err, eventlog.ErrNotOwner) { // it waits until the session is gone
			t.Fatal(err)
		}
		if counted := sqllog.CountedBytes(s); counted != 0 {
			t.Errorf("%d bytes are counted of no session", counted)
		}
	})
}

// held is a store whose way to PostgreSQL can be held.
func held(t *testing.T, o sqllog.Options) (*sqllog.Store, *faultnet.Proxy) {
	t.Helper()
	u, err := url.Parse(o.URL)
	if err != nil {
		t.Fatal(err)
	}
	p, err := faultnet.New(t.Context(), u.Host)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	u.Host = p.Addr()
	o.URL = u.String()
	s := open(t, o)
	t.Cleanup(func() { p.Hold(false, false) })
	return s, p
}

// Text is shown without the database only while no other gateway can own the session.
func TestTextIsNotShownWhenTheLeaseIsOver(t *testing.T) {
	t.Parallel()
	const lease = time.Second
	s, p := held(t, sqllog.Options{Dir: t.TempDir(), URL: postgres.Database(t), Lease: lease, Patience: 500 * time.Millisecond})
	if _, err := s.Append(t.Context(), "s", "t", oneEvent("a", trace.MessageStart{Part: "p", Role: trace.RoleAssistant})); err != nil {
		t.Fatal(err)
	}
	p.Hold(true, false)
	began := time.Now()
	for {
		at := time.Now()
		_, err := s.Append(context.Background(), "s", "t", oneEvent("d", trace.MessageDelta{Part: "p", Delta: "x"}))
		if err != nil {
			break
		}
		if d := at.Sub(began); d > lease+lease/2 { // it was renewed just before, at the latest
			t.Fatalf("a word is shown %s after the last renewal", d)
		}
		time.Sleep(5 * time.Millisecond)
	}
	if s.Owned("s") != 0 {
		t.Error("the store says that it owns the session")
	}
	p.Hold(false, false)
	for began := time.Now(); s.Owned("s") == 0; time.Sleep(10 * time.Millisecond) { // nobody has taken it
		if time.Since(began) > 30*time.Second {
			t.Fatal("the lease is not renewed")
		}
	}
}

// A gateway that slept finds out which sessions were taken, also those that nobody writes to.
func TestARenewalThatComesTooLateFindsTheSessionsThatWereTaken(t *testing.T) {
	t.Parallel()
	o := sqllog.Options{Dir: t.TempDir(), URL: postgres.Database(t), Lease: time.Second}
	s, p := held(t, o)
	for _, id := range []string{"mine", "taken"} {
		if _, err := s.Append(t.Context(), id, "t", oneEvent("a", trace.MessageStart{Part: "p", Role: trace.RoleAssistant})); err != nil {
			t.Fatal(err)
		}
	}
	p.Hold(true, false)
	for began := time.Now(); s.Owned("mine") != 0; time.Sleep(10 * time.Millisecond) {
		if time.Since(began) > 30*time.Second {
			t.Fatal("the lease does not end")
		}
	}
	if _, err := behind(t, o).ExecContext(t.Context(), `UPDATE places SET owner = 'other:1', term = term + 1 WHERE session = 'taken'`); err != nil {
		t.Fatal(err)
	}
	p.Hold(false, false)
	for began := time.Now(); s.Owned("mine") == 0; time.Sleep(10 * time.Millisecond) {
		if time.Since(began) > 30*time.Second {
			t.Fatal("the lease is not renewed")
		}
	}
	if s.Owned("taken") != 0 {
		t.Error("the store says that it owns the session that was taken")
	}
}
