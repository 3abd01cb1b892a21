package agentops_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/eventlog/memlog"
	"github.com/tributary-dev/tributary/trace"
)

// loggedTurn is a turn in the log.
type loggedTurn struct {
	by     string
	stop   trace.Stop
	ended  bool
	events []trace.Event
}

// streamed joins the text that clients got.
func (o loggedTurn) streamed() string { return streamed(o.events) }

// turns returns all turns of the session, in the order of their beginning.
func (g *gateway) turns() (all []*loggedTurn) {
	g.t.Helper()
	of := map[string]*loggedTurn{}
	for r, err := range g.log.After(g.t.Context(), g.server.id, 0) {
		if err != nil {
			g.t.Fatal(err)
		}
		if r.Turn == "" {
			continue
		}
		if of[r.Turn] == nil {
			of[r.Turn] = &loggedTurn{}
			all = append(all, of[r.Turn])
		}
		o := of[r.Turn]
		o.events = append(o.events, r.Event)
		switch p := r.Payload.(type) {
		case trace.Prompt:
			o.by = p.By
		case trace.Stop:
			o.stop, o.ended = p, true
		}
	}
	for _, o := range all {
		if err := agenttest.CheckTurn(o.events); o.ended && err != nil {
			g.t.Errorf("the turn of %s is not well formed: %v", o.by, err)
		}
	}
	return all
}

// restart closes a gateway, waits, and starts another one on the same store.
func restart(g *gateway, store sharedStore, after time.Duration) *gateway {
	g.close()
	time.Sleep(after)
	return newGateway(g.t, g.server, store)
}

// A turn that another user began in Agent Ops goes on over a restart of the gateway. The turn keeps
// its id, and the missed text is added once. A prompt of this gateway runs after that turn.
func TestH27_E34_ATurnOfAnotherUserGoesOnOverARestart(t *testing.T) {
	call := func(tn *turn, status string, result any) {
		tn.tool("prt-1", "bash", status, object{"command": "ls"}, result)
	}
	for _, c := range []struct {
		name, want string
		before     func(*turn) // what happens before the restart, during it, and after
		during     func(*turn)
		after      func(*turn)
		answers    int
	}{
		{
			"before its first text", "Let me look.", func(*turn) {}, func(tn *turn) { tn.say("Let me ") }, func(tn *turn) { tn.say("look.") }, 0,
		},
		{
			"in the middle of a text", "Let me look at it.",
			func(tn *turn) { tn.say("Let me ") }, func(tn *turn) { tn.say("look ") }, func(tn *turn) { tn.say("at it.") }, 0,
		},
		{
			"while a tool runs", "Let me look.It is there.",
			func(tn *turn) { tn.say("Let me look."); call(tn, "running", nil) },
			func(tn *turn) { call(tn, "completed", "a.go"); tn.say("It is ") },
			func(tn *turn) { tn.say("there.") }, 0,
		},
		{
			"and ends meanwhile", "Let me look.", func(tn *turn) { tn.say("Let me ") },
			func(tn *turn) { tn.say("look."); tn.finish("end_turn", "") }, func(*turn) {}, 0,
		},
		{
			"while it asks", "Well:red it is.", func(tn *turn) { tn.say("Well:") },
			func(tn *turn) { tn.say(tn.ask("que-1", "Which?", "red"), " it is.") }, func(*turn) {}, 1,
		},
		{
			"and has asked before", "Well:red it is.", func(tn *turn) { tn.say("Well:"); tn.say(tn.ask("que-1", "Which?", "red"), " it is.") },
			func(*turn) {}, func(*turn) {}, 1,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			withBothServers(t, func(t *testing.T, e serverKind) {
				s := newServer(t, e)
				store := sharedStore{memlog.New()}
				first := newGateway(t, s, store)
				first.wait(first.prompt("hello"))
				s.script = func(tn *turn) {
					if tn.p.by.id != "u_bob" {
						usual(tn)
						return
					}
					c.before(tn)
					tn.pause(10 * time.Second)
					c.during(tn)
					tn.pause(20 * time.Second)
					c.after(tn)
					tn.finish("end_turn", "")
				}
				s.bobPrompts("theirs")
				time.Sleep(time.Second)
				second := restart(first, store, 15*time.Second)
				defer second.close()
				ours := second.prompt("tool")
				time.Sleep(time.Second)
				if id := s.anyOpenRequest(); id != "" {
					s.resolve(id, "red", user{id: "u_bob"})
				}
				stop, events := second.wait(ours)
				if stop.Outcome != trace.OutcomeCompleted || said(events) != "Let me look.|It says hello." {
					t.Errorf("the turn of this gateway: %+v %q", stop, said(events))
				}
				synctest.Wait()
				all := second.turns()
				if len(all) != 3 {
					t.Fatalf("%d turns, want three", len(all))
				}
				theirs := all[1]
				if theirs.by != "u_bob" || !theirs.ended || theirs.stop.Outcome != trace.OutcomeCompleted || theirs.streamed() != c.want {
					t.Errorf("the other turn is by %s, ended %v %+v, and said %q, want %q", theirs.by, theirs.ended, theirs.stop, theirs.streamed(), c.want)
				}
				if asked, answers := len(agenttest.Each[trace.Question](theirs.events)), len(agenttest.Each[trace.Answer](theirs.events)); asked != c.answers || answers != c.answers {
					t.Errorf("it was asked %d times and answered %d times, want %d", asked, answers, c.answers)
				}
			})
		})
	}
}

