package session_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/trace"
)

// began notes in which order the turns of many people begin; each turn takes a minute.
type began struct {
	mu  sync.Mutex
	ids []string
}

func (s *began) agent() scripted {
	return scripted{prompt: func(ctx context.Context, _ agent.Host, p agent.Prompt, tb *trace.Builder) error {
		s.mu.Lock()
		s.ids = append(s.ids, p.Message.ID)
		s.mu.Unlock()
		tb.Message("", "at work")
		select {
		case <-time.After(time.Minute):
		case <-ctx.Done():
		}
		tb.Message("", "done")
		return nil
	}}
}

func (s *began) order() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.ids, " ")
}

func sharing(t *testing.T, places, share int, r agent.Runtime) func(*session.Options) {
	w := with(t, r)
	return func(o *session.Options) {
		w(o)
		o.MaxAgents, o.AgentShare, o.IdleLimit = places, share, time.Hour
	}
}

// begin prompts a session of its own.
func (b *bench) begin(id, by string) {
	b.t.Helper()
	if _, err := b.Ensure(b.t.Context(), session.Spec{ID: id, By: by}); err != nil {
		b.t.Fatal(err)
	}
	if _, err := b.Prompt(b.t.Context(), id, promptOf(id, by)); err != nil {
		b.t.Fatal(err)
	}
	synctest.Wait()
}

// A person with very many turns takes half of the places, and not all.
//
//evidence:for limit-agent-share
func TestOnePersonDoesNotTakeAllPlaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &began{}
		b := newBench(t, sharing(t, 4, 0, s.agent()))
		defer b.close()
		for i := range 20 {
			b.begin(fmt.Sprint("a", i), "ada")
		}
		if got := s.order(); got != "a0 a1" {
			t.Errorf("of ada's turns run: %s", got)
		}
		if open, waiting := b.Places(); open != 2 || waiting != 18 {
			t.Errorf("%d places are taken, and %d turns wait", open, waiting)
		}
		b.begin("b0", "bob")
		b.begin("c0", "cy")
		if got := s.order(); got != "a0 a1 b0 c0" {
			t.Errorf("running: %s", got)
		}
	})
}

// A person who had half of the places idle cannot come back to all of them at once.
func TestIdlePlacesCountInAShare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &began{}
		b := newBench(t, sharing(t, 4, 2, s.agent()))
		defer b.close()
		for i := range 6 {
			b.begin(fmt.Sprint("a", i), "ada")
			time.Sleep(61 * time.Second)
		}
		s.ids = nil
		for i := range 6 {
			if _, err := b.Prompt(t.Context(), fmt.Sprint("a", i), promptOf(fmt.Sprint("again", i), "ada")); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		if got := strings.Fields(s.order()); len(got) != 2 {
			t.Errorf("ada's turns run: %v", got)
		}
	})
}

// Places go round: each person's turns in the order in which they came, one person after
// another, however many turns one of them has waiting.
//
//evidence:for limit-agent-share
func TestPlacesGoRound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &began{}
		b := newBench(t, sharing(t, 1, 1, s.agent()))
		defer b.close()
		for i := range 5 {
			b.begin(fmt.Sprint("a", i), "ada")
		}
		b.begin("b0", "bob")
		b.begin("b1", "bob")
		b.begin("c0", "cy")
		time.Sleep(9 * time.Minute)
		if got := s.order(); got != "a0 b0 c0 a1 b1 a2 a3 a4" {
			t.Errorf("in this order: %s", got)
		}
	})
}

// A turn that is stopped while it waits gives its turn to the next one.
//
//evidence:for limit-agent-share
func TestATurnThatIsStoppedWhileItWaitsHoldsNobodyUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &began{}
		b := newBench(t, sharing(t, 1, 1, s.agent()))
		defer b.close()
		for _, who := range []string{"ada", "bob", "cy"} {
			b.begin(who[:1]+"0", who)
		}
		if _, _, err := b.StopTurn(t.Context(), "b0", "", "bob"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(3 * time.Minute)
		if got := s.order(); got != "a0 c0" {
			t.Errorf("in this order: %s", got)
		}
	})
}

// Every turn gets a place, whichever person it belongs to.
//
//evidence:for limit-agent-share
func TestNoTurnStarves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &began{}
		b := newBench(t, sharing(t, 3, 2, s.agent()))
		defer b.close()
		var want []string
		for i := range 10 {
			for _, who := range []string{"ada", "bob", "cy", "dora"} {
				id := fmt.Sprint(who, i)
				want = append(want, id)
				b.begin(id, who)
			}
		}
		time.Sleep(30 * time.Minute)
		got := strings.Fields(s.order())
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%d of %d turns ran", len(got), len(want))
		}
	})
}

// A turn that waits for a place says why on its stream: all places are taken, or the person's
// own share is.
//
//evidence:for limit-agent-share
func TestATurnThatWaitsForAPlaceSaysWhy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &began{}
		b := newBench(t, sharing(t, 3, 2, s.agent()))
		defer b.close()
		b.begin("a0", "ada")
		b.begin("a1", "ada")
		says := func(id, by string) (detail string) {
			t.Helper()
			if _, err := b.Ensure(t.Context(), session.Spec{ID: id, By: by}); err != nil {
				t.Fatal(err)
			}
			turn, err := b.Prompt(t.Context(), id, promptOf(id, by))
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			for r := range b.Follow(ctx, id, turn.ID, turn.After) {
				if status, is := r.Payload.(trace.Status); is {
					detail = status.Detail
				}
			}
			return detail
		}
		if got := says("a2", "ada"); got != "Waiting: 2 of your agents are at work, which is your share." {
			t.Errorf("ada's third turn says %q", got)
		}
		b.begin("b0", "bob")
		if got := says("c0", "cy"); got != "Waiting: 3 agents are at work, which is the most that may be." {
			t.Errorf("cy's turn says %q", got)
		}
	})
}

// A person who leaves before their turn has got a place holds up nobody who stays.
//
//evidence:for limit-agent-share
func TestAPersonWhoLeavesLosesTheirPlaceInTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &began{}
		b := newBench(t, sharing(t, 1, 1, s.agent()))
		defer b.close()
		b.begin("a0", "ada")
		if _, err := b.Ensure(t.Context(), session.Spec{ID: "b0", By: "bob"}); err != nil {
			t.Fatal(err)
		}
		turn, err := b.Prompt(t.Context(), "b0", promptOf("b0", "bob"))
		if err != nil {
			t.Fatal(err)
		}
		leave := b.Attach("b0", turn.ID, nil)
		synctest.Wait()
		b.begin("c0", "cy")
		leave(true)
		time.Sleep(3 * time.Minute)
		if got := s.order(); got != "a0 c0" {
			t.Errorf("in this order: %s", got)
		}
		for r, err := range b.Follow(t.Context(), "b0", turn.ID, turn.After) {
			if stop, is := r.Payload.(trace.Stop); err != nil || is && stop.Reason != "disconnected" {
				t.Errorf("bob's turn ends with %+v, %v", stop, err)
			}
		}
	})
}
