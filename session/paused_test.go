package session_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/policy/toolkind"
	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/trace"
)

// all returns what is on record of a turn by now, of one kind.
func all[P trace.Payload](b *bench, turn session.Turn) (found []P) {
	b.t.Helper()
	for r, err := range b.log.After(b.t.Context(), "s", 0) {
		if err != nil {
			b.t.Fatal(err)
		}
		if p, ok := r.Payload.(P); ok && r.Turn == turn.ID {
			found = append(found, p)
		}
	}
	return found
}

func (b *bench) state() session.State {
	b.t.Helper()
	s, err := b.Get(b.t.Context(), "s")
	if err != nil {
		b.t.Fatal(err)
	}
	return s.State
}

// pause says something and waits until the turn pauses; it returns what was asked
// first.
func (b *bench) pause(id, words string) (session.Turn, string) {
	b.t.Helper()
	turn := b.say(id, words)
	time.Sleep(5 * time.Second)
	if b.state() != session.Paused {
		b.t.Fatalf("%s does not pause", words)
	}
	for _, p := range all[trace.Pause](b, turn) {
		return turn, p.Requests[0]
	}
	b.t.Fatalf("%s has no pause on record", words)
	return turn, ""
}

func (b *bench) allow(request, by string) {
	b.t.Helper()
	yes := true
	if _, err := b.Permit(b.t.Context(), "s", request, session.Sender{By: by}, session.Choice{Approved: &yes}); err != nil {
		b.t.Fatal(err)
	}
}

// A turn that waits needs nobody to follow it, for as long as that takes; when it
// goes on by an answer from the side it goes on without.
//
//evidence:for promise-waits
func TestAPausedTurnNeedsNoFollower(t *testing.T) {
	for _, mode := range []session.OnDisconnect{session.Grace, session.Stop} {
		for _, cut := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t, func(o *session.Options) { o.OnDisconnect = mode })
				defer b.close()
				turn := b.say("u1", "approve")
				leave := b.Attach("s", turn.ID, nil)
				time.Sleep(5 * time.Second)
				leave(cut)
				time.Sleep(20 * time.Hour)
				if b.state() != session.Paused {
					t.Fatalf("%s, cut %v: the turn is %s", mode, cut, b.state())
				}
				b.allow(all[trace.Pause](b, turn)[0].Requests[0], "ada")
				if s := stopOf(t, b.wait(turn)); s.Outcome != trace.OutcomeCompleted {
					t.Errorf("%s, cut %v: %+v", mode, cut, s)
				}
			})
		}
	}
}

