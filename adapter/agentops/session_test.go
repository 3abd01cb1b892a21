package agentops_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"github.com/tributary-dev/tributary/adapter/agentops"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/trace"
)

// withBothServers runs a test in a bubble with each kind of server.
func withBothServers(t *testing.T, test func(t *testing.T, e serverKind)) {
	t.Helper()
	forEachKind(t, func(t *testing.T, e serverKind) { synctest.Test(t, func(t *testing.T) { test(t, e) }) })
}

func TestF01_OneSocketForEachTurn(t *testing.T) {
	withBothServers(t, func(t *testing.T, e serverKind) {
		st := newStage(t, e, perTurn)
		for i := range 2 {
			if got := st.prompt("hello").completes(); got != "You said: hello" {
				t.Errorf("it said %q", got)
			}
			synctest.Wait()
			if opened, open := st.server.sockets(); opened != i+1 || open != 0 {
				t.Errorf("after turn %d %d sockets were opened and %d are open", i+1, opened, open)
			}
		}
	})
}

// Each principal prompts in its own name; and however many turns there are, the
// session is read once.
func TestF12_OneSocketForASessionAndAPrincipal(t *testing.T) {
	withBothServers(t, func(t *testing.T, e serverKind) {
		st := newStage(t, e)
		for _, who := range []string{"ada", "bob", "ada", "bob"} {
			if got := st.promptBy("hello from "+who, sender{who: who}).completes(); got != "You said: hello from "+who {
				t.Errorf("%s got %q", who, got)
			}
		}
		var authors []string
		for _, m := range st.server.storedMessages() {
			if m["role"] == "user" {
				authors = append(authors, m["authorId"].(string))
			}
		}
		if !slices.Equal(authors, []string{"u_ada", "u_bob", "u_ada", "u_bob"}) {
			t.Errorf("the prompts are by %q", authors)
		}
		if opened, _ := st.server.sockets(); opened != 1 {
			t.Errorf("%d sockets were opened", opened)
		}
		if n := len(st.host.Begun()); n != 0 {
			t.Errorf("%d turns were taken for another user's", n)
		}
	})
}

// A stop reaches the session before the socket closes, and the turn there is over.
func TestF09_AbortThenClose(t *testing.T) {
	withBothServers(t, func(t *testing.T, e serverKind) {
		st, p := newStageWithTurn(t, e, perTurn)
		p.cancel()
		stop, events := p.end()
		if stop.Outcome != trace.OutcomeCanceled || said(events) != "well" {
			t.Errorf("%+v %q", stop, said(events))
		}
		synctest.Wait()
		var order []string
		for _, f := range st.server.received() {
			if f["type"] == "abort" || f["type"] == "(closed)" {
				order = append(order, f["type"].(string))
			}
		}
		if !slices.Equal(order, []string{"abort", "(closed)"}) {
			t.Errorf("the server saw %q", order)
		}
	})
}

func TestH18_AnAbortReallyCancelsTheTurn(t *testing.T) {
	withBothServers(t, func(t *testing.T, e serverKind) {
		st, p := newStageWithTurn(t, e)
		began := time.Now()
		p.cancel()
		if stop, _ := p.end(); stop.Outcome != trace.OutcomeCanceled {
			t.Errorf("%+v", stop)
		}
		if took := time.Since(began); took > time.Second {
			t.Errorf("it took %s", took)
		}
		synctest.Wait()
		if st.server.runningTurn() != nil || len(st.server.frames("abort")) != 1 {
			t.Errorf("the turn runs on; %d aborts", len(st.server.frames("abort")))
		}
		if got := st.prompt("hello").completes(); got != "You said: hello" {
			t.Errorf("the next turn said %q", got)
		}
	})
}

