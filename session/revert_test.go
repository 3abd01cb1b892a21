package session_test

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tributary-dev/tributary/adapter/echo"
	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/eventlog/memlog"
	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/trace"
)

func (b *bench) revert(id string) {
	b.t.Helper()
	if err := b.Revert(b.t.Context(), "s", id, "ada"); err != nil {
		b.t.Fatal(err)
	}
}

// A message that is removed without another in its place is in no history, and the agent
// forgets the message. A restart changes nothing of that.
func TestARevertedMessageIsForgotten(t *testing.T) {
	for _, c := range []struct {
		name      string
		do        func(b *bench)
		ids, want string // in history, and what the agent remembers
	}{
		{"the last one", func(b *bench) {
			b.run("u1", "one")
			b.run("u2", "two")
			b.revert("u2")
		}, "u1 A", "one"},
		{"all", func(b *bench) {
			b.run("u1", "one")
			b.run("u2", "two")
			b.revert("u1")
		}, "", ""},
		{"and then it goes on", func(b *bench) {
			b.run("u1", "one")
			b.run("u2", "two")
			b.run("u3", "three")
			b.revert("u2")
			b.run("u4", "four")
		}, "u1 A u4 A", "one|four"},
		{"in the middle of its run", func(b *bench) {
			b.run("u1", "one")
			running := b.say("u2", "slow two")
			time.Sleep(time.Second)
			b.revert("u2")
			if s := stopOf(b.t, b.wait(running)); s.Reason != "superseded" {
				b.t.Errorf("the turn ended as %+v", s)
			}
		}, "u1 A", "one"},
		{"while it waits", func(b *bench) {
			first := b.say("u1", "slow one")
			b.say("u2", "two")
			b.revert("u2")
			if s := stopOf(b.t, b.wait(first)); s.Outcome != trace.OutcomeCompleted {
				b.t.Errorf("the turn before ended as %+v", s)
			}
		}, "u1 A", "slow one"},
		{"twice", func(b *bench) {
			b.run("u1", "one")
			b.run("u2", "two")
			b.run("u3", "three")
			b.revert("u3")
			b.revert("u2")
		}, "u1 A", "one"},
		{"when the agent has been closed", func(b *bench) {
			b.run("u1", "one")
			b.run("u2", "two")
			time.Sleep(time.Hour)
			b.revert("u2")
		}, "u1 A", "one"},
	} {
		for _, restarted := range []bool{false, true} {
			t.Run(c.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					log := eventlog.New(memlog.New())
					b := benchOn(t, log, served(notebook{}))
					c.do(b)
					if restarted {
						if err := b.Close(t.Context()); err != nil {
							t.Fatal(err)
						}
						b = benchOn(t, log, served(notebook{}))
					}
					defer b.close()
					if ids := b.history(); ids != c.ids {
						t.Errorf("history %q, want %q", ids, c.ids)
					}
					if all, code := b.remembers(); all != c.want || code != "" {
						t.Errorf("the agent remembers %q %s, want %q", all, code, c.want)
					}
				})
			})
		}
	}
}

// A message that comes while another one is removed stays, also after a restart. The record
// has the message behind the removal.
func TestWhatIsSaidMeanwhileIsNotTakenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := eventlog.New(memlog.New())
		const recorded = 2 // the look at the clock with which the record begins that takes back
		var looks atomic.Int64
		looks.Store(recorded)
		gate := make(chan struct{})
		b := benchOn(t, log, func(o *session.Options) {
			served(notebook{})(o)
			o.Now = func() time.Time {
				if looks.Add(1) == recorded {
					<-gate
				}
				return time.Now()
			}
		})
		b.run("u1", "one")
		b.run("u2", "two")
		synctest.Wait()
		looks.Store(0)
		var both sync.WaitGroup
		both.Go(func() { b.revert("u2") })
		synctest.Wait()
		both.Go(func() { b.say("u3", "three") })
		synctest.Wait()
		close(gate)
		both.Wait()
		time.Sleep(time.Minute)
		before := b.history()
		if err := b.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		b = benchOn(t, log, served(notebook{}))
		defer b.close()
		if after := b.history(); before != "u1 A u3 A" || after != before {
			t.Errorf("history %q, and after a restart %q", before, after)
		}
	})
}

// A client that resumes does not see a removed message again: neither in the stream of a
// turn that has just ended, nor in a stream that was cut.
func TestARevertedTurnIsNotResumed(t *testing.T) {
	for _, restarted := range []bool{false, true} {
		for _, words := range []string{"two", "slow two"} {
			synctest.Test(t, func(t *testing.T) {
				log := eventlog.New(memlog.New())
				b := benchOn(t, log, served(notebook{}))
				b.run("u1", "one")
				turn := b.say("u2", words)
				leave := b.Attach("s", turn.ID, nil)
				time.Sleep(time.Second)
				leave(true)
				b.revert("u2")
				b.wait(turn)
				if restarted {
					if err := b.Close(t.Context()); err != nil {
						t.Fatal(err)
					}
					b = benchOn(t, log, served(notebook{}))
				}
				defer b.close()
				if got, ok, err := b.Resumable(t.Context(), "s", ""); ok || err != nil {
					t.Errorf("%q, restarted %v: %+v %v", words, restarted, got, err)
				}
			})
		}
	}
}

// A message that cannot be removed stays as it is, and the sender gets the reason.
func TestWhatIsNotReverted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bad := newBadLog()
		b := benchOn(t, eventlog.New(bad), served(notebook{}))
		defer b.close()
		first := b.run("u1", "one")
		b.run("u2", "two")
		for _, c := range []struct {
			id, by string
			want   error
		}{{"none", "ada", session.ErrUnknownMessage}, {"", "ada", session.ErrUnknownMessage}, {"u2", "bob", session.ErrNotYours}} {
			if err := b.Revert(t.Context(), "s", c.id, c.by); !errors.Is(err, c.want) {
				t.Errorf("%q by %s: %v", c.id, c.by, err)
			}
		}
		var choice *session.ChoiceError
		if err := b.Revert(t.Context(), "s", first.MessageID, "ada"); !errors.As(err, &choice) {
			t.Errorf("an answer: %v", err)
		}
		bad.on(func(string, []trace.Event) error { return errDisk })
		if err := b.Revert(t.Context(), "s", "u2", "ada"); !errors.Is(err, session.ErrLog) {
			t.Errorf("a full disk: %v", err)
		}
		bad.on(nil)
		if ids := b.history(); ids != "u1 A u2 A" {
			t.Errorf("history %s", ids)
		}
		if all, code := b.remembers(); all != "one|two" || code != "" {
			t.Errorf("the agent remembers %q %s", all, code)
		}
		clumsy := newBench(t, served(echo.Runtime{}))
		defer clumsy.close()
		clumsy.run("u1", "one")
		if err := clumsy.Revert(t.Context(), "s", "u1", "ada"); !errors.As(err, &choice) || clumsy.history() != "u1 A" {
			t.Errorf("an agent that cannot go back: %v, history %s", err, clumsy.history())
		}
	})
}
