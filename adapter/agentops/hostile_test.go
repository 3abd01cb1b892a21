package agentops_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/eventlog/memlog"
	"github.com/tributary-dev/tributary/trace"
)

// runningPrompt is the prompt that runs, or "".
func (s *server) runningPrompt() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running == nil {
		return ""
	}
	return s.running.p.content
}

// anyOpenRequest returns the id of an open request, or "".
func (s *server) anyOpenRequest() (id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id = range s.requests {
		break
	}
	return id
}

// The adapter gives up on a server that accepts every connection and closes it at once.
func TestTheAdapterGivesUpOnAServerThatHangsUpAtOnce(t *testing.T) {
	withBothServers(t, func(t *testing.T, e serverKind) {
		st := newStage(t, e)
		st.server.script = func(tn *turn) {
			tn.say("well")
			tn.pause(3 * time.Hour)
		}
		p := st.prompt("x")
		p.waitForText("well")
		go func() {
			for range 10_000 {
				st.server.drop(0)
				time.Sleep(500 * time.Millisecond)
			}
		}()
		stop, events := p.end()
		if stop.Error != "Stream interrupted" || said(events) != "well" {
			t.Errorf("%+v %q", stop, said(events))
		}
		synctest.Wait()
		if n := st.server.opened; n > 12 {
			t.Errorf("%d sockets were opened", n)
		}
		st.server.stopTurn()
		time.Sleep(2 * time.Hour)
	})
}

// Without a turn the adapter is not connected. A turn that began meanwhile belongs to another user,
// and is not the answer to the next prompt.
func TestE34_ATurnThatBeganUnseenIsNotTheNextPrompts(t *testing.T) {
	withBothServers(t, func(t *testing.T, e serverKind) {
		st := newStage(t, e)
		st.prompt("hello").completes()
		st.server.drop(0)
		time.Sleep(time.Minute)
		st.server.bobPrompts("slow")
		synctest.Wait()
		if got := st.prompt("tool").completes(); got != "Let me look.|It says hello." {
			t.Errorf("it said %q", got)
		}
		synctest.Wait()
	})
}

// A stop may come before the server says that the prompt waits. The stop does not reach the turn of
// another user, and the prompt does not run.
func TestE08_AnEarlyStopDoesNotStopAnotherUsersTurn(t *testing.T) {
	for name, c := range map[string]struct {
		first   bool // the other turn began before the connection
		perTurn bool
	}{"seen": {}, "unseen": {first: true}, "per turn": {first: true, perTurn: true}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				st := newStage(t, gatewayServer)
				if c.perTurn {
					st.runtime.PerTurn = true
					st.open("")
				}
				if !c.first {
					st.prompt("hello").completes()
				}
				st.server.bobPromptsIn("slow", "")
				synctest.Wait()
				st.server.lag = 200 * time.Millisecond
				p := st.prompt("slow too")
				time.Sleep(100 * time.Millisecond)
				p.cancel()
				p.end()
				time.Sleep(20 * time.Second)
				synctest.Wait()
				if n := len(st.server.frames("abort")); n != 0 || st.server.runningPrompt() != "slow" {
					t.Fatalf("%d aborts reached the turn of another user", n)
				}
				time.Sleep(20 * time.Second)
				synctest.Wait()
				if n := len(st.server.frames("abort")); !c.perTurn && (n+len(st.server.frames("queue.withdraw")) != 1 || st.server.runningPrompt() != "") {
					t.Errorf("%d aborts; the stopped prompt runs: %v", n, st.server.runningPrompt() != "")
				}
				st.server.stopTurn()
			})
		})
	}
}

// Several prompts are stopped while they wait. None of them runs.
func TestE08_NoStoppedPromptRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newStage(t, gatewayServer)
		st.prompt("hello").completes()
		st.server.bobPromptsIn("slow", "")
		synctest.Wait()
		for _, text := range []string{"slow one", "slow two"} {
			p := st.prompt(text)
			synctest.Wait()
			p.cancel()
			p.end()
		}
		time.Sleep(40 * time.Second)
		synctest.Wait()
		if what := st.server.runningPrompt(); what != "" {
			t.Errorf("%q runs", what)
		}
		st.server.stopTurn()
	})
}

