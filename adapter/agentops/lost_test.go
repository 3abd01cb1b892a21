package agentops_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"runtime"
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

// whileDisconnected disconnects all clients, refuses new connections while do runs, and accepts them again.
func (s *server) whileDisconnected(do func()) {
	s.mu.Lock()
	s.wrap = func(http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) })
	}
	s.mu.Unlock()
	s.drop(websocket.StatusGoingAway)
	do()
	s.mu.Lock()
	s.wrap = nil
	s.mu.Unlock()
}

// E32: later frames bring the text that was missed while the connection was lost. The text is
// complete, and no part of it comes twice, wherever the loss was.
func TestE32_ALossOfTheConnectionLosesNoText(t *testing.T) {
	const first, second = "Let me look at it first.", "It formats in local time 🕛, so the day rolls over."
	call := func(tn *turn, status string, result any) {
		tn.tool("prt-1", "bash", status, object{"command": "ls"}, result)
	}
	steps := []func(*turn){
		func(tn *turn) { tn.say("Let me ") },
		func(tn *turn) { tn.say("look at ") },
		func(tn *turn) { tn.say("it first.") },
		func(tn *turn) { call(tn, "running", nil) },
		func(tn *turn) { call(tn, "completed", "a.go") },
		func(tn *turn) { tn.say("It formats in ") },
		func(tn *turn) { tn.say("local time 🕛, ") },
		func(tn *turn) { tn.say("so the day rolls over.") },
		func(tn *turn) { tn.finish("end_turn", "") },
	}
	for from := range steps {
		for to := from; to <= len(steps); to++ {
			t.Run(fmt.Sprintf("%d-%d", from, to), func(t *testing.T) {
				withBothServers(t, func(t *testing.T, e serverKind) {
					st := newStage(t, e)
					st.server.script = func(tn *turn) {
						play := func(steps []func(*turn)) {
							for _, step := range steps {
								step(tn)
							}
						}
						play(steps[:from])
						synctest.Wait()
						st.server.whileDisconnected(func() { play(steps[from:to]) })
						time.Sleep(10 * time.Second) // it is back
						synctest.Wait()
						play(steps[to:])
					}
					stop, events := st.prompt("x").end()
					text := said(events)
					if stop.Outcome != trace.OutcomeCompleted || text != first+"|"+second && !(e == gatewayServer && from < 3 && strings.HasSuffix(text, second)) {
						t.Errorf("%+v: %q", stop, text)
					}
					if strings.Count(text, "Let me ") > 1 || strings.Count(text, "It formats") != 1 {
						t.Errorf("a text is missing or comes twice: %q", text)
					}
					results := agenttest.Each[trace.ToolResult](events)
					if len(results) != 1 || results[0].Status != trace.ToolCompleted {
						t.Errorf("the call ended as %+v", results)
					}
					if n := len(st.host.Begun()); n != 0 {
						t.Errorf("%d turns of another user", n)
					}
				})
			})
		}
	}
}

// H27: the connection may be lost again and again.
func TestH27_RecoveryOfATurnThatIsCutManyTimes(t *testing.T) {
	withBothServers(t, func(t *testing.T, e serverKind) {
		st := newStage(t, e)
		var want strings.Builder
		st.server.script = func(tn *turn) {
			for i := range 20 {
				piece := fmt.Sprintf("piece %d. ", i)
				want.WriteString(piece)
				tn.say(piece)
				if i%4 == 3 {
					synctest.Wait()
					st.server.drop(0)
					time.Sleep(3 * time.Second)
					synctest.Wait()
				}
			}
			tn.finish("end_turn", "")
		}
		if got := st.prompt("x").completes(); got != want.String() {
			t.Errorf("%q\nwant %q", got, want.String())
		}
		if opened, _ := st.server.sockets(); opened != 6 {
			t.Errorf("%d sockets", opened)
		}
	})
}

// E33: the last snapshot may have the same text in all parts. The streamed text stays.
func TestE33_TheLastSnapshotRemovesNoText(t *testing.T) {
	withBothServers(t, func(t *testing.T, e serverKind) {
		if got := newStage(t, e).prompt("tool").completes(); got != "Let me look.|It says hello." {
			t.Errorf("%q", got)
		}
	})
}

