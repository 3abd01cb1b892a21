package agentops_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"github.com/tributary-dev/tributary/adapter/agentops"
	"github.com/tributary-dev/tributary/trace"
)

// checkStop stops a turn and checks that the turn is over here at once.
func (p *liveTurn) checkStop(said string) {
	t := p.st.t
	t.Helper()
	began := time.Now()
	p.cancel()
	if stop, events := p.end(); stop.Outcome != trace.OutcomeCanceled || streamed(events) != said {
		t.Errorf("%+v %q", stop, streamed(events))
	}
	if took := time.Since(began); took > time.Second {
		t.Errorf("stopping took %s", took)
	}
}

// checkStopped checks that the server's agent has stopped, and that no frame of the stopped turn began
// another turn here.
func (st *stage) checkStopped() {
	st.t.Helper()
	synctest.Wait()
	if st.server.runningTurn() != nil {
		st.t.Error("the turn runs on there")
	}
	if n := len(st.host.Begun()); n != 0 {
		st.t.Errorf("%d turns were begun", n)
	}
}

// A stop while the connection is lost is sent as soon as the connection is back. The next prompt
// waits for the stop, for a bounded time.
func TestF09_AStopDuringALossIsSentWhenTheServerIsBack(t *testing.T) {
	withBothServers(t, func(t *testing.T, e serverKind) {
		for _, atOnce := range []bool{false, true} {
			st, p := newStageWithTurn(t, e)
			st.server.whileDisconnected(func() {
				synctest.Wait()
				p.checkStop("well")
				time.Sleep(5 * time.Second)
			})
			if !atOnce {
				time.Sleep(6 * time.Second)
				st.checkStopped()
			}
			began := time.Now()
			if got := st.prompt("hello").completes(); got != "You said: hello" {
				t.Errorf("the next turn said %q", got)
			}
			if took := time.Since(began); took > 6*time.Second {
				t.Errorf("the next turn took %s", took)
			}
			st.checkStopped()
			if n := len(st.server.frames("abort")); n != 1 {
				t.Errorf("it was stopped %d times", n)
			}
		}
	})
}

// If only the socket is lost, the adapter sends the stop by REST, and the server stops at once.
func TestF09_AStopWhileOnlyTheSocketIsLostIsSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st, p := newStageWithTurn(t, agentOpsServer)
		st.server.setWrap(func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if strings.HasSuffix(r.URL.Path, "/ws") {
					w.WriteHeader(http.StatusServiceUnavailable)
					return
				}
				next.ServeHTTP(w, r)
			})
		})
		st.server.drop(0)
		synctest.Wait()
		p.checkStop("well")
		time.Sleep(secondEndDelay)
		st.checkStopped()
		st.server.setWrap(nil)
		if got := st.prompt("hello").completes(); got != "You said: hello" {
			t.Errorf("the next turn said %q", got)
		}
		st.checkStopped()
	})
}

// A restarted server may say that no turn runs although it has given the agent the prompt again.
func TestE32_AStopIsSentToAServerThatSaysNothingRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, asks := range []bool{false, true} {
			st := newStage(t, agentOpsServer)
			st.host.OnAsk = func(context.Context, trace.Question) trace.Answer {
				t.Error("a turn that is over asks")
				return trace.Answer{Outcome: trace.Selected, Values: []string{"red"}}
			}
			st.server.script = func(tn *turn) {
				tn.say("well")
				tn.pause(10 * time.Second)
				if asks {
					tn.ask("q-"+tn.id, "Which?", "red", "green")
				}
				tn.pause(time.Minute)
				tn.say(", at last")
			}
			p := st.prompt("slow")
			p.waitForText("well")
			st.server.whileDisconnected(func() {
				synctest.Wait()
				p.checkStop("well")
				time.Sleep(5 * time.Second)
				locked(st.server, func() bool { st.server.saysNotBusy = true; return true })
			})
			time.Sleep(4 * time.Second)
			st.checkStopped()
			locked(st.server, func() bool { st.server.saysNotBusy, st.server.script = false, nil; return true })
			if got := st.prompt("hello").completes(); got != "You said: hello" {
				t.Errorf("the next turn said %q", got)
			}
			st.checkStopped()
		}
	})
}