// If the server does not say who the caller is, the prompt is not taken for one of an earlier
// caller, and the adapter asks again at the next prompt.
func TestTheCallersIdentityIsAskedAgain(t *testing.T) {
	withBothServers(t, func(t *testing.T, e serverKind) {
		st := newStage(t, e)
		st.prompt("hello").completes()
		synctest.Wait()
		st.server.wrap = func(h http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if strings.HasSuffix(r.URL.Path, "/auth/me") {
					w.WriteHeader(http.StatusInternalServerError)
					return
				}
				h.ServeHTTP(w, r)
			})
		}
		if got := st.promptBy("hello from bob", sender{who: "bob"}).completes(); got != "You said: hello from bob" {
			t.Errorf("%q", got)
		}
		synctest.Wait()
		st.server.wrap = nil
		if got := st.promptBy("hello again", sender{who: "bob"}).completes(); got != "You said: hello again" {
			t.Errorf("%q", got)
		}
		asked := 0
		synctest.Wait()
		for _, c := range st.server.httpCalls() {
			if c == "GET /api/auth/me" {
				asked++
			}
		}
		if asked != 3 {
			t.Errorf("it was asked %d times", asked)
		}
	})
}

// A missing last frame delays the end by a bounded time, even if other frames come.
func TestE23_OtherFramesDoNotProlongTheWaitForALastFrame(t *testing.T) {
	withBothServers(t, func(t *testing.T, e serverKind) {
		st := newStage(t, e)
		var ended time.Time
		st.server.script = func(tn *turn) {
			tn.say("well")
			tn.tool("prt-1", "bash", "running", object{"command": "ls"}, nil)
			tn.finish("end_turn", "")
			ended = time.Now()
			for range 300 {
				tn.pause(time.Second)
				st.server.broadcast(object{"type": "audit_log", "entry": object{"eventType": "x", "summary": "x"}})
			}
		}
		p := st.prompt("x")
		stop, _ := p.end()
		if took := time.Since(ended); stop.Outcome != trace.OutcomeCompleted || took > 10*time.Second {
			t.Errorf("%+v after %s", stop, took)
		}
		st.server.stopTurn()
	})
}

// E31: a prompt that waits for the session to wake waits for the wake time at most.
func TestE31_APromptThatWaitsForASessionThatNeverWakes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, agentOpsServer)
		g := newGateway(t, s, memlog.New())
		defer g.close()
		g.wait(g.prompt("hello"))
		s.mu.Lock()
		s.running = &turn{s: s, p: &prompt{}, cancel: func() {}} // so the server queues the next prompt
		s.mu.Unlock()
		began := time.Now()
		turn := g.prompt("x")
		synctest.Wait()
		s.broadcast(object{"type": "status", "data": object{"status": "restoring"}})
		s.broadcast(object{"type": "status", "data": object{"promptQueued": true, "queuePosition": 1, "queueReason": "waking"}})
		ended := make(chan trace.Stop)
		go func() {
			stop, _ := g.wait(turn)
			ended <- stop
		}()
		select {
		case stop := <-ended:
			if stop.Outcome != trace.OutcomeFailed {
				t.Errorf("%+v", stop)
			}
		case <-time.After(20 * time.Minute):
			t.Errorf("after %s it still waits", time.Since(began))
			if _, _, err := g.hub.StopTurn(t.Context(), s.id, turn.ID, "ada"); err != nil {
				t.Fatal(err)
			}
			<-ended
		}
		s.mu.Lock()
		s.running, s.queue = nil, nil
		s.mu.Unlock()
	})
}