// E37: frames above 1 MB are usual: each snapshot holds the whole message.
func TestE37_LargeFrames(t *testing.T) {
	large := strings.Repeat("0123456789abcdef", 2<<16) // 2 MB
	script := func(tn *turn) {
		tn.say("Let me look.")
		tn.tool("prt-1", "bash", "running", object{"command": "cat large"}, nil)
		tn.tool("prt-1", "bash", "completed", object{"command": "cat large"}, large)
		tn.say("It is large.")
		tn.finish("end_turn", "")
	}
	withBothServers(t, func(t *testing.T, e serverKind) {
		st := newStage(t, e)
		st.server.script = script
		stop, events := st.prompt("x").end()
		results := agenttest.Each[trace.ToolResult](events)
		var got string
		if len(results) == 1 {
			_ = json.Unmarshal(results[0].Output, &got)
		}
		if stop.Outcome != trace.OutcomeCompleted || got != large {
			t.Errorf("%+v, and a result of %d bytes", stop, len(got))
		}
	})
	withBothServers(t, func(t *testing.T, e serverKind) {
		st := newStage(t, e, func(r *agentops.Runtime) { r.MaxFrame = 1 << 20 })
		st.server.script = script
		stop, events := st.prompt("x").end()
		errs := agenttest.Each[trace.Error](events)
		if stop.Error != "Stream interrupted" || len(errs) != 1 || errs[0].Message != "Agent Ops sent a frame of more than 1 MB, so the connection was closed: raise max_frame of this agent." {
			t.Errorf("%+v %+v", stop, errs)
		}
		if opened, _ := st.server.sockets(); opened != 1 {
			t.Errorf("%d sockets were opened for a frame that would only come again", opened)
		}
	})
}

// The adapter reads no more frames than the turn's log takes. Other frames stay on the server.
func TestG07_TheAdapterReadsNoMoreThanTheLogTakes(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes many megabytes")
	}
	synctest.Test(t, func(t *testing.T) {
		st := newStage(t, agentOpsServer)
		piece := strings.Repeat("x", 16<<10)
		st.server.script = func(tn *turn) {
			for range 450 { // 7 MB
				tn.say(piece)
			}
			tn.finish("end_turn", "")
		}
		stuck := make(chan struct{})
		p := agent.Prompt{
			Message: trace.UserMessage{ID: "u", Parts: []trace.InputPart{{Type: trace.InputText, Text: "x"}}}, By: "ada", Caller: agent.Caller{Bearer: "token-ada"},
		}
		b := trace.NewBuilder(t.Context(), trace.Config{Turn: "t", Append: func(ctx context.Context, _ []trace.Event) error {
			select {
			case <-stuck:
			case <-ctx.Done():
			}
			return nil
		}})
		done := make(chan struct{})
		go func() {
			defer close(done)
			_ = st.session.Prompt(t.Context(), p, b)
		}()
		time.Sleep(time.Minute)
		synctest.Wait()
		if n := st.server.framesRead.Load(); n > 330 {
			t.Errorf("the adapter read %d frames although the log takes none", n)
		}
		close(stuck)
		<-done
		if stop, ok := b.Result(); !ok || stop.Outcome != trace.OutcomeCompleted {
			t.Errorf("%+v", stop)
		}
		if err := b.Finish(trace.Stop{Outcome: trace.OutcomeCompleted}); err != nil {
			t.Error(err)
		}
	})
}

