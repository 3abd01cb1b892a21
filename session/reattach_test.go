package session_test

import (
	"context"
	"errors"
	"iter"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/eventlog/memlog"
	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/trace"
)

// remote is an agent that lives elsewhere: it asks, and goes on when it is
// answered, whichever process of the gateway brings the answer.
type remote struct {
	host   agent.Host
	asked  chan string
	waited chan []string
}

func (r remote) Open(_ context.Context, host agent.Host, _ agent.Config) (agent.Session, error) {
	r.host = host
	return r, nil
}

func (r remote) Close() error { return nil }

func (r remote) Prompt(ctx context.Context, _ agent.Prompt, b *trace.Builder) error {
	id, _, _ := request(b, "1")
	r.asked <- id
	return r.goOn(ctx, id, b)
}

func (r remote) Reattach(ctx context.Context, s agent.Session, left agent.OpenTurn) error {
	r.waited <- left.Waiting
	return s.(remote).goOn(ctx, left.Waiting[0], left.Builder)
}

func (r remote) goOn(ctx context.Context, id string, b *trace.Builder) error {
	answer, err := r.host.Permit(ctx, id)
	if err != nil || ctx.Err() != nil {
		return err
	}
	b.ToolResult(trace.ToolResult{ToolCallID: "t-1", Status: trace.ToolCompleted})
	b.Message("", "answer: "+answer.ChosenOption)
	return nil
}

// waiting is a remote whose runs end with the gateway.
type waiting struct{ remote }

func (waiting) OnlyWaits() bool { return true }

func (waiting) Prompt(_ context.Context, _ agent.Prompt, b *trace.Builder) error {
	time.Sleep(time.Second / 2)
	b.Message("", "the whole answer")
	return nil
}

func (w waiting) Open(context.Context, agent.Host, agent.Config) (agent.Session, error) {
	return w, nil
}

func TestARunThatEndsWithTheGatewayHasTheTimeToFinish(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := keeping{memlog.New()}
		b := benchOn(t, eventlog.New(store), with(t, waiting{}))
		turn := b.say("u1", "x")
		time.Sleep(time.Millisecond)
		b.close()
		second := benchOn(t, eventlog.New(store), with(t, waiting{}))
		defer second.close()
		if s := stopOf(t, second.wait(turn)); s.Outcome != trace.OutcomeCompleted || s.FinalOutput != "the whole answer" {
			t.Errorf("the turn ended with %+v", s)
		}
	})
}

// keeping is a store that outlives the log that is closed over it.
type keeping struct{ eventlog.Store }

func (keeping) Close() error { return nil }

// A paused turn survives the gateway where its agent does. Elsewhere it is closed.
//
//evidence:for promise-crash
func TestAPausedTurnSurvivesARestartWhereItsAgentLivesElsewhere(t *testing.T) {
	for _, killed := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			store := keeping{memlog.New()}
			far := remote{asked: make(chan string, 1), waited: make(chan []string, 1)}
			first := benchOn(t, eventlog.New(store), with(t, far))
			turn := first.say("u1", "x")
			time.Sleep(time.Second)
			asked := <-far.asked
			var copied eventlog.Store = store
			if killed { // what a process that is killed leaves behind is what is on record now
				copied = duplicate(t, store)
			}
			first.close()

			second := benchOn(t, eventlog.New(copied), with(t, far))
			defer second.close()
			if waiting := <-far.waited; !slices.Equal(waiting, []string{asked}) {
				t.Errorf("the agent is told that %q wait", waiting)
			}
			now, err := second.Get(t.Context(), "s")
			if err != nil || now.State != session.Paused || now.Turn != turn.ID || !slices.Equal(now.Waiting, []string{asked}) {
				t.Fatalf("after the restart %+v %v", now, err)
			}
			if waiting := second.Waiting(session.Selection{}); len(waiting) != 1 || waiting[0].ID != asked || waiting[0].Turn != turn.ID || waiting[0].MessageID != turn.MessageID {
				t.Errorf("after the restart there wait %+v", waiting)
			}
			yes := true
			rest, err := second.Continue(t.Context(), "s", session.Continuation{
				Message: turn.MessageID, Sender: session.Sender{By: "ada"}, MayPermit: true, Replies: []session.Reply{{ID: asked, Choice: session.Choice{Approved: &yes}}},
			})
			if err != nil || rest.From == 0 || rest.MessageID != turn.MessageID {
				t.Fatalf("%+v %v", rest, err)
			}
			records := second.wait(turn)
			if s := stopOf(t, records); s.Outcome != trace.OutcomeCompleted || s.FinalOutput != "answer: yes" {
				t.Errorf("killed %v: %+v", killed, s)
			}
			next := second.say("u2", "x")
			time.Sleep(time.Second)
			if _, err := second.Permit(t.Context(), "s", <-far.asked, session.Sender{By: "ada"}, session.Choice{Approved: &yes}); err != nil {
				t.Error("the session does not go on:", err)
			}
			second.wait(next)
		})
	}
}