// A prompt that was withdrawn while the connection was lost has an end.
func TestE30_APromptThatWasWithdrawnDuringALossHasAnEnd(t *testing.T) {
	withBothServers(t, func(t *testing.T, e serverKind) {
		s := newServer(t, e)
		g := newGateway(t, s, memlog.New())
		defer g.close()
		g.wait(g.prompt("hello"))
		s.script = func(tn *turn) {
			if tn.p.by.id == "u_bob" {
				tn.say("long")
				tn.pause(time.Hour)
			}
		}
		s.bobPrompts("long")
		synctest.Wait()
		turn := g.prompt("x")
		synctest.Wait()
		s.whileDisconnected(func() {
			s.mu.Lock()
			s.queue = nil
			s.mu.Unlock()
			s.stopTurn()
			time.Sleep(time.Second)
		})
		ended := make(chan trace.Stop)
		go func() {
			stop, _ := g.wait(turn)
			ended <- stop
		}()
		select {
		case stop := <-ended:
			if stop.Outcome != trace.OutcomeCanceled || stop.Error == "" {
				t.Errorf("%+v", stop)
			}
		case <-time.After(10 * time.Minute):
			t.Error("it still waits")
			if _, _, err := g.hub.StopTurn(t.Context(), s.id, turn.ID, "ada"); err != nil {
				t.Fatal(err)
			}
			<-ended
		}
	})
}

// An answer that is given while the connection is lost reaches the agent later.
func TestH27_AnAnswerDuringALossReachesTheAgent(t *testing.T) {
	for _, what := range []string{"question", "permission"} {
		t.Run(what, func(t *testing.T) {
			withBothServers(t, func(t *testing.T, e serverKind) {
				st := newStage(t, e)
				away := func() {
					go st.server.whileDisconnected(func() { time.Sleep(5 * time.Second) })
					time.Sleep(time.Second)
				}
				st.host.OnAsk = func(context.Context, trace.Question) trace.Answer {
					away()
					return trace.Answer{Outcome: trace.Selected, Values: []string{"red"}, By: "ada"}
				}
				st.host.OnPermit = func(ctx context.Context, r trace.PermissionRequest) trace.PermissionResponse {
					away()
					return allow("ada")(ctx, r)
				}
				p := st.prompt(what)
				go func() {
					time.Sleep(4 * time.Minute)
					st.server.stopTurn()
				}()
				stop, events := p.end()
				if stop.Outcome != trace.OutcomeCompleted || what == "question" && said(events) != "Before I go on:|You chose red." {
					t.Errorf("%+v %q", stop, said(events))
				}
				time.Sleep(5 * time.Minute)
			})
		})
	}
}

// A prompt that the server has taken does not fail because the response is late.
func TestALateResponseFailsNoTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newStage(t, agentOpsServer)
		st.server.wrap = func(h http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method != http.MethodPost {
					h.ServeHTTP(w, r)
					return
				}
				h.ServeHTTP(httptest.NewRecorder(), r)
				select {
				case <-r.Context().Done():
				case <-time.After(45 * time.Second):
				}
				w.WriteHeader(http.StatusOK)
			})
		}
		st.server.script = func(tn *turn) {
			tn.say("well")
			tn.pause(time.Minute)
			tn.say(", at last")
			tn.finish("end_turn", "")
		}
		if got := st.prompt("x").completes(); got != "well, at last" {
			t.Errorf("%q", got)
		}
		if n := len(st.host.Begun()); n != 0 {
			t.Errorf("%d turns of another user", n)
		}
	})
}

// Close does not wait for a server that does not answer. A stop waits for a bounded time.
func TestCloseAndStopDoNotWaitForASilentServer(t *testing.T) {
	hangs := func(http.Handler) http.Handler {
		return http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body) // else the server does not notice that the client has left
			<-r.Context().Done()
		})
	}
	t.Run("close", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			st := newStage(t, agentOpsServer)
			st.server.wrap = hangs
			p := st.prompt("x")
			time.Sleep(time.Second)
			began := time.Now()
			if err := st.session.Close(); err != nil {
				t.Error(err)
			}
			<-p.done
			if took := time.Since(began); took > time.Second {
				t.Errorf("it took %s", took)
			}
			_ = p.Finish(trace.Stop{Outcome: trace.OutcomeCanceled})
		})
	})
	t.Run("stop", func(t *testing.T) {
		withBothServers(t, func(t *testing.T, e serverKind) {
			st, p := newStageWithTurn(t, e)
			st.server.mu.Lock()
			st.server.wrap = hangs
			st.server.mu.Unlock()
			st.server.drop(0)
			time.Sleep(5 * time.Second) // the adapter opens another connection meanwhile
			began := time.Now()
			p.cancel()
			p.end()
			if took := time.Since(began); took > 4*time.Second {
				t.Errorf("it took %s", took)
			}
		})
	})
}