// A hostile server costs bounded memory, and a turn that it breaks has a clear error.
func TestAHostileServer(t *testing.T) {
	interrupted := func(t *testing.T, p *liveTurn, why string) {
		t.Helper()
		stop, events := p.end()
		errs := agenttest.Each[trace.Error](events)
		if stop.Error != "Stream interrupted" || len(errs) != 1 || !strings.Contains(errs[0].Message, why) || said(events) != "well" {
			t.Errorf("%+v %.200v, want %q", stop, errs, why)
		}
	}
	for _, c := range []struct {
		name string
		does func(*server)
		why  string // "": the turn goes on
	}{
		{"not UTF-8", func(s *server) { s.sendRaw([]byte("{\"type\":\"chunk\",\"content\":\"\xff\xfe\"}")) }, "not UTF-8"},
		{"a frame above the limit", func(s *server) { s.sendRaw([]byte(`{"type":"x","x":"` + strings.Repeat("x", 9<<20) + `"}`)) }, "more than 8 MB"},
		{"a frame of 7 MB", func(s *server) { s.sendRaw([]byte(`{"type":"x","x":"` + strings.Repeat("x", 7<<20) + `"}`)) }, ""},
		{"7 MB of brackets", func(s *server) { s.sendRaw([]byte(`{"type":"message.updated","data":` + strings.Repeat("[", 7<<20))) }, ""},
		{"no JSON", func(s *server) { s.sendRaw([]byte("<html>")) }, ""},
		{"types that nobody knows", func(s *server) {
			for i := range 3000 {
				s.sendRaw(fmt.Appendf(nil, `{"type":"new-%d","x":1}`, i))
			}
		}, ""},
		{"lists where there are none", func(s *server) {
			for _, typ := range []string{"message", "message.updated", "chunk", "status", "question", "interactive_prompt", "queue.state"} {
				s.sendRaw(fmt.Appendf(nil, `{"type":%q,"data":[],"session":[],"prompt":[],"content":{}}`, typ))
			}
		}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				st := newStage(t, agentOpsServer, func(r *agentops.Runtime) { r.MaxFrame = 8 << 20 })
				st.server.script = func(tn *turn) {
					tn.say("well")
					synctest.Wait()
					c.does(st.server)
					tn.pause(time.Minute)
					tn.say(", at last")
					tn.finish("end_turn", "")
				}
				p := st.prompt("x")
				if c.why != "" {
					interrupted(t, p, c.why)
					return
				}
				if got := p.completes(); got != "well, at last" {
					t.Errorf("%q", got)
				}
				if n := st.unknownFrames.Load(); strings.HasPrefix(c.name, "types") && n != 3000 {
					t.Errorf("%d of 3000 unknown frames were counted", n)
				}
			})
		})
	}
}

// Endless snapshots add no text and use bounded memory.
func TestEndlessSnapshotsUseBoundedMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes many megabytes")
	}
	synctest.Test(t, func(t *testing.T) {
		st := newStage(t, agentOpsServer)
		heap := func() uint64 {
			var m runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&m)
			return m.HeapAlloc
		}
		var before, after uint64
		st.server.script = func(tn *turn) {
			tn.say("well")
			tn.close()
			tn.parts = append(tn.parts, object{"type": "tool-call", "callId": "c", "toolName": "bash", "status": "running", "args": object{"command": strings.Repeat("x", 10<<10)}})
			for i := range 1500 {
				tn.updated()
				if i%500 == 499 {
					synctest.Wait()
				}
				if i == 499 {
					before = heap()
				}
			}
			synctest.Wait()
			after = heap()
			tn.finish("end_turn", "")
		}
		stop, events := st.prompt("x").end()
		if stop.Outcome != trace.OutcomeCompleted || said(events) != "well" || len(events) > 30 {
			t.Errorf("%+v: %d events", stop, len(events))
		}
		if after > before+4<<20 {
			t.Errorf("the heap grew from %d to %d over 1000 snapshots", before, after)
		}
	})
}

// Pings find a peer that has silently gone, and the turn goes on with another connection.
func TestPingsFindAPeerThatHasSilentlyGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newStage(t, agentOpsServer)
		st.server.script = func(tn *turn) {
			tn.say("well")
			synctest.Wait()
			st.server.conn.freeze()
			time.Sleep(10 * time.Minute)
			tn.say(", at last")
			tn.finish("end_turn", "")
		}
		if got := st.prompt("x").completes(); got != "well, at last" {
			t.Errorf("%q", got)
		}
		if opened, _ := st.server.sockets(); opened < 2 {
			t.Error("no second connection was opened")
		}
	})
}

