package agentops_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tributary-dev/tributary/adapter/agentops"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/eventlog/memlog"
	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/trace"
)

// allow approves every request in the name of a user.
func allow(who string) func(context.Context, trace.PermissionRequest) trace.PermissionResponse {
	return func(context.Context, trace.PermissionRequest) trace.PermissionResponse {
		return trace.PermissionResponse{Outcome: trace.Selected, ChosenOption: "approve", OptionKind: trace.AllowOnce, By: who}
	}
}

// The server gets an approval in the name of the user who gave it. If the server does not know
// that user, or does not let them approve, the request goes on waiting.
func TestAnApprovalIsSentInTheNameOfItsGiver(t *testing.T) {
	for _, c := range []struct {
		name, prompts, answers, by string
		refused                    string
	}{
		{"the owner's own", "ada", "ada", "u_ada", ""},
		{"the owner for a collaborator", "bob", "ada", "u_ada", ""},
		{"an unknown user for the owner", "ada", "zoe", "", "does not know the person who gave it"},
		{"a collaborator", "bob", "bob", "", "only the owner"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				st := newStage(t, agentOpsServer)
				st.promptBy("hello", sender{who: "ada"}).completes() // she is known from now on
				st.host.OnPermit = allow(c.answers)
				p := st.promptBy("permission", sender{who: c.prompts})
				if c.refused != "" {
					time.Sleep(time.Second)
					synctest.Wait()
					if n := len(st.server.frames("approve")); n != 0 || len(st.server.openRequests()) != 1 {
						t.Errorf("%d approvals got through", n)
					}
					st.server.resolve("inv-"+st.server.runningTurn().id, "deny", user{id: "u_ada"})
				}
				stop, events := p.end()
				errs := agenttest.Each[trace.Error](events)
				if c.refused != "" {
					if stop.Outcome != trace.OutcomeCompleted || len(errs) != 1 || !strings.Contains(errs[0].Message, c.refused) {
						t.Errorf("%+v %+v", stop, errs)
					}
					return
				}
				got := st.server.frames("approve")
				if stop.Outcome != trace.OutcomeCompleted || len(errs) != 0 || len(got) != 1 || got[0]["who"] != c.by {
					t.Errorf("%+v %+v, approved by %v", stop, errs, got)
				}
			})
		})
	}
}

// A request that expires or is answered upstream is settled here, and no answer is sent.
func TestARequestThatIsSettledUpstreamIsSettledHere(t *testing.T) {
	for _, c := range []struct {
		name, prompt string
		settle       func(*server, string)
		want         trace.PermissionOutcome
		eras         []serverKind
	}{
		{"approval expired", "permission", func(s *server, id string) { s.expire(id) }, trace.Expired, []serverKind{gatewayServer, agentOpsServer}},
		{"approval given", "permission", func(s *server, id string) { s.resolve(id, "approve", user{id: "u_ada"}) }, trace.Selected, []serverKind{gatewayServer, agentOpsServer}},
		{"question expired", "question", func(s *server, id string) { s.expire(id) }, trace.Expired, []serverKind{gatewayServer, agentOpsServer}},
		{"question answered", "question", func(s *server, id string) { s.resolve(id, "red", user{id: "u_ada"}) }, trace.Selected, []serverKind{gatewayServer, agentOpsServer}},
	} {
		for _, e := range c.eras {
			t.Run(c.name+" "+string(e), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					st := newStage(t, e)
					waits := func(ctx context.Context) { <-ctx.Done() }
					st.host.OnPermit = func(ctx context.Context, _ trace.PermissionRequest) trace.PermissionResponse {
						waits(ctx)
						return trace.PermissionResponse{}
					}
					st.host.OnAsk = func(ctx context.Context, _ trace.Question) trace.Answer {
						waits(ctx)
						return trace.Answer{}
					}
					p := st.prompt(c.prompt)
					time.Sleep(time.Second)
					synctest.Wait()
					for id := range st.server.openRequests() {
						c.settle(st.server, id)
						break
					}
					stop, events := p.end()
					outcomes := []trace.PermissionOutcome{}
					for _, r := range agenttest.Each[trace.PermissionResponse](events) {
						outcomes = append(outcomes, r.Outcome)
					}
					for _, a := range agenttest.Each[trace.Answer](events) {
						outcomes = append(outcomes, a.Outcome)
					}
					if stop.Outcome != trace.OutcomeCompleted || len(outcomes) != 1 || outcomes[0] != c.want {
						t.Errorf("%+v: %v", stop, outcomes)
					}
					for _, typ := range []string{"answer", "approve", "deny", "approve-action", "deny-action"} {
						if n := len(st.server.frames(typ)); n != 0 {
							t.Errorf("%d times %s was sent", n, typ)
						}
					}
				})
			})
		}
	}
}