// A session agent without a runner forgets a stop, and gives the next runner the stopped prompt. A
// stop that reaches this runner before it works on the prompt counts as the end of that prompt.
func TestE32_AStopWaitsForARunnerThatIsAtWork(t *testing.T) {
	withBothServers(t, func(t *testing.T, e serverKind) {
		for _, silent := range []bool{false, true} { // it may be at work and say nothing
			st, p := newStageWithTurn(t, e)
			st.server.setRunner(false)
			p.checkStop("well")
			time.Sleep(3 * time.Second)
			next := st.prompt("hello")
			time.Sleep(time.Second)
			st.server.setRunner(true)
			if n := len(st.server.frames("abort")); n != 0 {
				t.Errorf("%d stops were sent while no runner worked on it", n)
			}
			if !silent {
				st.server.runningTurn().status("thinking", "")
			}
			began := time.Now()
			if got := next.completes(); got != "You said: hello" {
				t.Errorf("the next turn said %q", got)
			}
			if took := time.Since(began); took > 4*time.Second || silent != (took > 2*time.Second) {
				t.Errorf("it took %s", took)
			}
			st.checkStopped()
		}
	})
}

// The server says "not busy" of a prompt that it gave to the agent again, and a stop by REST does
// nothing then. So a principal without the main connection also stops the turn through a socket.
func TestE32_AStopThatWaitedForARunnerGoesByASocket(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newStage(t, agentOpsServer)
		st.prompt("hello").completes()
		p := st.promptBy("slow", sender{who: "bob"})
		p.waitForText("well")
		st.server.setRunner(false)
		p.checkStop("well")
		st.server.setRunner(true)
		st.server.runningTurn().status("thinking", "")
		time.Sleep(time.Second)
		st.checkStopped()
		if aborts := st.server.frames("abort"); len(aborts) != 1 || aborts[0]["how"] != "socket" || aborts[0]["who"] != "u_bob" {
			t.Errorf("%v", aborts)
		}
	})
}

// The next prompt waits for a missing runner only for a bounded time. When a runner comes, the
// stopped turn is aborted as soon as the runner works on it.
func TestE32_APromptWaitsForAStopForABoundedTime(t *testing.T) {
	withBothServers(t, func(t *testing.T, e serverKind) {
		st := newStage(t, e)
		st.server.script = func(tn *turn) {
			if tn.p.content != "slow" {
				usual(tn)
				return
			}
			tn.say("well")
			tn.pause(2 * time.Minute)
			tn.say(", at last")
			tn.finish("end_turn", "")
		}
		p := st.prompt("slow")
		p.waitForText("well")
		st.server.setRunner(false)
		p.checkStop("well")
		next := st.prompt("hello")
		time.Sleep(61 * time.Second)
		synctest.Wait()
		if n := len(st.server.prompts("hello")); n != 1 {
			t.Errorf("the next prompt was sent %d times", n)
		}
		st.server.setRunner(true)
		st.server.setNoRunner(true) // its first frame comes before it works on the prompt
		st.server.runningTurn().status("thinking", "")
		time.Sleep(300 * time.Millisecond)
		st.server.setNoRunner(false)
		began := time.Now()
		if got := next.completes(); got != "You said: hello" {
			t.Errorf("the next turn said %q", got)
		}
		if took := time.Since(began); e == agentOpsServer && took > time.Second {
			t.Errorf("it took %s", took)
		}
	})
}

// A runner that comes and leaves does not make the next prompt wait longer.
func TestE32_APromptDoesNotWaitForARunnerThatComesAndGoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newStage(t, agentOpsServer)
		st.server.script = func(tn *turn) {
			tn.say("well")
			tn.pause(24 * time.Hour)
		}
		p := st.prompt("slow")
		p.waitForText("well")
		st.server.setRunner(false)
		p.checkStop("well")
		next := st.prompt("hello")
		time.Sleep(57700 * time.Millisecond)
		st.server.setRunner(true) // it resumes before the minute is over, and says nothing
		time.Sleep(200 * time.Millisecond)
		st.server.setRunner(false)
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if n := len(st.server.prompts("hello")); n != 1 {
			t.Errorf("the next prompt was sent %d times", n)
		}
		next.cancel()
	})
}

// A prompt waits for a pending stop, and the connection is lost for good. The turn of the prompt
// ends, or the prompt is sent through a connection that can follow it.
func TestE32_APromptThatWaitsForAStopEndsWithTheConnection(t *testing.T) {
	for name, lose := range map[string]func(*server){
		"strict": func(s *server) { s.drop(0) },
		"final":  func(s *server) { s.drop(websocket.StatusProtocolError) },
	} {
		t.Run(name, func(t *testing.T) {
			withBothServers(t, func(t *testing.T, e serverKind) {
				st, p := newStageWithTurn(t, e, func(r *agentops.Runtime) { r.Strict = name == "strict" })
				st.server.setRunner(false)
				p.checkStop("well")
				next := st.prompt("hello")
				time.Sleep(time.Second)
				locked(st.server, func() bool { // the server answers after its turn has stopped
					st.server.wrap = func(h http.Handler) http.Handler {
						return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
							time.Sleep(time.Millisecond)
							h.ServeHTTP(w, r)
						})
					}
					return true
				})
				lose(st.server)
				st.server.setNoRunner(false)
				st.server.stopTurn()
				time.Sleep(time.Hour)
				select {
				case <-next.done:
				default:
					t.Errorf("the next turn has no end; its prompt was sent %d times", len(st.server.prompts("hello")))
				}
				next.cancel()
			})
		})
	}
}

