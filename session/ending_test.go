package session_test

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/eventlog/memlog"
	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/trace"
)

// badLog is a store that can be told to fail or to be slow.
type badLog struct {
	eventlog.Store
	mu     sync.Mutex
	before func(turn string, events []trace.Event) error
}

func newBadLog() *badLog { return &badLog{Store: memlog.New()} }

func (b *badLog) on(before func(turn string, events []trace.Event) error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.before = before
}

// busy has every append wait until the gate is closed.
func (b *badLog) busy() (gate chan struct{}) {
	gate = make(chan struct{})
	b.on(func(string, []trace.Event) error {
		<-gate
		return nil
	})
	return gate
}

func (b *badLog) Append(ctx context.Context, session, turn string, events []trace.Event) (uint64, error) {
	if err := b.ask(turn, events); err != nil {
		return 0, err
	}
	return b.Store.Append(ctx, session, turn, events)
}

func (b *badLog) AppendWith(ctx context.Context, e eventlog.Entry, turn string, events []trace.Event) (uint64, error) {
	if err := b.ask(turn, events); err != nil {
		return 0, err
	}
	return b.Store.AppendWith(ctx, e, turn, events)
}

func (b *badLog) ask(turn string, events []trace.Event) error {
	b.mu.Lock()
	before := b.before
	b.mu.Unlock()
	if before == nil || len(events) == 0 {
		return nil
	}
	return before(turn, events)
}

var errDisk = errors.New("no space left on device")

func hasStop(events []trace.Event) bool {
	return slices.ContainsFunc(events, func(e trace.Event) bool {
		_, stop := e.Payload.(trace.Stop)
		return stop
	})
}

// scripted is an agent whose turns are a function.
type scripted struct {
	prompt func(ctx context.Context, host agent.Host, p agent.Prompt, b *trace.Builder) error
	host   agent.Host
	closed func()
}

func (s scripted) Open(_ context.Context, host agent.Host, _ agent.Config) (agent.Session, error) {
	locks.free("an agent is opened")
	s.host = host
	return s, nil
}

func (s scripted) Prompt(ctx context.Context, p agent.Prompt, b *trace.Builder) error {
	locks.free("an agent gets a prompt")
	return s.prompt(ctx, s.host, p, b)
}

func (s scripted) Close() error {
	locks.free("an agent is closed")
	if s.closed != nil {
		s.closed()
	}
	return nil
}

func with(t *testing.T, r agent.Runtime) func(*session.Options) {
	t.Helper()
	dir := t.TempDir()
	return func(o *session.Options) { o.Agents["demo"] = session.Agent{Runtime: r, Cwd: dir} }
}

func lastOf(records iter.Seq2[trace.Record, error]) (last trace.Record, err error) {
	for r, e := range records {
		if e != nil {
			return last, e
		}
		last = r
	}
	return last, nil
}

// A session is idle when the last record of its turn is written: the history is then
// complete.
func TestASessionIsAtRestWhenItsTurnIsOnRecord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bad := newBadLog()
		taken := make(chan struct{}) // the prompt returned: the stop is in no batch that it waits for
		b := benchOn(t, eventlog.New(bad), with(t, scripted{prompt: func(_ context.Context, _ agent.Host, _ agent.Prompt, b *trace.Builder) error {
			<-taken
			b.Message("1", "hello")
			return nil
		}}))
		defer b.close()
		gate := make(chan struct{})
		bad.on(func(_ string, events []trace.Event) error {
			if hasStop(events) {
				<-gate
			}
			return nil
		})
		b.say("u1", "hello")
		close(taken)
		synctest.Wait()
		if s, err := b.Get(t.Context(), "s"); s.State != session.Running || s.Turn == "" || err != nil {
			t.Errorf("while the end is being written: %s %q %v", s.State, s.Turn, err)
		}
		close(gate)
		synctest.Wait()
		if s, err := b.Get(t.Context(), "s"); s.State != session.Idle || err != nil {
			t.Errorf("afterwards: %s %v", s.State, err)
		}
	})
}