//evidence:for promise-one-answer
func TestWhoMayTalkToAPausedTurn(t *testing.T) {
	for _, c := range []struct {
		name   string
		prompt session.Prompt
		err    error
		turn   string // what becomes of the paused turn
		answer string // the option on record
	}{
		{"yes", session.Prompt{Message: text("u2", "Yes!"), By: "ada", MayPermit: true}, nil, "completed", "allow"},
		{"an option", session.Prompt{Message: text("u2", "deny"), By: "ada", MayPermit: true}, nil, "completed", "deny"},
		{"never always", session.Prompt{Message: text("u2", "always allow"), By: "ada", MayPermit: true}, nil, "unanswered", "deny"},
		{"other words", session.Prompt{Message: text("u2", "hello"), By: "ada", MayPermit: true}, nil, "unanswered", "deny"},
		{"other words, without the role", session.Prompt{Message: text("u2", "hello"), By: "ada"}, nil, "unanswered", "deny"},
		{"yes, without the role", session.Prompt{Message: text("u2", "yes"), By: "ada"}, session.ErrMayNotPermit, "", ""},
		{"yes of somebody else", session.Prompt{Message: text("u2", "yes"), By: "bob", MayPermit: true}, session.ErrPaused, "", ""},
		{"other words of somebody else", session.Prompt{Message: text("u2", "hello"), By: "bob", MayPermit: true}, session.ErrPaused, "", ""},
		{"yes in another channel", session.Prompt{Message: text("u2", "yes"), By: "ada", Channel: "c", MayPermit: true}, session.ErrPaused, "", ""},
		{"an edit", session.Prompt{Message: text("u1", "hello"), By: "ada", MayPermit: true}, nil, "superseded", ""},
		{"an edit that says yes", session.Prompt{Message: text("u1", "yes"), By: "ada", MayPermit: true}, nil, "superseded", ""},
		{"a regeneration", session.Prompt{Regenerate: true, By: "ada", MayPermit: true}, nil, "superseded", ""},
	} {
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t, nil)
			defer b.close()
			turn, _ := b.pause("u1", "approve")
			next, err := b.Prompt(t.Context(), "s", c.prompt)
			if !errors.Is(err, c.err) {
				t.Fatalf("%s: error %v", c.name, err)
			}
			if c.err != nil {
				if b.state() != session.Paused || len(all[trace.PermissionResponse](b, turn)) > 0 {
					t.Errorf("%s: it was taken for an answer", c.name)
				}
				return
			}
			s := stopOf(t, b.wait(turn))
			if got := string(s.Outcome); c.turn == got != (c.turn == "completed") || c.turn != "completed" && s.Reason != c.turn {
				t.Errorf("%s: the turn ended as %+v", c.name, s)
			}
			if (next.ID == turn.ID) != (c.turn == "completed") || next.MessageID == turn.MessageID {
				t.Errorf("%s: the answer is %+v", c.name, next)
			}
			given := all[trace.PermissionResponse](b, turn)
			if len(given) != 1 || given[0].ChosenOption != c.answer {
				t.Errorf("%s: on record are %+v", c.name, given)
			} else if c.turn == "unanswered" && (given[0].By != "ada" || !given[0].Interrupt) {
				t.Errorf("%s: who refused is not on record: %+v", c.name, given[0])
			}
			if next.ID != turn.ID && c.name != "a regeneration" {
				if s := stopOf(t, b.wait(next)); s.Outcome != trace.OutcomeCompleted {
					t.Errorf("%s: the new turn ended as %+v", c.name, s)
				}
			}
		})
	}
}

//evidence:for promise-waits
func TestWhatNobodyAnswersExpires(t *testing.T) {
	for word, want := range map[string]int{"approve": 1, "both": 2, "ask": 1, "several": 3} {
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t, func(o *session.Options) { o.AnswerLimit = time.Hour })
			defer b.close()
			turn, id := b.pause("u1", word)
			time.Sleep(time.Hour)
			if s := stopOf(t, b.wait(turn)); s.Outcome != trace.OutcomeCompleted {
				t.Errorf("%s: the turn ended as %+v", word, s)
			}
			expired := 0
			for _, r := range all[trace.PermissionResponse](b, turn) {
				if r.Outcome == trace.Expired && r.By == "" {
					expired++
				}
			}
			for _, r := range all[trace.Answer](b, turn) {
				if r.Outcome == trace.Expired && r.By == "" {
					expired++
				}
			}
			if expired != want {
				t.Errorf("%s: %d expired, want %d", word, expired, want)
			}
			var late *session.AnsweredError
			_, err := b.Answer(t.Context(), "s", id, session.Sender{By: "ada"}, []string{"x"})
			if word == "approve" || word == "both" {
				_, err = b.Permit(t.Context(), "s", id, session.Sender{By: "ada"}, session.Choice{Option: "allow"})
			}
			if !errors.As(err, &late) || late.Outcome != trace.Expired {
				t.Errorf("%s: a late answer gets %v", word, err)
			}
		})
	}
}

