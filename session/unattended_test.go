package session_test

import (
	"errors"
	"testing"
	"testing/synctest"

	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/trace"
)

// The answers of a program are in its name. Where nobody is there, they are the gateway's own, and no
// answer comes after them.
func TestTheAnswersOfAProgramAndOfNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		defer b.close()
		last := func(turn session.Turn) (r trace.Record) {
			for r = range recordsOf(b, turn.ID) {
				switch r.Payload.(type) {
				case trace.PermissionResponse, trace.Answer:
					return r
				}
			}
			return r
		}

		turn, request := b.pause("u1", "approve")
		if err := b.Unattended(t.Context(), "s", request, "no person"); err != nil {
			t.Fatal(err)
		}
		b.wait(turn)
		r := last(turn)
		if p, _ := r.Payload.(trace.PermissionResponse); r.Actor != trace.Gateway || p.By != session.ByNobody || p.Outcome != trace.Selected || p.OptionKind != trace.RejectOnce || p.Reason != "no person" {
			t.Errorf("a permission: by %s, %+v", r.Actor, p)
		}
		yes := true
		_, err := b.Permit(t.Context(), "s", request, session.Sender{By: "ada"}, session.Choice{Approved: &yes})
		if answered, ok := errors.AsType[*session.AnsweredError](err); !ok || answered.By != session.ByNobody {
			t.Errorf("a second answer: %v", err)
		}
		if err := b.Unattended(t.Context(), "s", "no such", ""); !errors.Is(err, session.ErrUnknownRequest) {
			t.Errorf("no request: %v", err)
		}

		turn, request = b.pause("u2", "ask")
		if err := b.Unattended(t.Context(), "s", request, "no person"); err != nil {
			t.Fatal(err)
		}
		b.wait(turn)
		r = last(turn)
		if a, _ := r.Payload.(trace.Answer); r.Actor != trace.Gateway || a.By != session.ByNobody || a.Outcome != trace.Expired || len(a.Values) > 0 || a.Reason != "no person" {
			t.Errorf("a question: by %s, %+v", r.Actor, a)
		}

		turn, request = b.pause("u3", "ask")
		if _, err := b.Answer(t.Context(), "s", request, session.Sender{By: "case"}, []string{"green"}); err != nil {
			t.Fatal(err)
		}
		b.wait(turn)
		r = last(turn)
		if a, _ := r.Payload.(trace.Answer); r.Actor != trace.User || a.By != "case" || a.Outcome != trace.Selected {
			t.Errorf("the answer of a case: by %s, %+v", r.Actor, a)
		}
	})
}

// recordsOf yields what is on record of a turn.
func recordsOf(b *bench, turn string) func(func(trace.Record) bool) {
	return func(yield func(trace.Record) bool) {
		for r, err := range b.log.Durable(b.t.Context(), "s", 0, 0) {
			if err != nil {
				b.t.Fatal(err)
			}
			if r.Turn == turn && !yield(r) {
				return
			}
		}
	}
}