// The server may announce a new runner before it says that the former runner has left.
func TestE32_AStopAfterARunnerReplacedAnother(t *testing.T) {
	withBothServers(t, func(t *testing.T, e serverKind) {
		for _, inMidTurn := range []bool{false, true} {
			st := newStage(t, e)
			takesPlace := func() {
				st.server.broadcast(object{"type": "status", "data": object{"runnerConnected": true}})
				st.server.broadcast(object{"type": "status", "data": object{"runnerConnected": false}})
			}
			if !inMidTurn {
				takesPlace()
			}
			st.checkStopAfter(func(tn *turn) {
				if inMidTurn {
					takesPlace()
					tn.pause(2 * time.Second)
					st.server.broadcast(object{"type": "status", "data": object{"promptDequeued": true, "remaining": 0}})
				}
			})
		}
	})
}

// A runner reconnects after a moment and does not get its prompt again. The runner counts as at
// work when it sends a frame after those that it had kept.
func TestE32_AStopAfterARunnerReconnected(t *testing.T) {
	withBothServers(t, func(t *testing.T, e serverKind) {
		st := newStage(t, e)
		st.checkStopAfter(func(*turn) {
			for _, there := range []bool{false, true} {
				st.server.broadcast(object{"type": "status", "data": object{"runnerConnected": there}})
			}
		})
	})
}

// checkStopAfter checks that a turn is stopped although the event happened in it.
func (st *stage) checkStopAfter(happens func(*turn)) {
	st.t.Helper()
	st.server.script = func(tn *turn) {
		tn.say("well")
		happens(tn)
		for range 600 {
			tn.say(".")
			tn.pause(time.Second)
		}
	}
	p := st.prompt("slow")
	p.waitForText("well..")
	p.cancel()
	p.end()
	time.Sleep(5 * time.Second)
	synctest.Wait()
	if n := len(st.server.frames("abort")); n != 1 {
		st.t.Errorf("it was stopped %d times", n)
	}
	st.server.stopTurn()
}

// Another user prompts after the stopped turn is over and before the stop is sent. The stop does
// not reach the turn of that user.
func TestF09_ALateStopDoesNotStopAnotherUsersTurn(t *testing.T) {
	for name, stops := range map[string]func(*stage, *liveTurn){
		"stopped there by somebody": func(st *stage, p *liveTurn) {
			st.server.whileDisconnected(func() {
				synctest.Wait()
				p.checkStop("well")
				st.server.stopTurn()
				synctest.Wait()
				time.Sleep(time.Second)
			})
		},
		"stopped by REST": func(st *stage, p *liveTurn) {
			st.server.drop(0)
			synctest.Wait()
			p.checkStop("well")
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				st, p := newStageWithTurn(t, agentOpsServer)
				before, _ := st.server.sockets()
				stops(st, p)
				for n := before; n == before; n, _ = st.server.sockets() {
					time.Sleep(10 * time.Millisecond)
				}
				synctest.Wait()
				if st.server.runningTurn() != nil {
					t.Fatal("it runs on")
				}
				st.server.bobPrompts("slow")
				theirs := st.server.runningTurn()
				time.Sleep(2 * time.Second)
				if theirs.ctx.Err() != nil {
					t.Errorf("the turn of another user was stopped: %v", st.server.frames("abort"))
				}
				st.server.stopTurn()
			})
		})
	}
}

// setRunner disconnects the server's runner, or connects another one. The new runner is ready after a
// while and gets the prompt of the former one.
func (s *server) setRunner(there bool) {
	s.setNoRunner(true)
	s.broadcast(object{"type": "status", "data": object{"runnerConnected": there}})
	synctest.Wait()
	if !there {
		return
	}
	time.Sleep(2 * time.Second)
	s.broadcast(object{"type": "agentStatus", "status": "idle"})
	s.broadcast(object{"type": "status", "data": object{"promptDequeued": true, "remaining": 0}})
	time.Sleep(200 * time.Millisecond)
	s.setNoRunner(false)
}

func (s *server) setNoRunner(so bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.noRunner = so
}

// prompts returns the prompts that the server got with this text.
func (s *server) prompts(text string) (all []object) {
	for _, f := range s.received() {
		if f["content"] == text {
			all = append(all, f)
		}
	}
	return all
}