// A runner that gets a prompt while it stops reports the end of the stopped turn, and the session
// agent takes that end for the end of the prompt. Then no question of the prompt is shown. So the
// adapter sends the prompt after the second end.
func TestE24_APromptAfterAStopWaitsForItsSecondEnd(t *testing.T) {
	withBothServers(t, func(t *testing.T, e serverKind) {
		for _, sockets := range []func(*agentops.Runtime){func(*agentops.Runtime) {}, perTurn} {
			st := newStage(t, e, sockets)
			st.server.script = func(tn *turn) {
				if tn.p.content == "question" {
					tn.pause(2 * secondEndDelay)
				}
				usual(tn)
			}
			st.host.OnAsk = func(context.Context, trace.Question) trace.Answer {
				return trace.Answer{Outcome: trace.Selected, Values: []string{"red"}, By: "ada"}
			}
			p := st.prompt("slow")
			p.waitForText("well")
			p.cancel()
			p.end()
			if got := st.prompt("question").completes(); !strings.HasSuffix(got, "You chose red.") {
				t.Errorf("it said %q", got)
			}
		}
	})
}

// A prompt that is stopped while it waits for the second end is not sent.
func TestE24_APromptThatIsStoppedWhileItWaitsIsNotSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st, p := newStageWithTurn(t, agentOpsServer)
		p.cancel()
		p.end()
		next := st.prompt("hello")
		time.Sleep(secondEndDelay / 2)
		next.cancel()
		if stop, _ := next.end(); stop.Outcome != trace.OutcomeCanceled {
			t.Errorf("%+v", stop)
		}
		time.Sleep(time.Minute)
		for _, f := range st.server.received() {
			if f["content"] == "hello" {
				t.Error("it was sent")
			}
		}
	})
}

// A client that disconnects stops the turn in the same way.
func TestG05_AClientThatDisconnectsStopsTheTurn(t *testing.T) {
	withBothServers(t, func(t *testing.T, e serverKind) {
		st, p := newStageWithTurn(t, e)
		if err := p.Finish(trace.Stop{Reason: "disconnected", Outcome: trace.OutcomeCanceled}); err != nil {
			t.Fatal(err)
		}
		p.cancel()
		<-p.done
		synctest.Wait()
		if p.err != nil || st.server.runningTurn() != nil || len(st.server.frames("abort")) != 1 {
			t.Errorf("%v; the turn runs on, or %d aborts", p.err, len(st.server.frames("abort")))
		}
	})
}

// In strict mode the adapter tries nothing twice.
func TestF10_NothingIsTriedAgainInStrictMode(t *testing.T) {
	withBothServers(t, func(t *testing.T, e serverKind) {
		st, p := newStageWithTurn(t, e, strict)
		st.server.drop(0)
		stop, events := p.end()
		if stop.Outcome != trace.OutcomeFailed || stop.Error != "Stream interrupted" || said(events) != "well" {
			t.Errorf("%+v %q", stop, said(events))
		}
		time.Sleep(time.Hour)
		if opened, _ := st.server.sockets(); opened != 1 {
			t.Errorf("%d sockets were opened", opened)
		}
		st.server.stopTurn()
		synctest.Wait()
		if got := st.prompt("hello").completes(); got != "You said: hello" {
			t.Errorf("the next prompt is the client's to send, and got %q", got)
		}
	})
}

