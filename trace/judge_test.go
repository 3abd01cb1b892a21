package trace_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/trace"
)

// A policy may wait for a file system that hangs. The Builder is not locked
// meanwhile: the rest of the turn goes on.
func TestPolicyJudgesWithoutTheLockOfTheTurn(t *testing.T) {
	t.Parallel()
	began, goOn := make(chan struct{}), make(chan struct{})
	b := trace.NewBuilder(t.Context(), trace.Config{
		Turn:   "turn",
		Append: func(context.Context, []trace.Event) error { return nil },
		Judge: func(trace.PermissionRequest, trace.ToolCall) (trace.PermissionResponse, bool) {
			close(began)
			<-goOn
			return trace.PermissionResponse{}, false
		},
	})
	asked := make(chan struct{})
	go func() {
		defer close(asked)
		b.PermissionRequest(trace.PermissionRequest{RequestID: "r", ToolCallID: "c"}, trace.ToolCall{RawName: "Read", Input: json.RawMessage(`{}`)})
	}()
	<-began
	said := make(chan struct{})
	go func() {
		defer close(said)
		b.Message("m", "text")
	}()
	select {
	case <-said:
	case <-time.After(10 * time.Second):
		t.Error("the turn waits for the policy")
	}
	close(goOn)
	<-asked
	<-said
	if err := b.Finish(trace.Stop{Outcome: trace.OutcomeCompleted}); err != nil {
		t.Fatal(err)
	}
}
