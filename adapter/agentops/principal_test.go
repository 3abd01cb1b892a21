package agentops_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/trace"
)

// F12: two principals have tokens of their own. Each prompts, answers and aborts in its own name,
// although one socket reads the session for both.
func TestF12_E34_EachPrincipalPromptsAnswersAndAbortsInItsOwnName(t *testing.T) {
	withBothServers(t, func(t *testing.T, e serverKind) {
		st := newStage(t, e)
		var answers string
		st.host.OnAsk = func(context.Context, trace.Question) trace.Answer {
			return trace.Answer{Outcome: trace.Selected, Values: []string{"red"}, By: answers}
		}
		for i, who := range []string{"ada", "bob", "ada"} { // it is read by ada's
			answers = who
			if got := st.promptBy("question", sender{who: who}).completes(); got != "Before I go on:|You chose red." {
				t.Errorf("%s got %q", who, got)
			}
			p := st.promptBy(fmt.Sprint("slow ", i), sender{who: who})
			p.waitForText("well")
			p.cancel()
			p.end()
			synctest.Wait()
			if what := st.server.runningPrompt(); what != "" {
				t.Errorf("%q runs", what)
			}
		}
		var did []string
		for _, f := range st.server.received() {
			what, _ := f["type"].(string)
			if what == "(closed)" { // the connection of one frame
				continue
			}
			if f["content"] != nil {
				what = "prompt"
			}
			did = append(did, fmt.Sprint(f["who"], " ", what))
		}
		var want []string
		for _, who := range []string{"u_ada", "u_bob", "u_ada"} {
			want = append(want, who+" prompt", who+" answer", who+" prompt", who+" abort")
		}
		if !slices.Equal(did, want) {
			t.Errorf("the server got %q", did)
		}
		if n := len(st.host.Begun()); n != 0 {
			t.Errorf("%d turns were taken for another user's", n)
		}
	})
}

// F12: the socket of one principal reads the session. When the server revokes its token, the socket
// of another principal with an open turn takes over. No text is lost or comes twice.
func TestF12_AnotherPrincipalsSocketTakesOver(t *testing.T) {
	for _, code := range []websocket.StatusCode{0, websocket.StatusNormalClosure, websocket.StatusPolicyViolation, 4401} {
		t.Run(fmt.Sprint(int(code)), func(t *testing.T) {
			withBothServers(t, func(t *testing.T, e serverKind) {
				st := newStage(t, e)
				st.server.script = func(tn *turn) {
					tn.say("One, ")
					tn.pause(time.Second)
					if tn.p.by.name == "Bob" {
						synctest.Wait()
						st.server.revoke("token-ada", code)
					}
					tn.say("two, ")
					tn.pause(10 * time.Second)
					tn.tool("prt-1", "bash", "completed", object{"command": "ls"}, "a.go")
					tn.say("three.")
					tn.finish("end_turn", "")
				}
				st.promptBy("hello", sender{who: "ada"}).completes()
				stop, events := st.promptBy("hello", sender{who: "bob"}).end()
				if stop.Outcome != trace.OutcomeCompleted || streamed(events) != "One, two, three." {
					t.Errorf("%+v: %q", stop, streamed(events))
				}
				if errs := agenttest.Each[trace.Error](events); len(errs) != 0 {
					t.Errorf("%+v", errs)
				}
				if got := st.server.connected(); !slices.Equal(slices.Compact(got), []string{"u_bob"}) {
					t.Errorf("connected are %q", got)
				}
				if n := len(st.host.Begun()); n != 0 {
					t.Errorf("%d turns were taken for another user's", n)
				}
			})
		})
	}
}

// F12: another principal's socket replaces the one of a principal without an open turn. A socket
// that an open turn needs stays, also for hours.
func TestF12_TheSocketOfAPrincipalWithoutATurnIsReplaced(t *testing.T) {
	withBothServers(t, func(t *testing.T, e serverKind) {
		st := newStage(t, e)
		st.server.script = func(tn *turn) {
			if tn.p.content != "long" {
				usual(tn)
				return
			}
			tn.say("well")
			tn.pause(3 * time.Hour)
			tn.finish("end_turn", "")
		}
		wants := func(when string, want ...string) {
			t.Helper()
			synctest.Wait()
			if got := st.server.connected(); !slices.Equal(got, want) {
				t.Errorf("%s connected are %q, want %q", when, got, want)
			}
		}
		st.promptBy("hello", sender{who: "ada"}).completes()
		st.promptBy("hello", sender{who: "bob"}).completes()
		wants("after a turn of each", "u_ada")
		time.Sleep(2 * time.Minute)
		wants("some time later", "u_ada")
		p := st.promptBy("long", sender{who: "bob"})
		p.waitForText("well")
		wants("while bob's runs", "u_bob")
		time.Sleep(2 * time.Hour)
		wants("two hours later", "u_bob")
		p.cancel()
		if stop, events := p.end(); stop.Outcome != trace.OutcomeCanceled || said(events) != "well" {
			t.Errorf("%+v %q", stop, said(events))
		}
		if got := st.server.frames("abort"); len(got) != 1 || got[0]["who"] != "u_bob" {
			t.Errorf("%v", got)
		}
	})
}