// The adapter tries a connection once. If the connection fails, the stop has the RFC's words, and
// an error beside the stop names the reason.
func TestG01_ConnectionFailed(t *testing.T) {
	silent := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	status := func(code int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(code)
			_, _ = w.Write([]byte(body))
		}
	}
	upgraded := func(frame string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			conn, err := websocket.Accept(w, r, nil)
			if err != nil {
				return
			}
			for range 20 {
				if frame == "" || conn.Write(r.Context(), websocket.MessageText, []byte(frame)) != nil {
					break
				}
			}
			_, _, _ = conn.Read(r.Context())
			_ = conn.CloseNow()
		}
	}
	for _, c := range []struct {
		name, why string
		handler   http.HandlerFunc
		change    func(*agentops.Runtime)
	}{
		{"refused", "cannot be reached: connection refused", nil, func(r *agentops.Runtime) { r.Dial = newClosedPipes().dial }},
		{"slow loris", "no connection came about within 30s", silent, nil},
		{"no token", "does not accept the token (401)", status(401, `{"error":"Missing or invalid authentication","code":"UNAUTHORIZED"}`), nil},
		{"no session", "no such session", status(404, `{"error":"Session with id 'x' not found","code":"NOT_FOUND"}`), nil},
		{"never started", "refused (503): Runner not started", status(503, "Runner not started"), nil},
		{"no socket", "refused (200)", status(200, "<html>"), nil},
		{"of February", "is older than 12 March 2026", upgraded(`{"type":"init","session":{"id":"s","status":"running","messages":[]},"data":{"auditLog":[]}}`), nil},
		{"opened and silent", "opened the connection and then said nothing", upgraded(""), nil},
		{"opened and talks of something else", "did not say how the session stands", upgraded(`{"type":"pong"}`), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				st := newStage(t, agentOpsServer, func(r *agentops.Runtime) {
					if c.change != nil {
						c.change(r)
					}
				})
				if c.handler != nil {
					st.server.wrap = func(http.Handler) http.Handler { return c.handler }
				}
				stop, events := st.prompt("hello").end()
				if stop.Outcome != trace.OutcomeFailed || stop.Error != "Connection failed" {
					t.Errorf("%+v", stop)
				}
				errs := agenttest.Each[trace.Error](events)
				if len(errs) != 1 || !strings.Contains(errs[0].Message, c.why) {
					t.Errorf("%+v, want %q", errs, c.why)
				}
				synctest.Wait()
				if n := len(st.server.httpCalls()); c.handler != nil && n != 1 {
					t.Errorf("it was tried %d times", n)
				}
				if st.openFailures.Load() != 1 {
					t.Errorf("%d failures were counted", st.openFailures.Load())
				}
			})
		})
	}
}

// A turn that loses its connection for good ends with the RFC's words and keeps its text. An error
// beside the stop names the reason.
func TestG02_StreamInterrupted(t *testing.T) {
	for code, why := range map[websocket.StatusCode]string{
		websocket.StatusNormalClosure: "(1000)", websocket.StatusGoingAway: "(1001)", websocket.StatusInternalError: "(1011)",
		websocket.StatusServiceRestart: "(1012)", websocket.StatusPolicyViolation: "(1008)", 4401: "(4401)", 0: "broke",
	} {
		t.Run(fmt.Sprint(int(code)), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				st, p := newStageWithTurn(t, agentOpsServer, strict)
				st.server.drop(code)
				stop, events := p.end()
				if stop.Outcome != trace.OutcomeFailed || stop.Error != "Stream interrupted" || said(events) != "well" {
					t.Errorf("%+v %q", stop, said(events))
				}
				if errs := agenttest.Each[trace.Error](events); len(errs) != 1 || !strings.Contains(errs[0].Message, why) {
					t.Errorf("%+v, want %q", errs, why)
				}
			})
		})
	}
}

// The turn ends after a bounded time if no new connection can be opened.
func TestG02_ATurnIsInterruptedIfNoNewConnectionOpens(t *testing.T) {
	withBothServers(t, func(t *testing.T, e serverKind) {
		st, p := newStageWithTurn(t, e)
		st.server.wrap = func(http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) })
		}
		began := time.Now()
		st.server.drop(websocket.StatusGoingAway)
		stop, _ := p.end()
		if stop.Error != "Stream interrupted" {
			t.Errorf("%+v", stop)
		}
		if took := time.Since(began); took < time.Minute || took > 5*time.Minute || st.openFailures.Load() != 10 {
			t.Errorf("after %s and %d tries", took, st.openFailures.Load())
		}
	})
}

// The turn fails with the session's own error text.
func TestG03_TheSessionsErrorIsKeptAsItWas(t *testing.T) {
	withBothServers(t, func(t *testing.T, e serverKind) {
		st := newStage(t, e)
		stop, events := st.prompt("fail").end()
		if stop.Outcome != trace.OutcomeFailed || stop.Error != "the model is overloaded" || said(events) != "Hm." {
			t.Errorf("%+v %q", stop, said(events))
		}
	})
}

