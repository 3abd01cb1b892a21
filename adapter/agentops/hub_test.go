package agentops_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tributary-dev/tributary/adapter/agentops"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/eventlog/memlog"
	"github.com/tributary-dev/tributary/policy/permission"
	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/trace"
)

// gateway is a server behind the real hub, whose clocks end turns.
type gateway struct {
	t      *testing.T
	server *server
	log    *eventlog.Log
	hub    *session.Hub
}

// sharedStore is a store that outlives the log that is closed over it.
type sharedStore struct{ eventlog.Store }

func (sharedStore) Close() error { return nil }

func newGateway(t *testing.T, s *server, store eventlog.Store, change ...func(*agentops.Runtime)) *gateway {
	t.Helper()
	t.Setenv("TRIBUTARY_TEST_AGENTOPS", "token-ada")
	r := s.runtime()
	r.Token.Env = "TRIBUTARY_TEST_AGENTOPS"
	for _, c := range change {
		c(&r)
	}
	g := &gateway{t: t, server: s, log: eventlog.New(store)}
	var err error
	g.hub, err = session.New(t.Context(), session.Options{
		Log: g.log, Default: "far", OnDisconnect: session.Detach,
		Agents: map[string]session.Agent{"far": {Runtime: r, Cwd: t.TempDir(), Policy: permission.Default(), InProcess: true}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func (g *gateway) close() {
	g.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := g.hub.Close(ctx); err != nil {
		g.t.Error(err)
	}
	if err := g.log.Close(); err != nil {
		g.t.Error(err)
	}
}

func (g *gateway) prompt(text string) session.Turn {
	g.t.Helper()
	return g.promptAs(text, agent.Caller{})
}

func (g *gateway) promptAs(text string, c agent.Caller) session.Turn {
	g.t.Helper()
	if _, err := g.hub.Ensure(g.t.Context(), session.Spec{ID: g.server.id}); err != nil {
		g.t.Fatal(err)
	}
	turn, err := g.hub.Prompt(g.t.Context(), g.server.id, session.Prompt{
		By: "ada", MayPermit: true, Caller: c, Message: trace.UserMessage{ID: "user-" + text, Parts: []trace.InputPart{{Type: trace.InputText, Text: text}}},
	})
	if err != nil {
		g.t.Fatal(err)
	}
	return turn
}

// wait follows a turn to its end.
func (g *gateway) wait(turn session.Turn) (trace.Stop, []trace.Event) {
	g.t.Helper()
	var events []trace.Event
	records, err := g.hub.Records(g.t.Context(), g.server.id, session.Filter{After: turn.After, Turn: turn.ID, Deltas: true, Live: true})
	if err != nil {
		g.t.Fatal(err)
	}
	for r, err := range records {
		if err != nil {
			g.t.Fatal(err)
		}
		events = append(events, r.Event)
	}
	stops := agenttest.Each[trace.Stop](events)
	if len(stops) != 1 {
		g.t.Fatalf("%d stops", len(stops))
	}
	return stops[0], events
}

// silent is a turn that streams a word and then sends no frame for a while.
func silent(between func(*turn), d time.Duration) func(*turn) {
	return func(tn *turn) {
		tn.say("well")
		between(tn)
		tn.pause(d)
		tn.say(", at last")
		tn.finish("end_turn", "")
	}
}

// F02, G06: an agent that is silent for too long is aborted, and the turn's stop names the reason.
func TestG06_SilenceEndsATurn(t *testing.T) {
	withBothServers(t, func(t *testing.T, e serverKind) {
		s := newServer(t, e)
		g := newGateway(t, s, memlog.New())
		defer g.close()
		s.script = silent(func(*turn) {}, time.Hour)
		began := time.Now()
		stop, events := g.wait(g.prompt("x"))
		if stop.Outcome != trace.OutcomeFailed || stop.Reason != "idle" || said(events) != "well" {
			t.Errorf("%+v %q", stop, said(events))
		}
		if took := time.Since(began); took < 2*time.Minute || took > 125*time.Second {
			t.Errorf("it took %s", took)
		}
		time.Sleep(5 * time.Second)
		if len(s.frames("abort")) != 1 || s.runningTurn() != nil {
			t.Errorf("%d aborts; the turn runs on: %v", len(s.frames("abort")), s.runningTurn() != nil)
		}
		s.script = nil
		if stop, events := g.wait(g.prompt("hello")); stop.Outcome != trace.OutcomeCompleted || said(events) != "You said: hello" {
			t.Errorf("the next turn: %+v %q", stop, said(events))
		}
	})
}

// F02: the idle clock stands still while a tool runs and while a request is open.
func TestF02_TheIdleClockStandsStillWhileAToolRunsOrARequestIsOpen(t *testing.T) {
	for name, between := range map[string]func(*turn){
		"tool": func(tn *turn) {
			tn.tool("prt-1", "bash", "running", object{"command": "make"}, nil)
			tn.pause(20 * time.Minute)
			tn.tool("prt-1", "bash", "completed", object{"command": "make"}, "ok")
		},
		"question": func(tn *turn) {
			go func() {
				time.Sleep(4 * time.Minute)
				tn.s.resolve("que-1", "red", user{id: "u_ada"})
			}()
			tn.ask("que-1", "Which colour?", "red")
		},
	} {
		t.Run(name, func(t *testing.T) {
			withBothServers(t, func(t *testing.T, e serverKind) {
				s := newServer(t, e)
				g := newGateway(t, s, memlog.New())
				defer g.close()
				s.script = silent(between, time.Second)
				stop, events := g.wait(g.prompt("x"))
				if stop.Outcome != trace.OutcomeCompleted || !strings.HasSuffix(said(events), ", at last") {
					t.Errorf("%+v %q", stop, said(events))
				}
			})
		})
	}
}

// E31: a session that wakes may be silent for longer than an agent, for a bounded time.
func TestE31_TheIdleClockStandsStillWhileTheSessionWakes(t *testing.T) {
	for wakes, want := range map[time.Duration]trace.Outcome{5 * time.Minute: trace.OutcomeCompleted, 30 * time.Minute: trace.OutcomeFailed} {
		t.Run(wakes.String(), func(t *testing.T) {
			withBothServers(t, func(t *testing.T, e serverKind) {
				s := newServer(t, e)
				s.status = "hibernated"
				g := newGateway(t, s, memlog.New())
				defer g.close()
				s.script = func(tn *turn) {
					s.broadcast(object{"type": "status", "data": object{"status": "restoring"}})
					tn.pause(wakes)
					if tn.ctx.Err() != nil {
						return
					}
					s.broadcast(object{"type": "status", "data": object{"status": "running", "runnerConnected": true}})
					tn.say("Good morning.")
					tn.finish("end_turn", "")
				}
				began := time.Now()
				stop, events := g.wait(g.prompt("x"))
				if stop.Outcome != want || want == trace.OutcomeCompleted && said(events) != "Good morning." {
					t.Errorf("after %s %+v %q", time.Since(began), stop, said(events))
				}
				if took := time.Since(began); took > 14*time.Minute {
					t.Errorf("it took %s", took)
				}
			})
		})
	}
}

// A prompt that waits upstream for another user's turn does not count as silent.
func TestE08_TheIdleClockStandsStillWhileAPromptWaits(t *testing.T) {
	withBothServers(t, func(t *testing.T, e serverKind) {
		s := newServer(t, e)
		g := newGateway(t, s, memlog.New())
		defer g.close()
		g.wait(g.prompt("hello"))
		s.script = func(tn *turn) {
			if tn.p.by.id == "u_bob" {
				for range 20 {
					tn.pause(30 * time.Second)
					tn.say("more ")
				}
				tn.finish("end_turn", "")
				return
			}
			usual(tn)
		}
		s.bobPrompts("long")
		synctest.Wait()
		if stop, events := g.wait(g.prompt("tool")); stop.Outcome != trace.OutcomeCompleted || said(events) != "Let me look.|It says hello." {
			t.Errorf("%+v %q", stop, said(events))
		}
	})
}

// A turn that waits for an answer outlives the gateway. An answer after the restart reaches the
// agent.
func TestH27_AQuestionIsAnsweredAfterARestart(t *testing.T) {
	withBothServers(t, func(t *testing.T, e serverKind) {
		s := newServer(t, e)
		store := sharedStore{memlog.New()}
		first := newGateway(t, s, store)
		turn := first.prompt("question")
		time.Sleep(time.Second)
		first.close()
		time.Sleep(10 * time.Second)

		second := newGateway(t, s, store)
		defer second.close()
		time.Sleep(2 * time.Second)
		now, err := second.hub.Get(t.Context(), s.id)
		if err != nil || now.State != session.Paused || now.Turn != turn.ID {
			t.Fatalf("after the restart %s %s %v", now.State, now.Turn, err)
		}
		if _, err := second.hub.Answer(t.Context(), s.id, "que-"+s.runningTurn().id+"-"+turn.ID[len(turn.ID)-6:], session.Sender{By: "ada"}, []string{"green"}); err != nil {
			t.Fatal(err)
		}
		stop, events := second.wait(turn)
		if stop.Outcome != trace.OutcomeCompleted || said(events) != "Before I go on:|You chose green." {
			t.Errorf("%+v %q", stop, said(events))
		}
		if n := len(agenttest.Each[trace.Question](events)); n != 1 {
			t.Errorf("it was asked %d times", n)
		}
		if stop, events := second.wait(second.prompt("hello")); stop.Outcome != trace.OutcomeCompleted || said(events) != "You said: hello" {
			t.Errorf("the next turn: %+v %q", stop, said(events))
		}
	})
}

// Without a service token the gateway cannot follow a turn over a restart, and the turn's error
// names the reason.
func TestWithoutAServiceTokenATurnEndsWithTheGateway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, agentOpsServer)
		store := sharedStore{memlog.New()}
		first := newGateway(t, s, store)
		turn := first.prompt("slow")
		time.Sleep(time.Second)
		first.close()
		second := newGateway(t, s, store, func(r *agentops.Runtime) { r.Token = agentops.Credential{} })
		defer second.close()
		if stop, _ := second.wait(turn); stop.Outcome != trace.OutcomeFailed || stop.Reason != "restart" || !strings.Contains(stop.Error, "service token") {
			t.Errorf("%+v", stop)
		}
	})
}

var _ agent.Reattacher = agentops.Runtime{}