// A subscriber of a turn whose log fails gets an error, and does not wait for ever.
// As soon as the log works the turn is closed, and so is the gap in the history.
func TestAFailingLogEndsTheTurnForWhoFollowsIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bad := newBadLog()
		b := benchOn(t, eventlog.New(bad), nil)
		defer b.close()
		turn := b.say("u1", "slow")
		time.Sleep(time.Second)
		bad.on(func(string, []trace.Event) error { return errDisk })
		if _, err := lastOf(b.Follow(t.Context(), "s", turn.ID, turn.After)); !errors.Is(err, session.ErrUnfinished) {
			t.Errorf("who follows gets %v", err)
		}
		if _, err := lastOf(b.Follow(t.Context(), "s", turn.ID, turn.After)); !errors.Is(err, session.ErrUnfinished) {
			t.Errorf("who comes later gets %v", err)
		}
		if err := b.Ready(); err == nil {
			t.Error("the gateway calls itself ready")
		}
		if _, err := b.Prompt(t.Context(), "s", session.Prompt{Message: text("u2", "hello")}); !errors.Is(err, session.ErrLog) {
			t.Errorf("the next prompt gets %v", err)
		}
		bad.on(nil)
		if s := stopOf(t, b.wait(b.say("u3", "hello"))); s.Outcome != trace.OutcomeCompleted {
			t.Errorf("when the log works again: %+v", s)
		}
		if s := stopOf(t, b.wait(turn)); s.Outcome != trace.OutcomeFailed || s.Reason != "log" {
			t.Errorf("the turn ended as %+v", s)
		}
		if err := b.Ready(); err != nil {
			t.Error(err)
		}
		if ids := b.history(); ids != "u1 A u3 A" {
			t.Errorf("history %s", ids)
		}
	})
}

// A turn whose end the log did not take is closed as soon as the log takes records
// again, with the text that clients saw. No prompt is needed for that.
func TestATurnThatTheLogCutOffIsClosedWithoutAPrompt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bad := newBadLog()
		b := benchOn(t, eventlog.New(bad), nil)
		defer b.close()
		turn := b.say("u1", "slow")
		time.Sleep(time.Second)
		bad.on(func(string, []trace.Event) error { return errDisk })
		if _, err := lastOf(b.Follow(t.Context(), "s", turn.ID, turn.After)); !errors.Is(err, session.ErrUnfinished) {
			t.Errorf("who follows gets %v", err)
		}
		time.Sleep(time.Minute)
		bad.on(nil)
		time.Sleep(2 * time.Second)
		if s := stopOf(t, b.wait(turn)); s.Outcome != trace.OutcomeFailed || s.Reason != "log" {
			t.Errorf("the turn ended as %+v", s)
		}
		if info, err := b.Get(t.Context(), "s"); len(info.Open) != 0 || err != nil {
			t.Errorf("the session still lists %v, %v", info.Open, err)
		}
	})
}

// A turn whose session another gateway has taken ends. The log itself works.
func TestASessionThatAnotherGatewayOwnsIsNoFailureOfTheLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bad := newBadLog()
		b := benchOn(t, eventlog.New(bad), nil)
		defer b.close()
		turn := b.say("u1", "slow")
		time.Sleep(time.Second)
		bad.on(func(string, []trace.Event) error { return eventlog.ErrNotOwner })
		if _, err := lastOf(b.Follow(t.Context(), "s", turn.ID, turn.After)); !errors.Is(err, session.ErrUnfinished) {
			t.Errorf("who follows gets %v", err)
		}
		if err := b.Ready(); err != nil {
			t.Errorf("the gateway is not ready: %v", err)
		}
		if _, err := b.Prompt(t.Context(), "s", session.Prompt{Message: text("u2", "hello")}); !errors.Is(err, session.ErrElsewhere) {
			t.Errorf("the next prompt gets %v", err)
		}
	})
}

func TestAStuckLogIsNotReady(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bad := newBadLog()
		b := benchOn(t, eventlog.New(bad), nil)
		defer b.close()
		bad.on(func(string, []trace.Event) error {
			time.Sleep(9 * time.Second)
			return nil
		})
		go func() { _, _ = b.Prompt(context.Background(), "s", session.Prompt{Message: text("u1", "hello")}) }()
		time.Sleep(8 * time.Second)
		if err := b.Ready(); err == nil {
			t.Error("the gateway calls itself ready")
		}
		bad.on(nil)
		time.Sleep(time.Minute)
		if err := b.Ready(); err != nil {
			t.Error(err)
		}
	})
}

// A prompt that is being withdrawn while the agent becomes free is not run.
func TestAWithdrawnPromptIsNotRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bad := newBadLog()
		var ran []string
		end := make(chan struct{})
		b := benchOn(t, eventlog.New(bad), with(t, scripted{prompt: func(_ context.Context, _ agent.Host, p agent.Prompt, _ *trace.Builder) error {
			ran = append(ran, p.Message.ID)
			<-end
			return nil
		}}))
		defer b.close()
		first, second := b.say("u1", "x"), b.say("u2", "x")
		gate := make(chan struct{})
		bad.on(func(turn string, events []trace.Event) error {
			if turn == second.ID && hasStop(events) {
				<-gate
			}
			return nil
		})
		go func() { _, _, _ = b.StopTurn(context.Background(), "s", second.ID, "ada") }()
		synctest.Wait()
		close(end)
		b.wait(first)
		synctest.Wait()
		close(gate)
		if s := stopOf(t, b.wait(second)); s.Reason != "not_run" {
			t.Errorf("second %+v", s)
		}
		synctest.Wait()
		if !slices.Equal(ran, []string{"u1"}) {
			t.Errorf("the agent ran %v", ran)
		}
	})
}