// A request waits for the whole of its limit, with nobody connected, and is answered then: that of a
// call, of a sub-agent's call, and of a plan.
//
//evidence:for promise-waits
func TestARequestWaitsForADay(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"bash", "a sub-agent's bash", "ExitPlanMode"} {
		synctest.Test(t, func(t *testing.T) {
			var got []trace.PermissionResponse
			b := newBench(t, with(t, scripted{prompt: func(ctx context.Context, host agent.Host, _ agent.Prompt, b *trace.Builder) error {
				by := b
				if name, below := strings.CutPrefix(tool, "a sub-agent's "); below {
					tool, by = name, b.Sub("sub", "worker")
				}
				call := trace.ToolCall{ToolCallID: "c", RawName: tool, Name: tool, ToolKind: toolkind.Claude().Kind(tool), Input: []byte(`{"command":"make","plan":"do it"}`)}
				id, _, _ := by.PermissionRequest(trace.PermissionRequest{RequestID: "r", ToolCallID: "c", Options: []trace.PermissionOption{
					{ID: "yes", Name: "Allow", OptionKind: trace.AllowOnce}, {ID: "no", Name: "Deny", OptionKind: trace.RejectOnce},
				}}, call)
				answer, err := host.Permit(ctx, id)
				got = append(got, answer)
				return err
			}}))
			defer b.close()
			turn, id := b.pause("u1", tool)
			time.Sleep(24*time.Hour - time.Minute)
			if b.state() != session.Paused {
				t.Fatalf("%s: after a day the session is %v", tool, b.state())
			}
			b.allow(id, "ada")
			if s := stopOf(t, b.wait(turn)); s.Outcome != trace.OutcomeCompleted || len(got) != 1 || !got[0].Allowed() || got[0].By != "ada" {
				t.Errorf("%s: the turn ended as %+v, and the agent got %+v", tool, s, got)
			}
		})
	}
}

func TestHeldReadersAreLetGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, func(o *session.Options) { o.Approval, o.HoldLimit = session.Hold, time.Minute })
		defer b.close()
		pauses := func(turn session.Turn) string { return fmt.Sprint(all[trace.Pause](b, turn)) }
		turn, id := b.pause("u1", "approve")
		time.Sleep(time.Minute)
		if got, want := pauses(turn), fmt.Sprint([]trace.Pause{{Requests: []string{id}, Held: true}, {Requests: []string{id}}}); got != want {
			t.Errorf("pauses %s, want %s", got, want)
		}
		b.allow(id, "ada")
		b.wait(turn)
		quick, id := b.pause("u2", "approve")
		b.allow(id, "ada")
		b.wait(quick)
		time.Sleep(time.Hour)
		if got, want := pauses(quick), fmt.Sprint([]trace.Pause{{Requests: []string{id}, Held: true}}); got != want {
			t.Errorf("answered in time: pauses %s, want %s", got, want)
		}
	})
}

// A turn may wait long for a person; a shutdown does not wait for it.
func TestShutdownDoesNotWaitForAPausedTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		turn, id := b.pause("u1", "approve")
		begun := time.Now()
		ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
		defer cancel()
		if err := b.Close(ctx); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(begun); took > 0 {
			t.Errorf("it took %s", took)
		}
		given := all[trace.PermissionResponse](b, turn)
		if len(given) != 1 || given[0].RequestID != id || given[0].Outcome != trace.Canceled {
			t.Errorf("on record are %+v", given)
		}
		if s := stopOf(t, b.wait(turn)); s.Reason != "shutdown" {
			t.Errorf("it ended as %+v", s)
		}
		if err := b.log.Close(); err != nil {
			t.Error(err)
		}
	})
}

