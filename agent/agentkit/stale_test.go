//go:build unix

package agentkit_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/trace"
)

// An answer that waits behind another line is dropped if its request is withdrawn, or if the agent
// asks again under the same id: it would count for what the agent asks next.
func TestAnAnswerIsForNoLaterRequestOfTheSameID(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		later []message
		want  []string
	}{
		"withdrawn":           {[]message{{Drop: "a"}}, nil},
		"asked again":         {[]message{{Permit: "a"}}, []string{`{"answer":"a"}`}},
		"withdrawn and asked": {[]message{{Drop: "a"}, {Permit: "a"}}, []string{`{"answer":"a"}`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				host := agenttest.NewHost()
				allowed := map[string]trace.PermissionOutcome{"a": trace.Selected}
				host.OnPermit = func(_ context.Context, r trace.PermissionRequest) trace.PermissionResponse { // only the first is allowed
					return trace.PermissionResponse{Outcome: allowed[r.RequestID], ChosenOption: "allow"}
				}
				reads := make(chan struct{})
				var mu sync.Mutex
				var sent []string
				s := agentkit.New(host, agent.Config{}, agentkit.Options{Name: "The agent", Decoder: toy{}, Send: func(_ context.Context, data []byte) error {
					<-reads
					mu.Lock()
					defer mu.Unlock()
					sent = append(sent, string(data))
					return nil
				}})
				defer func() {
					s.Close()
					for _, r := range host.Begun() {
						_ = r.Finish(trace.Stop{Outcome: trace.OutcomeCompleted})
					}
				}()
				say := func(all ...message) {
					for _, m := range all {
						if err := s.Received(agent.Message{Dir: agent.Out, Data: line(m)}); err != nil {
							t.Error(err)
						}
						synctest.Wait()
					}
				}
				go func() { _ = s.Send(t.Context(), line(message{Hello: true})) }() // the agent does not read on
				synctest.Wait()
				say(message{Say: "I begin."}, message{Permit: "a"})
				say(c.later...)
				close(reads)
				synctest.Wait()
				mu.Lock()
				defer mu.Unlock()
				if want := append([]string{`{"hello":true}`}, c.want...); !slices.Equal(sent, want) {
					t.Errorf("the agent got %q, want %q", sent, want)
				}
			})
		})
	}
}