// A turn goes on over a restart of the gateway. The missed text is added, text on record does not
// come twice, and open requests can be answered.
//
//evidence:for promise-crash
func TestH27_ATurnGoesOnOverARestart(t *testing.T) {
	for _, c := range []struct {
		name, want string
		script     func(st *stage, tn *turn)
		until      string // what has been said when the gateway stops
		answers    bool
	}{
		{"in the middle of a text", "Let me look at it.|Done.", func(_ *stage, tn *turn) {
			tn.say("Let me ")
			tn.pause(time.Minute)
			tn.say("look at it.")
			tn.pause(time.Minute)
			tn.tool("prt-1", "bash", "running", object{"command": "ls"}, nil)
			tn.tool("prt-1", "bash", "completed", object{"command": "ls"}, "a.go")
			tn.say("Done.")
			tn.finish("end_turn", "")
		}, "Let me ", false},
		{"after a call", "Let me look.|It says hello.", func(_ *stage, tn *turn) {
			tn.say("Let me look.")
			tn.tool("prt-1", "read", "running", object{"filePath": "a"}, nil)
			tn.tool("prt-1", "read", "completed", object{"filePath": "a"}, "hello")
			tn.say("It says ")
			tn.pause(3 * time.Minute)
			tn.say("hello.")
			tn.finish("end_turn", "")
		}, "It says ", false},
		{"ended meanwhile", "Let me look.", func(_ *stage, tn *turn) {
			tn.say("Let me ")
			tn.pause(30 * time.Second)
			tn.say("look.")
			tn.finish("end_turn", "")
		}, "Let me ", false},
		{"while it asks", "Before I go on:|You chose red.", func(_ *stage, tn *turn) { usual(tn) }, "Before I go on:", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			withBothServers(t, func(t *testing.T, e serverKind) {
				st := newStage(t, e, serviceToken(t))
				st.server.script = func(tn *turn) { c.script(st, tn) }
				st.host.OnAsk = func(ctx context.Context, _ trace.Question) trace.Answer {
					<-ctx.Done()
					return trace.Answer{}
				}
				p := st.prompt("question")
				p.waitForText(c.until)
				synctest.Wait()
				var waiting []string
				for _, q := range agenttest.Each[trace.Question](p.Events()) {
					waiting = append(waiting, q.QuestionID)
				}
				p.detach()
				time.Sleep(time.Minute)

				second := agenttest.NewHost()
				if c.answers {
					second.OnAsk = func(context.Context, trace.Question) trace.Answer {
						return trace.Answer{Outcome: trace.Selected, Values: []string{"red"}, By: "ada"}
					}
				}
				stop, events := p.reattach(second, waiting...)
				if stop.Outcome != trace.OutcomeCompleted {
					t.Errorf("%+v", stop)
				}
				if got := said(events); got != c.want {
					t.Errorf("%q, want %q", got, c.want)
				}
				if n := len(second.Begun()); n != 0 {
					t.Errorf("%d turns of another user", n)
				}
			})
		})
	}
}

// An approval that is refused after a restart denies the call behind it.
func TestH27_D07_AnApprovalIsRefusedAfterARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newStage(t, agentOpsServer, serviceToken(t))
		st.host.OnPermit = func(ctx context.Context, _ trace.PermissionRequest) trace.PermissionResponse {
			<-ctx.Done()
			return trace.PermissionResponse{}
		}
		p := st.prompt("permission")
		time.Sleep(time.Second)
		synctest.Wait()
		var waiting []string
		for _, r := range agenttest.Each[trace.PermissionRequest](p.Events()) {
			waiting = append(waiting, r.RequestID)
		}
		p.detach()
		time.Sleep(time.Minute)

		second := agenttest.NewHost()
		second.OnPermit = func(context.Context, trace.PermissionRequest) trace.PermissionResponse {
			return trace.PermissionResponse{Outcome: trace.Selected, ChosenOption: "deny", OptionKind: trace.RejectOnce, By: "ada"}
		}
		stop, events := p.reattach(second, waiting...)
		results := agenttest.Each[trace.ToolResult](events)
		if stop.Outcome != trace.OutcomeCompleted || len(results) != 1 || results[0].Status != trace.ToolDenied {
			t.Errorf("%+v, and the call ended as %+v", stop, results)
		}
	})
}

// An answer is sent when a restarted session agent has a runner. Without a runner, the session
// agent would accept the answer and lose it.
func TestE32_AnAnswerWaitsForARunner(t *testing.T) {
	withBothServers(t, func(t *testing.T, e serverKind) {
		st := newStage(t, e)
		answer := make(chan struct{})
		st.host.OnAsk = func(context.Context, trace.Question) trace.Answer {
			<-answer
			return trace.Answer{Outcome: trace.Selected, Values: []string{"red"}, By: "ada"}
		}
		p := st.prompt("question")
		p.waitForText("Before I go on:")
		synctest.Wait()
		st.server.whileDisconnected(func() {
			close(answer)
			synctest.Wait()
			st.server.setNoRunner(true)
		})
		time.Sleep(3 * time.Second)
		st.server.setNoRunner(false)
		st.server.broadcast(object{"type": "status", "data": object{"runnerConnected": true}})
		if got := p.completes(); !strings.HasSuffix(got, "You chose red.") {
			t.Errorf("it said %q", got)
		}
	})
}