// Prompts of other people that were queued before the turn paused wait for the answer, whichever
// way it comes.
func TestAQueueBehindAPausedTurn(t *testing.T) {
	for name, answer := range map[string]func(b *bench, id string){
		"from the side": func(b *bench, id string) { b.allow(id, "bob") },
		"typed": func(b *bench, _ string) {
			if _, err := b.Prompt(b.t.Context(), "s", session.Prompt{Message: text("u4", "yes"), By: "ada", MayPermit: true}); err != nil {
				b.t.Error(err)
			}
		},
		"talked past": func(b *bench, _ string) {
			if _, err := b.Prompt(b.t.Context(), "s", session.Prompt{Message: text("u4", "hello"), By: "ada"}); err != nil {
				b.t.Error(err)
			}
		},
		"stopped": func(b *bench, _ string) {
			if _, _, err := b.StopTurn(b.t.Context(), "s", "", "bob"); err != nil {
				b.t.Error(err)
			}
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t, nil)
			defer b.close()
			turn := b.say("u1", "approve")
			others, err := b.Prompt(t.Context(), "s", session.Prompt{Message: text("u2", "hello"), By: "eve"})
			if err != nil {
				t.Fatal(err)
			}
			theirs, err := b.Prompt(t.Context(), "s", session.Prompt{Message: text("u3", "think"), By: "bob"})
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Hour)
			if b.state() != session.Paused {
				t.Fatalf("%s: the session is %s", name, b.state())
			}
			answer(b, all[trace.Pause](b, turn)[0].Requests[0])
			for _, next := range []session.Turn{others, theirs} {
				if s := stopOf(t, b.wait(next)); s.Outcome != trace.OutcomeCompleted {
					t.Errorf("%s: a queued turn ended as %+v", name, s)
				}
			}
		})
	}
}

// A request can answer only the questions of the message that the request names, and only
// a person who may answer can do so.
//
//evidence:for promise-one-answer
func TestContinuations(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		defer b.close()
		turn, first := b.pause("u1", "both")
		asked := all[trace.PermissionRequest](b, turn)
		second := asked[1].RequestID
		if _, err := b.Ensure(t.Context(), session.Spec{ID: "s2"}); err != nil {
			t.Fatal(err)
		}
		yes := true
		say := func(sessionID, message string, may bool, ids ...string) (session.Rest, error) {
			c := session.Continuation{Message: message, Sender: session.Sender{By: "eve"}, MayPermit: may}
			for _, id := range ids {
				c.Replies = append(c.Replies, session.Reply{ID: id, Choice: session.Choice{Approved: &yes}})
			}
			return b.Continue(t.Context(), sessionID, c)
		}
		for _, c := range []struct {
			name             string
			session, message string
			may              bool
			ids              []string
			err              error
		}{
			{"nothing", "s", turn.MessageID, true, nil, session.ErrNotWaiting},
			{"what was never asked", "s", turn.MessageID, true, []string{"forged"}, session.ErrNotWaiting},
			{"what is asked and not shown yet", "s", turn.MessageID, true, []string{second}, session.ErrNotWaiting},
			{"another message's", "s", "msg_forged", true, []string{first}, session.ErrNotWaiting},
			{"the user's message", "s", "u1", true, []string{first}, session.ErrNotWaiting},
			{"another session's", "s2", turn.MessageID, true, []string{first}, session.ErrNotWaiting},
			{"an unknown session's", "s3", turn.MessageID, true, []string{first}, session.ErrUnknownSession},
			{"without the role", "s", turn.MessageID, false, []string{first}, session.ErrMayNotPermit},
		} {
			if _, err := say(c.session, c.message, c.may, c.ids...); !errors.Is(err, c.err) {
				t.Errorf("%s: %v, want %v", c.name, err, c.err)
			}
			if given := all[trace.PermissionResponse](b, turn); len(given) > 0 {
				t.Fatalf("%s was taken: %+v", c.name, given)
			}
		}
		rest, err := say("s", turn.MessageID, true, first, "forged")
		if err != nil || rest.Waiting || !rest.Allowed[first] {
			t.Errorf("the answer: %+v %v", rest, err)
		}
		synctest.Wait()
		if given := all[trace.PermissionResponse](b, turn); len(given) != 1 || given[0].RequestID != first || given[0].By != "eve" {
			t.Errorf("what was not shown was answered too: %+v", given)
		}
		if again, err := say("s", turn.MessageID, false, first); err != nil || again.From != rest.From {
			t.Errorf("a stale answer gets %+v %v, want the same rest", again, err)
		}
		if _, err := say("s", turn.MessageID, true, second); err != nil {
			t.Error(err)
		}
		if s := stopOf(t, b.wait(turn)); s.Outcome != trace.OutcomeCompleted {
			t.Errorf("it ended as %+v", s)
		}
		if over, err := say("s", turn.MessageID, true, second); err != nil || over.Running {
			t.Errorf("after the end: %+v %v", over, err)
		}
		b.wait(b.say("u2", "hello"))
		if _, err := say("s", turn.MessageID, true, first); err != nil {
			t.Errorf("an older message: %v", err)
		}
	})
}

