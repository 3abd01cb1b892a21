package session_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/trace"
)

var rounds = flag.Int("rounds", 300, "how often eight answers race for one request") //nolint:gochecknoglobals // a flag

// claim is the outcome of one of the answers: the person who gave it, and the
// response they got.
type claim struct {
	by   string
	what string
	took bool  // it was told that it is the answer
	err  error // why not
}

// Eight answers to one request come at the same time, by every way and of several
// people. The record has one answer. The sender of that answer gets a success, and all
// others get a refusal. go test -run RacesOfEight -rounds 10000 takes its time.
//
//evidence:for promise-one-answer
func TestRacesOfEight(t *testing.T) {
	runtime := scripted{prompt: func(ctx context.Context, host agent.Host, p agent.Prompt, b *trace.Builder) error {
		if p.Text() != "ask" {
			return nil
		}
		id, _, _ := request(b, "r-"+b.Turn())
		answer, err := host.Permit(ctx, id)
		b.Message("", string(answer.Outcome))
		return err
	}}
	b := newBench(t, with(t, runtime))
	defer b.close()
	won := map[string]int{}
	for round := range *rounds {
		dice := rand.New(rand.NewPCG(uint64(round), 8)) //nolint:gosec // not a secret
		raceOfEight(t, b, dice, won)
		if t.Failed() {
			t.Fatalf("round %d", round)
		}
	}
	t.Logf("the answers on record were given by: %v", won)
}

func raceOfEight(t *testing.T, b *bench, dice *rand.Rand, won map[string]int) {
	t.Helper()
	id := fmt.Sprint("s", dice.Uint64())
	if _, err := b.Ensure(t.Context(), session.Spec{ID: id}); err != nil {
		t.Fatal(err)
	}
	turn, err := b.Prompt(t.Context(), id, session.Prompt{Message: text("u1", "ask"), By: "ada"})
	if err != nil {
		t.Fatal(err)
	}
	var asked string
	for r, err := range b.Follow(t.Context(), id, turn.ID, turn.After) {
		if err != nil {
			t.Fatal(err)
		}
		if p, is := r.Payload.(trace.Pause); is {
			asked = p.Requests[0]
			break
		}
	}
	claims := make([]claim, 8)
	start := make(chan struct{})
	var racing sync.WaitGroup
	for i := range claims {
		kind, yes := dice.IntN(10), dice.IntN(2) == 0
		racing.Go(func() {
			<-start
			claims[i] = answerSomehow(b, id, turn, asked, fmt.Sprint(i), kind, yes)
		})
	}
	close(start)
	racing.Wait()
	var given []trace.PermissionResponse
	for r, err := range b.Follow(t.Context(), id, turn.ID, turn.After) {
		if err != nil {
			t.Fatal(err)
		}
		if p, is := r.Payload.(trace.PermissionResponse); is {
			given = append(given, p)
		}
	}
	if len(given) != 1 {
		t.Fatalf("on record are %d answers: %+v; %+v", len(given), given, claims)
	}
	on := given[0]
	what, takers := "nobody", 0
	for _, c := range claims {
		if c.took {
			what = c.what
			takers++
		}
		if mine := on.By == c.by && on.Outcome == trace.Selected; c.took && !mine || c.by != "ada" && mine != c.took {
			t.Errorf("%s by %q was told %v (%v), on record is %+v", c.what, c.by, c.took, c.err, on)
		}
	}
	if on.Interrupt { // the user has talked past the request, which is a no
		what = "past"
	}
	want := 1
	if on.Interrupt || on.Outcome == trace.Canceled {
		want = 0
	}
	if takers != want || on.Outcome == trace.Canceled && on.By != "" {
		t.Errorf("%d were told that they were first, on record is %+v; %+v", takers, on, claims)
	}
	won[what]++
	if _, err := b.Delete(t.Context(), id); err != nil {
		t.Error(err)
	}
}

// answerSomehow answers by one of the ways. All typed answers are ada's, because
// only the user who prompted can type one.
func answerSomehow(b *bench, id string, turn session.Turn, asked, who string, kind int, yes bool) claim {
	ctx := b.t.Context()
	c := claim{by: "side-" + who, what: "side"}
	switch {
	case kind < 4:
		_, c.err = b.Permit(ctx, id, asked, session.Sender{By: c.by}, session.Choice{Approved: &yes})
		var answered *session.AnsweredError
		if c.took = c.err == nil; !c.took && !errors.As(c.err, &answered) && !errors.Is(c.err, session.ErrUnknownRequest) {
			b.t.Error(c.err)
		}
	case kind < 8:
		c.by, c.what = "part-"+who, "part"
		var rest session.Rest
		rest, c.err = b.Continue(ctx, id, session.Continuation{
			Message: turn.MessageID, Sender: session.Sender{By: c.by}, MayPermit: true,
			Replies: []session.Reply{{ID: asked, Choice: session.Choice{Approved: &yes}}},
		})
		if _, told := rest.Allowed[asked]; c.err != nil || !told {
			b.t.Errorf("a part was told nothing: %+v %v", rest, c.err)
		}
		for _, r := range responses(b, id, turn) {
			c.took = r.By == c.by
		}
	default:
		c.by, c.what = "ada", "typed"
		words := map[bool]string{true: "yes", false: "no"}[yes]
		if kind == 9 {
			c.what, words = "past", "something else"
		}
		var got session.Turn
		got, c.err = b.Prompt(ctx, id, session.Prompt{Message: text("u-"+who, words), By: "ada", MayPermit: true})
		if c.err == nil && got.ID == turn.ID { // it is a message of that turn, which tells what became of it
			for _, r := range responses(b, id, turn) {
				c.took = r.By == c.by && r.Outcome == trace.Selected && !r.Interrupt
			}
		}
		if c.err != nil {
			b.t.Error(c.err)
		}
	}
	return c
}

func responses(b *bench, id string, turn session.Turn) (all []trace.PermissionResponse) {
	for r, err := range b.log.Durable(b.t.Context(), id, turn.After, 0) {
		if err != nil {
			b.t.Error(err)
			return nil
		}
		if p, is := r.Payload.(trace.PermissionResponse); is && r.Turn == turn.ID && strings.HasPrefix(p.RequestID, "r-") {
			all = append(all, p)
		}
	}
	return all
}