func TestG04_ATurnThatEndsInAnErrorFails(t *testing.T) {
	withBothServers(t, func(t *testing.T, e serverKind) {
		st := newStage(t, e)
		for text, want := range map[string]string{"out of tokens": "out of tokens", "": "Turn failed"} {
			st.server.script = func(tn *turn) {
				tn.say("Hm.")
				tn.parts = append(tn.parts, object{"type": "text", "text": "Hm."})
				tn.text = ""
				if text == "" {
					tn.finish("error", "")
					return
				}
				tn.finish("error", text)
			}
			stop, _ := st.prompt("x").end()
			if stop.Outcome != trace.OutcomeFailed || stop.Error != want {
				t.Errorf("%+v, want %q", stop, want)
			}
		}
	})
}

// H21: the error arrives with its text, and the next turn is a turn like any other.
func TestH21_AfterAnErrorTheSessionGoesOn(t *testing.T) {
	withBothServers(t, func(t *testing.T, e serverKind) {
		st := newStage(t, e)
		if stop, _ := st.prompt("fail").end(); stop.Error != "the model is overloaded" {
			t.Errorf("%+v", stop)
		}
		if got := st.prompt("hello").completes(); got != "You said: hello" {
			t.Errorf("%q", got)
		}
	})
}

func TestH22_ThousandsOfDeltas(t *testing.T) {
	withBothServers(t, func(t *testing.T, e serverKind) {
		st := newStage(t, e)
		var want strings.Builder
		st.server.script = func(tn *turn) {
			for i := range 3000 {
				piece := fmt.Sprintf("%d 🕛 ", i)
				want.WriteString(piece)
				tn.say(piece)
			}
			tn.finish("end_turn", "")
		}
		stop, events := st.prompt("x").end()
		if stop.Outcome != trace.OutcomeCompleted || streamed(events) != want.String() || said(events) != want.String() {
			t.Errorf("%+v: %d bytes streamed, %d said, want %d", stop, len(streamed(events)), len(said(events)), want.Len())
		}
	})
}

// Prompts one after the other, as fast as they can be sent, do not mix.
func TestE07_RapidPromptsDoNotMix(t *testing.T) {
	withBothServers(t, func(t *testing.T, e serverKind) {
		st := newStage(t, e)
		for i := range 25 {
			text := fmt.Sprintf("tool %d", i)
			if got := st.prompt(text).completes(); got != "Let me look.|It says hello." {
				t.Fatalf("%d: %q", i, got)
			}
		}
		if n := len(st.host.Begun()); n != 0 {
			t.Errorf("%d turns of another user", n)
		}
	})
}

// bobPromptsIn sends a prompt as Bob, who uses the server's own page.
func (s *server) bobPromptsIn(text, channel string) {
	kind, id, _ := strings.Cut(channel, ":")
	p := &prompt{content: text, chType: kind, chID: id, by: user{"u_bob", "Bob", "collaborator"}}
	if kind == "thread" {
		p.thread = id
	}
	s.prompt(p)
}

// bobPrompts sends a prompt as Bob to the default channel of prompts.
func (s *server) bobPrompts(text string) {
	s.bobPromptsIn(text, map[serverKind]string{agentOpsServer: "thread:thread-active"}[s.era])
}

// A prompt that comes while a turn of another user runs waits upstream. Each of the two turns gets
// its own text.
func TestE08_APromptWaitsForAnothersTurn(t *testing.T) {
	withBothServers(t, func(t *testing.T, e serverKind) {
		st := newStage(t, e)
		st.prompt("hello").completes()
		st.server.bobPrompts("slow")
		synctest.Wait()
		p := st.prompt("tool")
		if got := p.completes(); got != "Let me look.|It says hello." {
			t.Errorf("the turn of this gateway said %q", got)
		}
		_, events := st.otherTurn()
		if said(events) != "well, at last" || agenttest.Each[trace.Prompt](events)[0].By != "u_bob" {
			t.Errorf("the other turn is %q, prompted by %+v", said(events), agenttest.Each[trace.Prompt](events))
		}
	})
}