// A message sent right after the answer finds a turn that goes on, not one that
// waits: it does not end it.
func TestAMessageRightAfterTheAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		defer b.close()
		turn, id := b.pause("u1", "approve")
		b.allow(id, "bob")
		next := b.say("u2", "hello")
		if s := stopOf(t, b.wait(turn)); s.Outcome != trace.OutcomeCompleted {
			t.Errorf("the turn ended as %+v", s)
		}
		if s := stopOf(t, b.wait(next)); s.Outcome != trace.OutcomeCompleted {
			t.Errorf("the next ended as %+v", s)
		}
	})
}

// A request that answers a shown and a hidden request answers only the shown one.
func TestAnAnswerDoesNotRunAheadOfWhatIsShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		defer b.close()
		turn, _ := b.pause("u1", "both")
		yes := true
		c := session.Continuation{Message: turn.MessageID, Sender: session.Sender{By: "eve"}, MayPermit: true}
		for _, r := range all[trace.PermissionRequest](b, turn) {
			c.Replies = append(c.Replies, session.Reply{ID: r.RequestID, Choice: session.Choice{Approved: &yes}})
		}
		// A client cannot claim that it has answered all, and get an empty response.
		if _, err := b.Continue(t.Context(), "s", c); !errors.Is(err, session.ErrNotWaiting) {
			t.Errorf("error %v", err)
		}
		synctest.Wait()
		if given := all[trace.PermissionResponse](b, turn); len(given) != 1 || b.state() != session.Paused {
			t.Errorf("on record are %+v", given)
		}
	})
}

// A client that answers by a request of its own and resumes at once gets the rest,
// however slow the log is, and not the turn as it waited.
func TestAResumeRightAfterTheAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bad := newBadLog()
		b := benchOn(t, eventlog.New(bad), nil)
		defer b.close()
		for word, answer := range map[string]func(id string){
			"approve": func(id string) { b.allow(id, "ada") },
			"ask": func(id string) {
				if _, err := b.Answer(t.Context(), "s", id, session.Sender{By: "ada"}, []string{"blue"}); err != nil {
					t.Error(err)
				}
			},
		} {
			turn, id := b.pause(word, word)
			bad.on(func(string, []trace.Event) error {
				time.Sleep(time.Second)
				return nil
			})
			answer(id)
			got, ok, err := b.Resumable(t.Context(), "s", "")
			if err != nil || !ok || got.ID != turn.ID || got.SkipPausesThrough == 0 {
				t.Errorf("%s: %+v %v %v", word, got, ok, err)
			}
			bad.on(nil)
			b.wait(turn)
		}
	})
}

