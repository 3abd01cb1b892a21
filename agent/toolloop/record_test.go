package toolloop_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/agent/toolloop"
	"github.com/tributary-dev/tributary/trace"
)

// A tool runs when its call is on record, and not before: while the log cannot be written, another gateway may have the session.
func TestACallRunsWhenItIsOnRecord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		written := make(chan struct{})
		b := trace.NewBuilder(t.Context(), trace.Config{
			Turn: "t",
			Append: func(_ context.Context, events []trace.Event) error {
				if slices.ContainsFunc(events, func(e trace.Event) bool { return e.Payload.Kind() == trace.KindToolCall }) {
					<-written
				}
				return nil
			},
			Decide: func(trace.PermissionRequest, trace.ToolCall) (trace.PermissionResponse, bool) {
				return trace.PermissionResponse{Outcome: trace.Selected, OptionKind: trace.AllowOnce, By: "policy"}, true
			},
		})
		var ran counter
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			toolloop.Run(t.Context(), agenttest.NewHost(), b, &script{messages: []toolloop.Message{calls("one")}}, []toolloop.Message{toolloop.UserMessage(prompt("go"))}, []toolloop.Tool{echo("one", &ran)}, toolloop.Options{})
		}()
		synctest.Wait()
		if ran.Load() != 0 {
			t.Error("the call runs, and is not on record")
		}
		close(written)
		<-ended
		if ran.Load() != 1 {
			t.Errorf("the call has run %d times", ran.Load())
		}
		stop, _ := b.Result()
		if err := b.Finish(stop); err != nil {
			t.Error(err)
		}
	})
}