// E34: a turn in another channel stays apart from the turn of this gateway, also if both run.
func TestE34_OtherChannelsAreKeptApart(t *testing.T) {
	withBothServers(t, func(t *testing.T, e serverKind) {
		st := newStage(t, e)
		st.server.script = func(tn *turn) {
			tn.say("one ")
			tn.s.broadcast(object{"type": "message", "data": object{"id": "foreign", "role": "assistant", "content": "", "parts": []any{}, "channelType": "slack", "channelId": "C1"}})
			tn.s.broadcast(object{"type": "chunk", "content": "foreign", "messageId": "foreign", "channelType": "slack", "channelId": "C1"})
			tn.say("two")
			tn.s.broadcast(object{"type": "message.updated", "data": object{
				"id": "foreign", "role": "assistant", "content": "foreign", "channelType": "slack", "channelId": "C1",
				"parts": []object{{"type": "text", "text": "foreign"}, {"type": "finish", "reason": "end_turn"}},
			}})
			tn.finish("end_turn", "")
		}
		if got := st.prompt("x").completes(); got != "one two" {
			t.Errorf("the turn of this gateway said %q", got)
		}
		if n := len(st.host.Begun()); n != 1 {
			t.Errorf("%d turns were begun", n)
		}
	})
}

// E38: two equal prompts of two users have a turn each.
func TestE38_EqualPromptsOfTwoUsers(t *testing.T) {
	withBothServers(t, func(t *testing.T, e serverKind) {
		st := newStage(t, e)
		st.prompt("hello").completes()
		synctest.Wait() // before that, Bob's prompt would wait and Ada's would take its place
		n := 0
		st.server.script = func(tn *turn) {
			n++
			tn.pause(time.Second)
			tn.say(fmt.Sprintf("%s's turn", tn.p.by.name))
			tn.finish("end_turn", "")
		}
		st.server.bobPrompts("same")
		if got := st.prompt("same").completes(); got != "Ada's turn" {
			t.Errorf("the turn of this gateway said %q", got)
		}
		if n != 2 {
			t.Fatalf("%d turns ran", n)
		}
		if _, events := st.otherTurn(); said(events) != "Bob's turn" {
			t.Errorf("the other turn said %q", said(events))
		}
	})
}

// E27, E28: no end follows an abort, and chunks that were under way come after the abort.
func TestE28_LateChunksAfterAnAbortAreDropped(t *testing.T) {
	withBothServers(t, func(t *testing.T, e serverKind) {
		st := newStage(t, e)
		st.server.script = func(tn *turn) {
			if tn.p.content != "slow" {
				usual(tn)
				return
			}
			tn.say("well")
			<-tn.ctx.Done()
			tn.sayLate("late")
			time.Sleep(100 * time.Millisecond)
			tn.sayLate("later")
		}
		p := st.prompt("slow")
		p.waitForText("well")
		p.cancel()
		stop, events := p.end()
		if stop.Outcome != trace.OutcomeCanceled || said(events) != "well" {
			t.Errorf("%+v %q", stop, said(events))
		}
		if got := st.prompt("hello").completes(); got != "You said: hello" {
			t.Errorf("the next turn said %q", got)
		}
	})
}

// An abort by another user ends a turn of this gateway, although no end follows.
func TestE27_AnAbortByAnotherUser(t *testing.T) {
	withBothServers(t, func(t *testing.T, e serverKind) {
		st, p := newStageWithTurn(t, e)
		st.server.abort()
		if stop, events := p.end(); stop.Outcome != trace.OutcomeCanceled || said(events) != "well" {
			t.Errorf("%+v %q", stop, said(events))
		}
	})
}

// E29: another model takes over and answers in a second upstream message.
func TestE29_AFailoverIsOneTurnHere(t *testing.T) {
	withBothServers(t, func(t *testing.T, e serverKind) {
		st := newStage(t, e)
		st.server.script = func(tn *turn) {
			tn.say("I beg")
			tn.s.broadcast(object{"type": "model-switched", "messageId": tn.p.id, "fromModel": "a", "toModel": "b", "reason": "overloaded"})
			second := &turn{s: tn.s, p: tn.p, ctx: tn.ctx, cancel: tn.cancel, id: tn.id + "-b"}
			second.say("I begin anew.")
			second.finish("end_turn", "")
		}
		if got := st.prompt("x").completes(); got != "I beg|I begin anew." {
			t.Errorf("%q", got)
		}
		if n := len(st.host.Begun()); n != 0 {
			t.Errorf("%d turns were begun", n)
		}
	})
}