// A client that reloads while the end of the turn is being written gets that
// turn, not the one before it or nothing.
func TestResumeWhileTheStopIsBeingWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bad := newBadLog()
		b := benchOn(t, eventlog.New(bad), nil)
		defer b.close()
		b.wait(b.say("u1", "hello"))
		gate := make(chan struct{})
		bad.on(func(_ string, events []trace.Event) error {
			if hasStop(events) {
				<-gate
			}
			return nil
		})
		second := b.say("u2", "hello")
		time.Sleep(time.Minute)
		if got, ok, err := b.Resumable(t.Context(), "s", ""); err != nil || !ok || got.ID != second.ID {
			t.Errorf("resumable %+v %v %v", got, ok, err)
		}
		close(gate)
		b.wait(second)
	})
}

// Deleting a session ends every stream of it, and those of a turn with its stop.
func TestDeleteEndsWhoFollows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		defer b.close()
		turn := b.say("u1", "slow")
		records, err := b.Records(t.Context(), "s", session.Filter{Deltas: true, Live: true})
		if err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		all.Go(func() {
			last, err := lastOf(b.Follow(t.Context(), "s", turn.ID, turn.After))
			if s, ok := last.Payload.(trace.Stop); !ok || err != nil || s.Reason != "deleted" {
				t.Errorf("who follows the turn gets %+v, %v", last.Payload, err)
			}
		})
		all.Go(func() {
			if _, err := lastOf(records); err != nil {
				t.Errorf("who follows the trace gets %v", err)
			}
		})
		time.Sleep(time.Second)
		if _, err := b.Delete(t.Context(), "s"); err != nil {
			t.Fatal(err)
		}
		all.Wait()
	})
}

// An agent that begins a turn as it is closed leaves nothing behind.
func TestDeleteEndsWhatTheAgentBeginsMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var host agent.Host
		var begun *trace.Builder
		b := newBench(t, with(t, scripted{
			prompt: func(_ context.Context, h agent.Host, _ agent.Prompt, _ *trace.Builder) error {
				host = h
				return nil
			},
			closed: func() {
				if begun == nil {
					begun = host.Begin(agent.TurnInfo{})
				}
			},
		}))
		defer b.close()
		b.wait(b.say("u1", "x"))
		if _, err := b.Delete(t.Context(), "s"); err != nil {
			t.Fatal(err)
		}
		begun.Message("", "late")
		if err := begun.Flush(); err != nil {
			t.Error(err)
		}
		if last, err := lastOf(b.log.After(t.Context(), "s", 0)); last.Payload != nil || err != nil {
			t.Errorf("on record after the deletion: %+v %v", last.Payload, err)
		}
	})
}

// stillborn is an agent that never becomes ready.
type stillborn struct{}

func (stillborn) Open(ctx context.Context, _ agent.Host, _ agent.Config) (agent.Session, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func TestAnAgentThatNeverBecomesReady(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, with(t, stillborn{}))
		defer b.close()
		s := stopOf(t, b.wait(b.say("u1", "x")))
		if s.Outcome != trace.OutcomeFailed || s.Reason != "agent_unavailable" || !strings.Contains(s.Error, "did not become ready within 2m0s") {
			t.Errorf("stop %+v", s)
		}
		second := b.say("u2", "x")
		time.Sleep(time.Second)
		if _, done, err := b.StopTurn(t.Context(), "s", "", "ada"); !done || err != nil {
			t.Error(done, err)
		}
		if s := stopOf(t, b.wait(second)); s.Outcome != trace.OutcomeCanceled {
			t.Errorf("second %+v", s)
		}
	})
}

// A prompt in the queue is not begun when the gateway ends, however long the turn
// before it may still run: it is held.
func TestWhatWaitsAsTheGatewayEndsIsNotBegun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, with(t, scripted{prompt: func(_ context.Context, _ agent.Host, _ agent.Prompt, tb *trace.Builder) error {
			time.Sleep(10 * time.Second)
			tb.Message("", "done")
			return nil
		}}))
		first, second := b.say("u1", "x"), b.say("u2", "x")
		time.Sleep(time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		began := time.Now()
		if err := b.Close(ctx); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("it took %s to end", took)
		}
		outcomes := map[string]string{}
		for r, err := range b.log.After(t.Context(), "s", 0) {
			if err != nil {
				t.Fatal(err)
			}
			if s, ok := r.Payload.(trace.Stop); ok {
				outcomes[r.Turn] = s.Reason
			}
		}
		if outcomes[first.ID] != "end_turn" || outcomes[second.ID] != "" {
			t.Errorf("the turns ended as %v, of %s and %s", outcomes, first.ID, second.ID)
		}
		if err := b.log.Close(); err != nil {
			t.Fatal(err)
		}
	})
}
