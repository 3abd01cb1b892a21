package uiendpoint_test

import (
	"context"
	"errors"
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/adapter/uiendpoint"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/policy/toolkind"
	"github.com/tributary-dev/tributary/trace"
	"github.com/tributary-dev/tributary/uistream"
)

// clerk is an agent that is a function. The last message decides the answer.
func clerk(ctx context.Context, r uiendpoint.Request) iter.Seq2[uistream.Chunk, error] {
	return func(yield func(uistream.Chunk, error) bool) {
		say := func(text string) bool { return yield(uistream.TextDelta{ID: "t", Delta: text}, nil) }
		call := uistream.ToolInputAvailable{ToolCallID: "c1", ToolName: "pay", Input: []byte(`{"n":1}`)}
		if r.MessageID != "" {
			goOn(r, yield)
			return
		}
		switch r.Text() {
		case "recall":
			for _, m := range r.Messages {
				for _, p := range m.Parts {
					if strings.Contains(p.Text, "the Rhine") {
						say("Your river is the Rhine.")
						return
					}
				}
			}
			say("You told me nothing.")
		case "slow":
			for ctx.Err() == nil && say("word ") {
				time.Sleep(20 * time.Millisecond)
			}
		case "permit":
			_ = yield(call, nil) && yield(uistream.ToolApprovalRequest{ToolCallID: "c1", ApprovalID: "a1"}, nil)
		case "client":
			call.Form = uistream.Form{Static: true, Unmarked: true}
			yield(call, nil)
		case "fail":
			say("half")
			yield(nil, errors.New("the till is empty"))
		case "panic":
			say("half")
			panic("oh")
		case "nil":
			_ = yield(nil, nil) && say("something")
		default:
			say("You said: " + r.Text())
		}
	}
}

// goOn goes on with a message that waited for an answer.
func goOn(r uiendpoint.Request, yield func(uistream.Chunk, error) bool) {
	for _, p := range r.Messages[len(r.Messages)-1].Parts {
		switch {
		case p.Approval != nil && p.Approval.Approved:
			yield(uistream.ToolOutputAvailable{ToolCallID: p.ToolCallID, Output: []byte(`"paid"`)}, nil)
		case p.Approval != nil:
			yield(uistream.ToolOutputDenied{ToolCallID: p.ToolCallID}, nil)
		case p.Output != nil:
			yield(uistream.TextDelta{ID: "after", Delta: string(p.Output)}, nil)
		}
	}
}

func TestK15_K16_K17_SuiteOfAFunction(t *testing.T) {
	agenttest.Run(t, agenttest.Suite{
		AsWritten: true,
		Open: func(t testing.TB) agent.Runtime {
			r, err := uiendpoint.Func(clerk).Adapter("clerk").New(agent.Settings{})
			if err != nil {
				t.Fatal(err)
			}
			return r
		},
		Prompts: map[agenttest.Ability]string{
			agenttest.Text: "hello", agenttest.Slow: "slow", agenttest.Permission: "permit", agenttest.Question: "client",
			agenttest.Tell: "My river is the Rhine.", agenttest.Recall: "recall",
		},
		Without: agenttest.WithoutFaults("the agent is a function: there is no process and no wire"),
		Runs:    agenttest.Tells("paid", `{"n":1}`),
		Decoder: func() agent.Decoder { return uiendpoint.NewDecoder(toolkind.Table{}) },
		Word:    "the Rhine",
		Turns:   []string{"fail", "panic", "nil"},
	})
}

func TestAFunctionThatFailsFailsItsTurnAlone(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"fail": "The agent did not go on: the till is empty", "panic": "The agent did not go on: the function panicked: oh"} {
		c := open(t, uiendpoint.Runtime{Func: clerk}, agenttest.NewHost())
		events, stop := c.plays(text)
		if said := strings.TrimSpace(agenttest.Said(events)); said != "half" || stop.Outcome != trace.OutcomeFailed || stop.Error != want {
			t.Errorf("%s: the turn said %q and ended with %+v", text, said, stop)
		}
		if events, stop = c.plays("hello"); stop.Outcome != trace.OutcomeCompleted || !strings.Contains(agenttest.Said(events), "You said: hello") {
			t.Errorf("after it: %+v", stop)
		}
	}
}