// After a restart, a new question is not taken for an open one because their ids begin alike.
func TestH27_ANewQuestionAfterARestartIsNotTakenForAnOpenOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newStage(t, agentOpsServer, serviceToken(t))
		st.server.script = func(tn *turn) {
			tn.say("well")
			tn.pause(time.Minute)
			tn.ask("que-1", "Which colour?", "red")
			tn.finish("end_turn", "")
		}
		p := st.prompt("x")
		p.waitForText("well")
		p.detach()
		second := agenttest.NewHost()
		second.OnAsk = func(context.Context, trace.Question) trace.Answer {
			return trace.Answer{Outcome: trace.Selected, Values: []string{"red"}, By: "ada"}
		}
		go func() {
			time.Sleep(10 * time.Minute)
			st.server.stopTurn()
		}()
		stop, events := p.reattach(second, "que-10-abcdef")
		asked := agenttest.Each[trace.Question](events)
		if len(asked) != 1 || asked[0].QuestionID != "que-1" || stop.Outcome != trace.OutcomeCompleted {
			t.Errorf("%+v, and the questions are %+v", stop, asked)
		}
		time.Sleep(10 * time.Minute)
	})
}

// I11: each frame of an unknown type counts once, and a known frame that is skipped does not
// count. I08: a connection that breaks does not count as a connection that could not be opened.
func TestI11_I08_UnknownFramesAndFailedConnectionsAreCounted(t *testing.T) {
	withBothServers(t, func(t *testing.T, e serverKind) {
		st := newStage(t, e)
		st.promptBy("hello", sender{who: "bob"}).completes()
		st.prompt("hello").completes() // both users are known now
		st.server.script = func(tn *turn) {
			tn.say("well")
			for i := range 3 {
				st.server.broadcast(object{"type": fmt.Sprintf("brand-new-%d", i%2), "turnId": tn.id})
			}
			st.server.broadcast(object{"type": "stream"})
			st.server.broadcast(object{"type": "review-result", "requestId": "r"})
			st.server.sendRaw([]byte("nonsense"))
			synctest.Wait()
			st.server.drop(0)
			time.Sleep(10 * time.Second)
			tn.finish("end_turn", "")
		}
		st.prompt("x").completes()
		if n := st.unknownFrames.Load(); n != 3 {
			t.Errorf("%d unknown frames were counted, want 3", n)
		}
		if n := st.openFailures.Load(); n != 0 {
			t.Errorf("%d failures were counted", n)
		}
		synctest.Wait()
		st.server.script = nil
		st.server.drop(0)
		synctest.Wait()
		synctest.Wait()
		st.server.wrap = func(http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) })
		}
		st.prompt("y").end()
		if n := st.openFailures.Load(); n != 1 {
			t.Errorf("%d failures were counted, want 1", n)
		}
	})
}

