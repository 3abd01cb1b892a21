package session_test

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/eventlog/memlog"
	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/trace"
)

// wallClock is a clock that somebody sets.
type wallClock struct{ off atomic.Int64 }

func (c *wallClock) now() time.Time {
	return time.Now().Add(time.Duration(c.off.Load())).Round(0) // no monotonic reading: it would forgive too much
}

func (c *wallClock) jump(by time.Duration) { c.off.Add(int64(by)) }

// The clock is set while turns run, an agent is idle and sessions are unused. Turns
// end as they would have, ids stay unique, the history stays in the order in which
// things happened, and nothing waits for the clock to come back.
//
//evidence:for ops-clock
func TestClockJumps(t *testing.T) {
	for _, by := range []time.Duration{5 * time.Hour, -5 * time.Hour, 400 * 24 * time.Hour, -400 * 24 * time.Hour} {
		t.Run(by.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { jumps(t, by) })
		})
	}
}

func jumps(t *testing.T, by time.Duration) {
	var clock wallClock
	b := newBench(t, func(o *session.Options) { o.Now = clock.now })
	var turns, ids []string
	for i := range 6 {
		turn := b.say(fmt.Sprint("u", i), []string{"slow", "tool", "hello"}[i%3])
		leave := b.Attach("s", turn.ID, nil)
		time.Sleep(300 * time.Millisecond)
		clock.jump(by)
		records := b.wait(turn)
		leave(false)
		if s := stopOf(t, records); s.Outcome != trace.OutcomeCompleted {
			t.Errorf("turn %d ended with %+v", i, s)
		}
		for _, r := range records {
			ids = append(ids, r.ID)
		}
		turns = append(turns, turn.ID)
		if got, ok, err := b.Resumable(t.Context(), "s", ""); err != nil || ok && got.ID != turn.ID {
			t.Errorf("after turn %d the last one is %+v, %v", i, got, err)
		}
		clock.jump(-by / 2)
	}
	page, err := b.History(t.Context(), "s", "", 100)
	if err != nil {
		t.Fatal(err)
	}
	var order []string
	for r, err := range page.Records {
		if err != nil {
			t.Fatal(err)
		}
		if len(order) == 0 || order[len(order)-1] != r.Turn {
			order = append(order, r.Turn)
		}
	}
	if !slices.Equal(order, turns) {
		t.Errorf("the history has the turns in the order %v, they were said in the order %v", order, turns)
	}
	slices.Sort(ids)
	if n := len(ids); len(slices.Compact(ids)) != n {
		t.Error("an id came twice")
	}
	// A turn that nobody follows any more ends within its grace.
	turn := b.say("left", "slow")
	b.Attach("s", turn.ID, nil)(true)
	clock.jump(by)
	began := time.Now()
	if s := stopOf(t, b.wait(turn)); s.Reason != "disconnected" || time.Since(began) > 15*time.Second {
		t.Errorf("left alone it ended after %s with %+v", time.Since(began), s)
	}
	// A session that nobody uses leaves the memory.
	clock.jump(by)
	time.Sleep(5*time.Minute + 5*time.Minute*3/2)
	if n := b.InMemory(); n != 0 {
		t.Errorf("%d sessions are in memory", n)
	}
	b.close()
}

// After a kill the turn that was cut off is the last one. A clock that was set back before
// the turn changes nothing, though the id of the turn then sorts before older ids.
func TestRestartAfterTheClockWasSetBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var clock wallClock
		behind := func(o *session.Options) { o.Now = clock.now }
		store := memlog.New()
		b := benchOn(t, eventlog.New(store), behind)
		older := b.say("u1", "hello")
		b.wait(older)
		clock.jump(-time.Hour)
		cut := b.say("u2", "slow")
		time.Sleep(2 * time.Second)
		if cut.ID > older.ID {
			t.Fatal("the clock was not set back")
		}
		next := benchOn(t, eventlog.New(store), behind) // as a new process
		if got, ok, err := next.Resumable(t.Context(), "s", ""); !ok || err != nil || got.ID != cut.ID {
			t.Errorf("to resume there is %+v, %v, %v; turn %s was cut off", got, ok, err, cut.ID)
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = next.Close(ctx)
		b.close()
	})
}