// E30: a prompt of another user takes the only place in the queue.
func TestE30_AWithdrawnPromptIsNotRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newStage(t, agentOpsServer)
		st.prompt("hello").completes()
		synctest.Wait() // before that, Bob's prompt would wait and Ada's would take its place
		st.server.bobPromptsIn("slow", "thread:thread-active")
		p := st.prompt("mine")
		synctest.Wait()
		st.server.bobPromptsIn("theirs", "thread:thread-active")
		if stop, _ := p.end(); stop.Outcome != trace.OutcomeCanceled || stop.Reason != "withdrawn" {
			t.Errorf("%+v", stop)
		}
	})
}

// An abort never stops a turn of another user: a prompt that waits is withdrawn, or aborted when
// it runs.
func TestE08_StoppingAQueuedPromptDoesNotStopAnotherUsersTurn(t *testing.T) {
	withBothServers(t, func(t *testing.T, e serverKind) {
		st, p := newStageWithQueuedPrompt(t, e)
		p.cancel()
		if stop, _ := p.end(); stop.Outcome != trace.OutcomeCanceled {
			t.Errorf("%+v", stop)
		}
		synctest.Wait()
		if n := len(st.server.frames("abort")); n != 0 || st.server.runningTurn() == nil || st.server.runningTurn().p.content != "slow" {
			t.Fatalf("%d aborts reached the turn of another user", n)
		}
		time.Sleep(29 * time.Second)
		if n := len(st.server.frames("abort")); n != 0 {
			t.Fatalf("%d aborts reached the turn of another user", n)
		}
		time.Sleep(10 * time.Second)
		aborts, withdrawals := len(st.server.frames("abort")), len(st.server.frames("queue.withdraw"))
		if aborts != 0 || withdrawals != 1 || st.server.runningTurn() != nil {
			t.Errorf("%d aborts, %d withdrawals, running %v", aborts, withdrawals, st.server.runningTurn() != nil)
		}
		if _, events := st.otherTurn(); said(events) != "well, at last" {
			t.Errorf("the other turn said %q", said(events))
		}
	})
}

// A prompt was stopped while it waited, and the withdrawal came too late. The prompt is aborted
// when the agent works on it.
func TestE08_AStoppedQueuedPromptIsAbortedWhenItRuns(t *testing.T) {
	withBothServers(t, func(t *testing.T, e serverKind) {
		st := newStage(t, e)
		st.prompt("hello").completes()
		synctest.Wait()
		st.server.script = func(tn *turn) {
			tn.pause(time.Second)
			usual(tn)
		}
		st.server.bobPrompts("hello, too")
		synctest.Wait()
		st.server.lag = 3 * time.Second // a withdrawal comes too late
		p := st.prompt("slow")
		synctest.Wait()
		p.cancel()
		p.end()
		time.Sleep(5 * time.Second)
		synctest.Wait()
		if st.server.runningTurn() != nil || len(st.server.frames("abort")) != 1 {
			t.Errorf("the turn runs on, or was stopped %d times", len(st.server.frames("abort")))
		}
	})
}

// A withdrawal goes by the socket, and the next prompt by REST. The prompt is sent after the
// withdrawal is confirmed, so that the withdrawal never removes this prompt.
func TestE08_AWithdrawalDoesNotRemoveTheNextPrompt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		st, p := newStageWithQueuedPrompt(t, agentOpsServer)
		st.server.lag = 200 * time.Millisecond
		p.cancel()
		if stop, _ := p.end(); stop.Outcome != trace.OutcomeCanceled || stop.Reason != "stopped" {
			t.Errorf("%+v", stop)
		}
		st.prompt("tool").completes()
		if n := len(st.server.frames("abort")); n != 0 {
			t.Errorf("%d aborts reached the turn of another user", n)
		}
	})
}