// A page that was closed while it was asked does not hold an agent's place for ever
// when somebody else needs it.
//
//evidence:for limit-ask-age
func TestAnAgentThatWaitsForNobodyMakesRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, func(o *session.Options) {
			a := o.Agents["demo"]
			a.InProcess = false
			o.Agents["demo"], o.MaxAgents, o.AgentIdle = a, 1, 5*time.Minute
		})
		defer b.close()
		if _, err := b.Ensure(t.Context(), session.Spec{ID: "other"}); err != nil {
			t.Fatal(err)
		}
		asked := b.say("u1", "approve")
		time.Sleep(time.Minute)
		began := time.Now()
		turn, err := b.Prompt(t.Context(), "other", promptOf("u2", "bob"))
		if err != nil {
			t.Fatal(err)
		}
		for r, err := range b.Follow(t.Context(), "other", turn.ID, turn.After) {
			if err != nil {
				t.Fatal(err)
			}
			if s, over := r.Payload.(trace.Stop); over && s.Outcome != trace.OutcomeCompleted {
				t.Errorf("%+v", s)
			}
		}
		if took := time.Since(began); took < 3*time.Minute || took > 6*time.Minute {
			t.Errorf("the other session waited %s for a place", took)
		}
		expired := false
		for _, r := range b.wait(asked) {
			p, is := r.Payload.(trace.PermissionResponse)
			expired = expired || is && p.Outcome == trace.Expired
		}
		if !expired {
			t.Error("what was asked did not expire")
		}
	})
}

// A second request is shown once the first has its answer. The same holds for an agent
// that goes on writing a call only after the answer.
func TestAnAskBehindAnotherIsShownWhileACallIsWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, with(t, scripted{prompt: func(ctx context.Context, host agent.Host, _ agent.Prompt, tb *trace.Builder) error {
			one, _, _ := request(tb, "1")
			two, _, _ := request(tb, "2")
			tb.ToolCallStart(trace.ToolCallStart{ToolCallID: "c3", RawName: "shell"})
			tb.ToolCallDelta("c3", `{"command":`)
			if _, err := host.Permit(ctx, one); err != nil {
				return err
			}
			if _, err := host.Permit(ctx, two); err != nil { // it writes the rest only then
				return err
			}
			tb.ToolCallDelta("c3", `"ls"}`)
			return nil
		}}))
		defer b.close()
		turn, first := b.pause("u1", "x")
		b.allow(first, "ada")
		time.Sleep(12 * time.Hour)
		if pauses := all[trace.Pause](b, turn); len(pauses) != 2 || b.state() != session.Paused {
			t.Errorf("12 hours after the first answer the session is %s, pauses %+v, asked %+v", b.state(), pauses, all[trace.PermissionRequest](b, turn))
		}
	})
}

// One request answers two permissions, and says beside them that both are denied and
// that the turn is to end: either that counts, or it is refused.
func TestWhatIsSaidBesideSeveralAnswersIsNotDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, with(t, scripted{prompt: func(ctx context.Context, host agent.Host, _ agent.Prompt, tb *trace.Builder) error {
			q := tb.Question(trace.Question{QuestionID: "q", Text: "?"})
			one, _, _ := request(tb, "1")
			two, _, _ := request(tb, "2")
			_, _ = host.Ask(ctx, q)
			_, _ = host.Permit(ctx, one)
			_, err := host.Permit(ctx, two)
			return err
		}}))
		defer b.close()
		turn, q := b.pause("u1", "x")
		if _, err := b.Answer(t.Context(), "s", q, session.Sender{By: "ada"}, []string{"blue"}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		yes := true
		c := session.Continuation{Message: turn.MessageID, Sender: session.Sender{By: "ada"}, MayPermit: true, Extra: session.Choice{Option: "no", Interrupt: true}}
		for _, r := range all[trace.PermissionRequest](b, turn) {
			c.Replies = append(c.Replies, session.Reply{ID: r.RequestID, Choice: session.Choice{Approved: &yes}})
		}
		if len(c.Replies) != 2 {
			t.Fatal(c)
		}
		_, err := b.Continue(t.Context(), "s", c)
		if _, choice := errors.AsType[*session.ChoiceError](err); !choice {
			t.Errorf("with one permission this is a contradiction; with two the answer is %v, and on record is %+v", err, all[trace.PermissionResponse](b, turn))
		}
	})
}