// The adapter sends a decision of the policy at once and asks no user.
func TestAPolicyDecisionIsSentAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newStage(t, agentOpsServer)
		st.host.Judge = func(trace.PermissionRequest, trace.ToolCall) (trace.PermissionResponse, bool) {
			return trace.PermissionResponse{Outcome: trace.Selected, ChosenOption: "deny", OptionKind: trace.RejectOnce, Reason: "no mail"}, true
		}
		if got := st.prompt("permission").completes(); got != "I would like to mail.|I did not send it." {
			t.Errorf("%q", got)
		}
		if got := st.server.frames("deny"); len(got) != 1 || got[0]["reason"] != "no mail" {
			t.Errorf("%v", got)
		}
	})
}

// An answer by somebody who has prompted goes through a socket of their own.
func TestAnAnswerIsSentInTheNameOfItsGiver(t *testing.T) {
	withBothServers(t, func(t *testing.T, e serverKind) {
		st := newStage(t, e)
		st.promptBy("hello", sender{who: "ada"}).completes()
		st.promptBy("hello", sender{who: "bob"}).completes()
		st.host.OnAsk = func(context.Context, trace.Question) trace.Answer {
			return trace.Answer{Outcome: trace.Selected, Values: []string{"green"}, By: "bob"}
		}
		if got := st.prompt("question").completes(); got != "Before I go on:|You chose green." {
			t.Errorf("%q", got)
		}
		if got := st.server.frames("answer"); len(got) != 1 || got[0]["who"] != "u_bob" {
			t.Errorf("%v", got)
		}
	})
}

// A user who has not prompted answers with the token of their own request. An answer without a
// token for the server is refused, and the question goes on waiting.
func TestAnAnswerWithoutATokenIsRefused(t *testing.T) {
	withBothServers(t, func(t *testing.T, e serverKind) {
		s := newServer(t, e)
		g := newGateway(t, s, memlog.New(), func(r *agentops.Runtime) { r.Token = agentops.Credential{} })
		defer g.close()
		turn := g.promptAs("question", agent.Caller{Bearer: "token-ada"})
		time.Sleep(time.Second)
		if len(s.openRequests()) != 1 {
			t.Fatalf("%d questions", len(s.openRequests()))
		}
		id := "que-" + s.runningTurn().id + "-" + turn.ID[len(turn.ID)-6:]
		green := []string{"green"}
		for _, who := range []session.Sender{{By: "zoe"}, {By: "bob"}, {}} {
			if _, err := g.hub.Answer(t.Context(), s.id, id, who, green); !errors.Is(err, agent.ErrNotKnownThere) {
				t.Errorf("%q: %v", who.By, err)
			}
		}
		time.Sleep(time.Second)
		if got := s.frames("answer"); len(got) != 0 || len(s.openRequests()) != 1 {
			t.Errorf("it was answered: %v", got)
		}
		if _, err := g.hub.Answer(t.Context(), s.id, id, session.Sender{By: "bob", Caller: agent.Caller{Bearer: "token-bob"}}, green); err != nil {
			t.Fatal(err)
		}
		stop, events := g.wait(turn)
		if stop.Outcome != trace.OutcomeCompleted || said(events) != "Before I go on:|You chose green." {
			t.Errorf("%+v %q", stop, said(events))
		}
		if got := s.frames("answer"); len(got) != 1 || got[0]["who"] != "u_bob" {
			t.Errorf("%v", got)
		}
	})
}

// E35: a question can be answered while a prompt of another user waits behind it.
func TestE35_AQuestionCanBeAnsweredWhileAPromptWaits(t *testing.T) {
	withBothServers(t, func(t *testing.T, e serverKind) {
		st := newStage(t, e)
		asked, answers := make(chan struct{}), make(chan struct{})
		st.host.OnAsk = func(ctx context.Context, _ trace.Question) trace.Answer {
			close(asked)
			select {
			case <-answers:
			case <-ctx.Done():
			}
			return trace.Answer{Outcome: trace.Selected, Values: []string{"green"}, By: "ada"}
		}
		p := st.prompt("question")
		<-asked
		st.server.bobPrompts("hello")
		time.Sleep(time.Minute)
		close(answers)
		if got := p.completes(); got != "Before I go on:|You chose green." {
			t.Errorf("%q", got)
		}
		time.Sleep(time.Minute)
		if _, events := st.otherTurn(); said(events) != "You said: hello" {
			t.Errorf("the other turn said %q", said(events))
		}
	})
}