// duplicate copies what is on record.
func duplicate(t *testing.T, from eventlog.Store) eventlog.Store {
	t.Helper()
	to := memlog.New()
	for e, err := range from.List(t.Context(), eventlog.Query{}) {
		if err != nil {
			t.Fatal(err)
		}
		if err := to.Put(t.Context(), e); err != nil {
			t.Fatal(err)
		}
		for r, err := range from.After(t.Context(), e.Session, 0) {
			if err == nil {
				_, err = to.Append(t.Context(), e.Session, r.Turn, []trace.Event{r.Event})
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	return to
}

// gone is a remote agent that cannot be reached after the restart.
type gone struct{ remote }

func (gone) Open(context.Context, agent.Host, agent.Config) (agent.Session, error) {
	return nil, errors.New("no route to it")
}

// slowly is a log that takes its time over one turn.
type slowly struct {
	eventlog.Store
	turn string
}

func (s slowly) Append(ctx context.Context, id, turn string, events []trace.Event) (uint64, error) {
	if turn == s.turn {
		time.Sleep(time.Second)
	}
	return s.Store.Append(ctx, id, turn, events)
}

func (s slowly) AppendWith(ctx context.Context, e eventlog.Entry, turn string, events []trace.Event) (uint64, error) {
	if turn == s.turn {
		time.Sleep(time.Second)
	}
	return s.Store.AppendWith(ctx, e, turn, events)
}

// A turn that was taken up and ended at once leaves a session that can be watched,
// also when a prompt was queued behind it, which the start closes meanwhile.
func TestASessionIsAliveAfterATurnCouldNotBeTakenUp(t *testing.T) {
	for _, queued := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			store := keeping{memlog.New()}
			far := remote{asked: make(chan string, 8), waited: make(chan []string, 1)}
			first := benchOn(t, eventlog.New(store), with(t, far))
			first.say("u1", "x")
			slow := ""
			if queued {
				slow = first.say("u2", "x").ID
			}
			time.Sleep(time.Second)
			copied := duplicate(t, store)
			first.close()

			second := benchOn(t, eventlog.New(slowly{copied, slow}), with(t, gone{far}))
			defer second.close()
			time.Sleep(time.Second)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			events, err := second.Events(ctx, "s", nil)
			if err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			for e, err := range events {
				t.Log(e, err)
			}
			if took := time.Since(began); took < time.Minute {
				t.Errorf("with a queue (%v) the events of the session ended by themselves after %s", queued, took)
			}
		})
	}
}

// shared is an agent that lives elsewhere, where others prompt it too.
type shared struct {
	host agent.Host
	left chan agent.OpenTurn
}

func (s shared) Open(_ context.Context, host agent.Host, _ agent.Config) (agent.Session, error) {
	s.host = host
	return s, nil
}

func (s shared) Close() error { return nil }

func (s shared) Prompt(_ context.Context, p agent.Prompt, b *trace.Builder) error {
	if p.Text() == "begin" {
		theirs := s.host.Begin(agent.TurnInfo{Prompt: &trace.Prompt{By: "bob", Message: trace.UserMessage{ID: "there-1", Parts: p.Message.Parts}}})
		theirs.Message("j", "before")
		theirs.StepStart(trace.Step{NativeID: "native-1"})
		theirs.Message("k", "theirs")
		theirs.ToolResult(trace.ToolResult{ToolCallID: "call", Status: trace.ToolCompleted})
		theirs.ThoughtDelta("t", "hm")
	}
	if p.Text() == "name" {
		b.StepStart(trace.Step{NativeID: "native-1"})
	}
	b.Message("k", "ours")
	return nil
}

func (s shared) Reattach(ctx context.Context, _ agent.Session, left agent.OpenTurn) error {
	s.left <- left
	<-ctx.Done()
	return nil
}