// Two turns are open at a restart: a turn of another user that runs, and a turn of this gateway
// that waits for it. Both go on, through one connection.
func TestH27_TwoTurnsGoOnOverARestart(t *testing.T) {
	withBothServers(t, func(t *testing.T, e serverKind) {
		s := newServer(t, e)
		store := sharedStore{memlog.New()}
		first := newGateway(t, s, store)
		first.wait(first.prompt("hello"))
		s.script = func(tn *turn) {
			if tn.p.by.id != "u_bob" {
				usual(tn)
				return
			}
			for range 8 {
				tn.say("more ")
				tn.pause(10 * time.Second)
			}
			tn.finish("end_turn", "")
		}
		s.bobPrompts("long")
		time.Sleep(time.Second)
		turn := first.prompt("tool")
		time.Sleep(time.Second)
		second := restart(first, store, 15*time.Second)
		defer second.close()
		stop, events := second.wait(turn)
		if stop.Outcome != trace.OutcomeCompleted || said(events) != "Let me look.|It says hello." {
			t.Errorf("%+v %q", stop, said(events))
		}
		synctest.Wait()
		if _, open := s.sockets(); open != 1 {
			t.Errorf("%d connections", open)
		}
		all := second.turns()
		if len(all) != 3 {
			t.Fatalf("%d turns", len(all))
		}
		if got := all[2].streamed(); got != "Let me look.It says hello." {
			t.Errorf("the turn of this gateway streamed %q", got)
		}
		if theirs := all[1]; theirs.stop.Outcome != trace.OutcomeCompleted || theirs.streamed() != strings.Repeat("more ", 8) {
			t.Errorf("the other turn: %+v %q", theirs.stop, theirs.streamed())
		}
	})
}

// The gateway stopped while it sent a prompt. An earlier prompt has the same text. After the
// restart, the later turn does not get the answer of the earlier prompt.
func TestH27_E38_AnUnsentPromptIsNotTakenForAnEarlierOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newStage(t, agentOpsServer, serviceToken(t))
		st.prompt("hello").completes()
		st.server.setWrap(func(h http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodPost { // it does not arrive
					_, _ = io.Copy(io.Discard, r.Body)
					<-r.Context().Done()
					return
				}
				h.ServeHTTP(w, r)
			})
		})
		p := st.prompt("hello")
		synctest.Wait()
		p.detach()
		st.server.setWrap(nil)
		stop, events := p.reattach(agenttest.NewHost())
		if stop.Reason != "restart" || said(events) != "" {
			t.Errorf("%+v %q", stop, said(events))
		}
	})
}

// The resume token holds the time when the agent got the prompt, also of a prompt that waited. The
// history is read from that time on.
func TestE08_TheStartOfAQueuedPromptIsInTheResumeToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newStage(t, agentOpsServer, serviceToken(t))
		st.prompt("hello").completes()
		st.server.bobPrompts("slow")
		synctest.Wait()
		p := st.prompt("slow too")
		time.Sleep(time.Second)
		if token := st.host.Token(); !strings.Contains(token, `"prompt":"prompt-`) || strings.Contains(token, `"since"`) {
			t.Fatalf("the prompt waits, and the resume token is %s", token)
		}
		p.waitForText("well")
		if token := st.host.Token(); !strings.Contains(token, `"since":`) {
			t.Errorf("the prompt runs, and the resume token is %s", token)
		}
		p.completes()
	})
}

// setWrap puts a handler in front of the server.
func (s *server) setWrap(with func(http.Handler) http.Handler) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wrap = with
}
