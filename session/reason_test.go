package session_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/trace"
)

// A turn that something other than its agent ended says what ended it.
func TestATurnThatIsEndedSaysWhy(t *testing.T) {
	leave := func(b *bench, turn session.Turn) { b.Attach("s", turn.ID, nil)(true) }
	for _, c := range []struct {
		reason, want string
		busy         session.Busy
		end          func(b *bench) session.Turn
	}{
		{reason: "not_run", want: "This message was not run: send it again if it still matters.", end: func(b *bench) session.Turn {
			b.say("u1", "slow")
			turn := b.say("u2", "hello")
			leave(b, turn)
			return turn
		}},
		{reason: "disconnected", want: "The turn was stopped because nobody was connected to it any more.", end: func(b *bench) session.Turn {
			turn := b.say("u1", "slow")
			leave(b, turn)
			return turn
		}},
		{reason: "unanswered", want: "The turn was stopped because a new message came instead of an answer.", end: func(b *bench) session.Turn {
			turn, _ := b.pause("u1", "approve")
			b.say("u2", "hello")
			return turn
		}},
		{reason: "interrupted", want: "The turn was stopped because of a new message.", busy: session.Interrupt, end: func(b *bench) session.Turn {
			turn := b.say("u1", "slow")
			b.say("u2", "hello")
			return turn
		}},
		{reason: "shutdown", want: "The turn was stopped because the gateway was shut down.", end: func(b *bench) session.Turn {
			turn := b.say("u1", "slow")
			time.Sleep(time.Second)
			atOnce, cancel := context.WithCancel(b.t.Context())
			cancel()
			if err := b.Close(atOnce); err != nil {
				b.t.Error(err)
			}
			return turn
		}},
		{reason: "stopped", want: "", end: func(b *bench) session.Turn { // the person knows
			turn := b.say("u1", "slow")
			if _, done, err := b.StopTurn(b.t.Context(), "s", turn.ID, "ada"); !done || err != nil {
				b.t.Error(done, err)
			}
			return turn
		}},
	} {
		t.Run(c.reason, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t, func(o *session.Options) { o.Busy = c.busy })
				defer b.close()
				if s := stopOf(t, b.wait(c.end(b))); s.Reason != c.reason || s.Error != c.want || s.Outcome != trace.OutcomeCanceled {
					t.Errorf("the turn ended as %+v\nwant the reason %s and the sentence %q", s, c.reason, c.want)
				}
			})
		})
	}
}

// The reason that a person gives with a no reaches the agent and the record, whichever way the no
// comes.
func TestAReasonOfANoReachesTheAgentAndTheRecord(t *testing.T) {
	const reason = "Not on a Friday."
	no := false
	options := []trace.PermissionOption{{ID: "yes", Name: "Allow", OptionKind: trace.AllowOnce}, {ID: "no", Name: "Deny", OptionKind: trace.RejectOnce}}
	always := []trace.PermissionOption{{ID: "yes", Name: "Allow", OptionKind: trace.AllowOnce}, {ID: "never", Name: "Never", OptionKind: trace.RejectAlways}}
	only := options[:1]
	for name, choice := range map[string]session.Choice{
		"approved":         {Approved: &no, Reason: reason},
		"an option":        {Option: "no", Reason: reason},
		"an option's name": {Says: "Deny", Reason: reason},
		"a word":           {Says: "no", Reason: reason},
	} {
		for what, offered := range map[string][]trace.PermissionOption{"no option": nil, "once": options, "for good": always, "none that rejects": only} {
			if named := choice.Option != "" || choice.Says == "Deny"; named && what != "once" {
				continue
			}
			for _, stock := range []bool{false, true} {
				t.Run(fmt.Sprint(name, "/", what, "/", stock), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						var got trace.PermissionResponse
						b := newBench(t, with(t, scripted{prompt: func(ctx context.Context, host agent.Host, _ agent.Prompt, tb *trace.Builder) (err error) {
							tb.ToolCall(trace.ToolCall{ToolCallID: "c", RawName: "shell", Name: "shell", ToolKind: trace.ToolExecute})
							id, _, _ := tb.PermissionRequest(trace.PermissionRequest{RequestID: "r", ToolCallID: "c", Options: offered}, trace.ToolCall{})
							got, err = host.Permit(ctx, id)
							return err
						}}))
						defer b.close()
						turn, id := b.pause("u1", "x")
						var err error
						if stock {
							_, err = b.Continue(t.Context(), "s", session.Continuation{
								Message: turn.MessageID, MayPermit: true, Sender: session.Sender{By: "ada"}, Replies: []session.Reply{{ID: id, Choice: choice}},
							})
						} else {
							_, err = b.Permit(t.Context(), "s", id, session.Sender{By: "ada"}, choice)
						}
						if err != nil {
							t.Fatal(err)
						}
						b.wait(turn)
						if got.Reason != reason || got.Allowed() {
							t.Errorf("the agent gets %+v, without the reason", got)
						}
						if !slices.ContainsFunc(all[trace.PermissionResponse](b, turn), func(r trace.PermissionResponse) bool { return r.Reason == reason && r.By == "ada" }) {
							t.Errorf("on record is %+v, without the reason", all[trace.PermissionResponse](b, turn))
						}
					})
				})
			}
		}
	}
}

// The reason that a person gives instead of an answer to a question reaches the agent.
func TestAReasonOfADeclinedQuestionReachesTheAgent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const reason = "The app cannot know."
		var got trace.Answer
		b := newBench(t, with(t, scripted{prompt: func(ctx context.Context, host agent.Host, _ agent.Prompt, tb *trace.Builder) (err error) {
			got, err = host.Ask(ctx, tb.Question(trace.Question{QuestionID: "q", Text: "Which?"}))
			return err
		}}))
		defer b.close()
		turn, id := b.pause("u1", "x")
		_, err := b.Continue(t.Context(), "s", session.Continuation{
			Message: turn.MessageID, Sender: session.Sender{By: "ada"}, Replies: []session.Reply{{ID: id, Question: true, Reason: reason}},
		})
		if err != nil {
			t.Fatal(err)
		}
		b.wait(turn)
		if got.Outcome != trace.Canceled || got.Reason != reason || len(got.Values) != 0 {
			t.Errorf("the agent gets %+v, want the reason %q", got, reason)
		}
	})
}