// A turn that another client began at the server belongs to no user here, also after a
// restart. The turn does not hold the agent, and prompts do not wait for the turn.
func TestE34_ATurnOfSomebodyElseHoldsNobodyUpAfterARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := keeping{memlog.New()}
		far := shared{left: make(chan agent.OpenTurn, 1)}
		first := benchOn(t, eventlog.New(store), with(t, far))
		first.wait(first.say("u1", "begin"))
		synctest.Wait()
		first.close()

		second := benchOn(t, eventlog.New(store), with(t, far))
		defer second.close()
		left := <-far.left
		if !left.AgentInitiated || left.Prompt == nil || left.Prompt.Message.ID != "there-1" || !slices.Equal(left.Native, []string{"native-1"}) {
			t.Errorf("the agent is told %+v", left)
		}
		turn := second.say("u2", "x")
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		for r, err := range second.Follow(ctx, "s", turn.ID, turn.After) {
			if err != nil {
				t.Fatal("ours waits for theirs:", err)
			}
			_ = r
		}
		if ctx.Err() != nil {
			t.Error("ours waited for theirs")
		}
	})
}

// An agent goes on with a turn by its own names of it, also where they have others on
// record because an earlier turn has them.
func TestAnAgentIsToldItsOwnNames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := keeping{memlog.New()}
		far := shared{left: make(chan agent.OpenTurn, 1)}
		first := benchOn(t, eventlog.New(store), with(t, far))
		first.wait(first.say("u1", "name"))
		first.wait(first.say("u2", "begin"))
		synctest.Wait()
		first.close()

		second := benchOn(t, eventlog.New(store), with(t, far))
		defer second.close()
		if left := <-far.left; !slices.Equal(left.Native, []string{"native-1"}) {
			t.Errorf("the agent is told %q", left.Native)
		} else if !slices.Equal(left.Parts, []string{"text-2", "thought-3"}) || !slices.Equal(left.Done, []string{"call"}) {
			t.Errorf("the agent is told of the parts %q and the calls %q", left.Parts, left.Done)
		}
	})
}

// openAgents counts the agents that are open.
type openAgents struct {
	remote
	n *atomic.Int32
}

// openAgent is one of them.
type openAgent struct {
	remote
	n *atomic.Int32
}

func (o openAgents) Open(ctx context.Context, host agent.Host, c agent.Config) (agent.Session, error) {
	o.n.Add(1)
	s, err := o.remote.Open(ctx, host, c)
	return openAgent{s.(remote), o.n}, err
}

func (o openAgents) Reattach(ctx context.Context, s agent.Session, left agent.OpenTurn) error {
	return o.remote.Reattach(ctx, s.(openAgent).remote, left)
}

func (o openAgent) Close() error { o.n.Add(-1); return nil }

// cutList is a store whose list of sessions with open turns breaks off behind the last one.
type cutList struct{ eventlog.Store }

func (c cutList) List(ctx context.Context, q eventlog.Query) iter.Seq2[eventlog.Entry, error] {
	return func(yield func(eventlog.Entry, error) bool) {
		for e, err := range c.Store.List(ctx, q) {
			if !yield(e, err) {
				return
			}
		}
		if slices.Contains(q.Phases, eventlog.Open) {
			time.Sleep(time.Second) // the turn goes on meanwhile
			yield(eventlog.Entry{}, errDisk)
		}
	}
}

func TestAStartThatFailsLeavesNoAgentOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := keeping{memlog.New()}
		far := openAgents{remote{asked: make(chan string, 1), waited: make(chan []string, 2)}, new(atomic.Int32)}
		first := benchOn(t, eventlog.New(store), with(t, far))
		turn := first.say("u1", "x")
		asked := <-far.asked
		first.close()

		o := session.Options{Log: eventlog.New(cutList{store}), Default: "demo", Agents: map[string]session.Agent{}}
		with(t, far)(&o)
		if _, err := session.New(t.Context(), o); !errors.Is(err, errDisk) {
			t.Fatalf("the start ends with %v", err)
		}
		if n := far.n.Load(); n != 0 || len(far.waited) != 1 {
			t.Errorf("%d agents are open, and %d turns went on", n, len(far.waited))
		}

		third := benchOn(t, eventlog.New(store), with(t, far))
		defer third.close()
		yes := true
		if _, err := third.Permit(t.Context(), "s", asked, session.Sender{By: "ada"}, session.Choice{Approved: &yes}); err != nil {
			t.Fatal(err)
		}
		if s := stopOf(t, third.wait(turn)); s.Outcome != trace.OutcomeCompleted {
			t.Errorf("the turn ends with %+v", s)
		}
	})
}
