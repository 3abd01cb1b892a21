package session_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/trace"
)

// Clients act at random, in any order. Every turn is well formed and ends exactly
// once, no client waits for ever, and the session works afterwards.
//
//evidence:for promise-prompt-once
func TestChaosOfClients(t *testing.T) {
	for seed := range uint64(60) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { chaos(t, rand.New(rand.NewPCG(seed, 1))) })
		})
	}
}

func chaos(t *testing.T, dice *rand.Rand) {
	modes := []session.OnDisconnect{session.Grace, session.Stop, session.Detach}
	policies := []session.Busy{session.Queue, session.Reject, session.Interrupt}
	b := newBench(t, func(o *session.Options) {
		o.OnDisconnect, o.Busy = modes[dice.IntN(3)], policies[dice.IntN(3)]
		o.MaxQueue = 4
	})
	defer b.close()
	words := []string{
		"hello", "slow", "tool", "approve", "ask", "error", "parallel", "subagent",
		"both", "mixed", "several", "twice", "beside", "meanwhile", "withdraw", "yes", "no",
	}
	var turns []session.Turn
	var leaves []func(bool)
	for i := range 40 {
		switch dice.IntN(10) {
		case 0, 1, 2:
			p := session.Prompt{Message: text(fmt.Sprint("u", dice.IntN(30)), words[dice.IntN(len(words))]), By: []string{"ada", "bob"}[dice.IntN(2)], MayPermit: true}
			if dice.IntN(5) == 0 {
				p = session.Prompt{Regenerate: true, By: "ada"}
			}
			turn, err := b.Prompt(t.Context(), "s", p)
			if err == nil {
				turns = append(turns, turn)
			} else if !errors.Is(err, session.ErrBusy) && !errors.Is(err, session.ErrQueueFull) && !errors.Is(err, session.ErrUnknownMessage) && !errors.Is(err, session.ErrPaused) && !errors.Is(err, session.ErrNotYours) {
				t.Fatal(err)
			}
		case 3:
			time.Sleep(time.Duration(dice.IntN(4000)) * time.Millisecond)
		case 4:
			id := ""
			if len(turns) > 0 && dice.IntN(2) == 0 {
				id = turns[dice.IntN(len(turns))].ID
			}
			if _, _, err := b.StopTurn(t.Context(), "s", id, "ada"); err != nil {
				t.Fatal(err)
			}
		case 5:
			if len(turns) > 0 {
				leaves = append(leaves, b.Attach("s", turns[dice.IntN(len(turns))].ID, nil))
			}
		case 6:
			if len(leaves) > 0 {
				leaves[len(leaves)-1](dice.IntN(2) == 0)
				leaves = leaves[:len(leaves)-1]
			}
		case 7, 8:
			if len(turns) > 0 {
				answerAny(b, turns[dice.IntN(len(turns))], dice)
			}
		case 9:
			b.Touch("s")
			if _, _, err := b.Resumable(t.Context(), "s", ""); err != nil {
				t.Fatal(i, err)
			}
		}
	}
	// No client answers the requests: turns that still wait are stopped.
	for range len(turns) + 1 {
		time.Sleep(11 * time.Second)
		if _, _, err := b.StopTurn(t.Context(), "s", "", "ada"); err != nil {
			t.Fatal(err)
		}
	}
	for _, turn := range turns {
		var events []trace.Event
		for _, r := range b.wait(turn) {
			_, rewound := r.Payload.(trace.Rewind)
			_, asked := r.Payload.(trace.Prompt) // what answers a question stands in the middle
			if !rewound && (!asked || len(events) == 0) {
				events = append(events, r.Event)
			}
		}
		if err := agenttest.CheckTurn(events); err != nil {
			t.Errorf("turn %s: %v", turn.ID, err)
		}
	}
	time.Sleep(time.Minute)
	turn := b.say("last", "hello")
	if s := stopOf(t, b.wait(turn)); s.Outcome != trace.OutcomeCompleted {
		t.Errorf("the session does not work afterwards: %+v", s)
	}
}

// answerAny answers something that was asked in the turn, by one of the ways, whether
// or not it still waits.
func answerAny(b *bench, turn session.Turn, dice *rand.Rand) {
	b.t.Helper()
	yes := dice.IntN(2) == 0
	choice := session.Choice{Approved: &yes, Interrupt: !yes && dice.IntN(4) == 0}
	var replies []session.Reply
	for _, p := range all[trace.PermissionRequest](b, turn) {
		replies = append(replies, session.Reply{ID: p.RequestID, Choice: choice})
	}
	for _, p := range all[trace.Question](b, turn) {
		replies = append(replies, session.Reply{ID: p.QuestionID, Question: true, Values: []string{"x"}[:dice.IntN(2)]})
	}
	if len(replies) == 0 {
		return
	}
	r := replies[dice.IntN(len(replies))]
	var err error
	switch {
	case dice.IntN(2) == 0:
		_, err = b.Continue(b.t.Context(), "s", session.Continuation{Message: turn.MessageID, Sender: session.Sender{By: "eve"}, MayPermit: true, Replies: []session.Reply{r}})
	case r.Question:
		_, err = b.Answer(b.t.Context(), "s", r.ID, session.Sender{By: "eve"}, []string{"x"})
	default:
		_, err = b.Permit(b.t.Context(), "s", r.ID, session.Sender{By: "eve"}, choice)
	}
	var answered *session.AnsweredError
	if err != nil && !errors.As(err, &answered) && !errors.Is(err, session.ErrUnknownRequest) && !errors.Is(err, session.ErrNotWaiting) {
		b.t.Error(err)
	}
}