// A prompt that the agent gets before the withdrawal is aborted, also if the withdrawal is
// confirmed too late for the stop to wait.
func TestE08_APromptThatStartsBeforeItsWithdrawalIsAborted(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ runs, lag time.Duration }{{500 * time.Millisecond, time.Second}, {3 * time.Second, 4 * time.Second}} {
		synctest.Test(t, func(t *testing.T) {
			st := newStage(t, agentOpsServer)
			st.prompt("hello").completes()
			st.server.script = func(tn *turn) {
				if tn.p.content == "short" {
					tn.pause(c.runs)
				}
				usual(tn)
			}
			st.server.bobPrompts("short")
			synctest.Wait()
			p := st.prompt("slow")
			synctest.Wait()
			st.server.lag = c.lag
			p.cancel()
			if stop, _ := p.end(); stop.Outcome != trace.OutcomeCanceled || stop.Reason != "stopped" {
				t.Errorf("%v: %+v", c, stop)
			}
			time.Sleep(c.lag)
			since := time.Now()
			st.prompt("tool").completes()
			if took := time.Since(since); took > 10*time.Second {
				t.Errorf("%v: the next one ran %v later", c, took)
			}
		})
	}
}

// E36: the session ends in the middle of a turn.
func TestE36_TheSessionEndsInMidTurn(t *testing.T) {
	withBothServers(t, func(t *testing.T, e serverKind) {
		st, p := newStageWithTurn(t, e)
		st.server.broadcast(object{"type": "status", "data": object{"status": "terminated"}})
		if stop, _ := p.end(); stop.Outcome != trace.OutcomeFailed || !strings.Contains(stop.Error, "terminated") {
			t.Errorf("%+v", stop)
		}
	})
}

// A prompt to a session that has ended is refused, and the refusal says why.
func TestAPromptToAnEndedSessionIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newStage(t, agentOpsServer)
		st.server.status = "terminated"
		if stop, _ := st.prompt("hello").end(); stop.Outcome != trace.OutcomeFailed || stop.Error != "Agent Ops refused (409): Session is terminated" {
			t.Errorf("%+v", stop)
		}
	})
}

// A viewer cannot prompt, although the server's socket would accept the prompt.
func TestB06_AViewersPromptIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newStage(t, agentOpsServer)
		stop, _ := st.promptBy("hello", sender{who: "vic", channel: "thread:t1"}).end()
		if stop.Outcome != trace.OutcomeFailed || !strings.Contains(stop.Error, "(404)") || len(st.server.frames("prompt")) != 0 || len(st.server.storedMessages()) != 0 {
			t.Errorf("%+v", stop)
		}
	})
}

// The adapter passes the channel, the trace and the token of a request on, and offers the
// subprotocol under both of its names.
func TestB11_ChannelTraceAndTokenOfARequestArePassedOn(t *testing.T) {
	withBothServers(t, func(t *testing.T, e serverKind) {
		const traced = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
		st := newStage(t, e)
		st.promptBy("hello", sender{who: "ada", channel: "slack:C1", traceparent: traced}).completes()
		up := st.server.upgradeHeaders()[0]
		if up.Get("Traceparent") != traced || up.Get("Authorization") != "Bearer token-ada" || up.Get("Sec-Websocket-Protocol") != "valet,agent-ops" {
			t.Errorf("the upgrade had %v", up)
		}
		m := st.server.storedMessages()[0]
		if m["channelType"] != "slack" || m["channelId"] != "C1" {
			t.Errorf("the prompt came as %v", m)
		}
		var found object
		for _, f := range st.server.received() {
			if f["content"] == "hello" {
				found = f
			}
		}
		if found["how"] != "rest" || found["traceparent"] != traced {
			t.Errorf("the prompt was sent as %v", found)
		}
	})
}

// A prompt without a channel is sent to a thread. Without one, Agent Ops would lose questions and
// errors.
func TestAPromptWithoutAChannelHasAThread(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newStage(t, agentOpsServer)
		st.prompt("hello").completes()
		st.prompt("hello").completes()
		if m := st.server.storedMessages()[0]; m["threadId"] != "thread-active" {
			t.Errorf("the prompt came as %v", m)
		}
		asked := 0
		for _, c := range st.server.httpCalls() {
			if strings.HasSuffix(c, "/threads/active") {
				asked++
			}
		}
		if asked != 1 || !strings.Contains(st.host.Token(), "thread-active") {
			t.Errorf("the thread was asked for %d times, and the token is %s", asked, st.host.Token())
		}
	})
}