// The adapter sends a token to no other host, neither after a redirection nor for an id that is an
// address.
func TestATokenGoesToNoOtherHost(t *testing.T) {
	withBothServers(t, func(t *testing.T, e serverKind) {
		st := newStage(t, e)
		st.server.wrap = func(http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, "http://elsewhere.test"+r.URL.Path, http.StatusTemporaryRedirect)
			})
		}
		var hosts []string
		dial := st.runtime.Dial
		st.runtime.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
			hosts = append(hosts, address)
			return dial(ctx, network, address)
		}
		st.open("")
		st.prompt("x").end()
		if _, err := st.runtime.Find(t.Context(), "../../elsewhere.test/x?y#z", agent.Caller{Bearer: "token-ada"}); err == nil {
			t.Error("Find follows an id to another address")
		}
		if _, err := st.runtime.Probe(t.Context()); err == nil {
			t.Error("Probe follows a redirection")
		}
		for _, h := range hosts {
			if !strings.HasPrefix(h, "agents.test:") {
				t.Errorf("it called %s", h)
			}
		}
		synctest.Wait()
		for _, c := range st.server.httpCalls() {
			if strings.Contains(c, "..") && !strings.HasPrefix(c, "GET /api/sessions/") {
				t.Errorf("it called %s", c)
			}
		}
	})
}

// The policy's decision about a turn of another user is not sent in the name of the connected
// user.
func TestE34_ThePolicyDoesNotAnswerForAnotherUsersTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newStage(t, agentOpsServer)
		st.host.Judge = func(r trace.PermissionRequest, _ trace.ToolCall) (trace.PermissionResponse, bool) {
			return trace.PermissionResponse{RequestID: r.RequestID, Outcome: trace.Selected, ChosenOption: "approve", OptionKind: trace.AllowOnce, By: "policy"}, true
		}
		st.prompt("hello").completes()
		st.server.bobPromptsIn("permission", "thread:thread-active")
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if n := len(st.server.frames("approve")) + len(st.server.frames("approve-action")); n != 0 || st.server.anyOpenRequest() == "" {
			t.Errorf("%d approvals were sent in the name of an uninvolved user", n)
		}
		st.server.resolve(st.server.anyOpenRequest(), "approve", user{id: "u_ada"})
		time.Sleep(10 * time.Second)
	})
}

// A prompt that waits fails if the session fails.
func TestE36_ASessionThatFailsEndsQueuedPrompts(t *testing.T) {
	withBothServers(t, func(t *testing.T, e serverKind) {
		for _, why := range []string{"", "The sandbox could not be started."} {
			st := newStage(t, e)
			st.prompt("hello").completes()
			st.server.bobPrompts("slow")
			synctest.Wait()
			p := st.prompt("x")
			synctest.Wait()
			st.server.broadcast(object{"type": "status", "data": object{"status": "error"}})
			if why != "" {
				st.server.broadcast(object{"type": "error", "error": why})
			}
			select {
			case <-p.done:
			case <-time.After(20 * time.Second):
				t.Error("it still waits")
				p.cancel()
			}
			if stop, _ := p.end(); stop.Outcome != trace.OutcomeFailed {
				t.Errorf("%+v", stop)
			}
			st.server.stopTurn()
		}
	})
}

// A history of very many empty elements is small in a response and large in memory. The adapter
// does not read it, and the turn fails with the reason.
func TestE32_AHistoryOfVeryManyMessagesIsNotRead(t *testing.T) {
	withBothServers(t, func(t *testing.T, e serverKind) {
		st := newStage(t, e)
		st.server.wrap = func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if !strings.HasSuffix(r.URL.Path, "/messages") {
					next.ServeHTTP(w, r)
					return
				}
				_, _ = w.Write([]byte(`{"messages":[` + strings.Repeat("0,", 1<<20) + `0]}`))
			})
		}
		p := st.prompt("slow")
		p.waitForText("well")
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		st.server.drop(websocket.StatusGoingAway)
		stop, events := p.end()
		runtime.ReadMemStats(&after)
		errs := agenttest.Each[trace.Error](events)
		if stop.Error != "Stream interrupted" || len(errs) != 1 || errs[0].Message != "Agent Ops sent more than 20000 messages of the session at once, and the gateway reads no more." {
			t.Errorf("%+v %+v", stop, errs)
		}
		if grown := after.TotalAlloc - before.TotalAlloc; grown > 32<<20 {
			t.Errorf("%d MB were needed to refuse 2", grown>>20)
		}
		if opened, _ := st.server.sockets(); opened != 2 {
			t.Errorf("%d sockets were opened for the same history", opened)
		}
	})
}