// A server may answer with another subprotocol than the requested one, or with none.
func TestServersThatAnswerInTheirOwnWay(t *testing.T) {
	for _, protocol := range []string{"", "agent-ops", "valet"} {
		synctest.Test(t, func(t *testing.T) {
			st := newStage(t, gatewayServer)
			st.server.protocol = protocol
			if got := st.prompt("hello").completes(); got != "You said: hello" {
				t.Errorf("%q: %q", protocol, got)
			}
			if got := st.prompt("tool").completes(); got != "Let me look.|It says hello." {
				t.Errorf("%q: %q", protocol, got)
			}
		})
	}
}

// The server would drop an unsupported file silently. The adapter reports the file to its sender.
func TestADroppedAttachmentIsReported(t *testing.T) {
	withBothServers(t, func(t *testing.T, e serverKind) {
		st := newStage(t, e)
		p := st.promptBy("hello", sender{who: "ada"},
			trace.InputPart{Type: trace.InputFile, Filename: "a.zip", MediaType: "application/zip", URL: "data:application/zip;base64,AA=="},
			trace.InputPart{Type: trace.InputFile, Filename: "a.png", MediaType: "image/png", URL: "data:image/png;base64,AA=="})
		stop, events := p.end()
		errs := agenttest.Each[trace.Error](events)
		if stop.Outcome != trace.OutcomeCompleted || len(errs) != 1 || !strings.Contains(errs[0].Message, "a.zip was not sent") {
			t.Errorf("%+v %+v", stop, errs)
		}
		files := 0
		for _, f := range st.server.received() {
			if all, ok := f["attachments"].([]any); ok {
				files += len(all)
			}
		}
		if files != 1 {
			t.Errorf("%d files were sent", files)
		}
	})
}

// Without a token the adapter sends no request.
func TestWithoutATokenNoRequestIsSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newStage(t, agentOpsServer)
		p := agent.Prompt{Message: trace.UserMessage{ID: "u", Parts: []trace.InputPart{{Type: trace.InputText, Text: "x"}}}, By: "ada"}
		r := st.host.Turn(p)
		if err := st.session.Prompt(t.Context(), p, r.Builder); err != nil {
			t.Fatal(err)
		}
		stop, _ := r.Result()
		_, events := finish(t, r, stop)
		if errs := agenttest.Each[trace.Error](events); stop.Error != "Connection failed" || len(errs) != 1 || !strings.Contains(errs[0].Message, "needs a token") || len(st.server.httpCalls()) != 0 {
			t.Errorf("%+v %+v %v", stop, errs, st.server.httpCalls())
		}
	})
}

// A runner may report its stop before its agent has stopped. A prompt right after the stop is sent
// a moment later, and gets its whole answer.
func TestE24_APromptAfterAStopWaitsUntilTheAgentHasStopped(t *testing.T) {
	withBothServers(t, func(t *testing.T, e serverKind) {
		st := newStage(t, e)
		for range 3 {
			p := st.prompt("slow")
			synctest.Wait()
			p.cancel()
			if stop, _ := p.end(); stop.Outcome != trace.OutcomeCanceled {
				t.Errorf("%+v", stop)
			}
			if said := st.prompt("hello").completes(); said != "You said: hello" {
				t.Errorf("after the stop it said %q", said)
			}
		}
	})
}

// A stopped prompt that cannot be withdrawn is aborted when it runs. An abort also clears the
// queue, so the next prompt is sent after the abort.
func TestE08_APromptWaitsForAPendingStop(t *testing.T) {
	withBothServers(t, func(t *testing.T, e serverKind) {
		st, p := newStageWithQueuedPrompt(t, e)
		p.cancel()
		if stop, _ := p.end(); stop.Outcome != trace.OutcomeCanceled {
			t.Errorf("%+v", stop)
		}
		if said := st.prompt("hello").completes(); said != "You said: hello" {
			t.Errorf("after the stop it said %q", said)
		}
	})
}
