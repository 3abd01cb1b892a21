package uistream_test

import (
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/trace"
	"github.com/tributary-dev/tributary/uistream"
)

// The state of a provider is for its adapter alone.
func TestTheStateOfAProviderReachesNoClient(t *testing.T) {
	t.Parallel()
	records := write(t, completed(), func(b *trace.Builder) {
		b.ToolCall(trace.ToolCall{ToolCallID: "a", RawName: "bash", Input: input(`{}`), ProviderState: input(`{"signature":"SECRET"}`)})
		b.ToolResult(trace.ToolResult{ToolCallID: "a", Status: trace.ToolCompleted})
	})
	kept := false
	for _, r := range records {
		c, is := r.Payload.(trace.ToolCall)
		kept = kept || is && string(c.ProviderState) == `{"signature":"SECRET"}`
	}
	if !kept {
		t.Error("the state is not on record")
	}
	for name, o := range map[string]uistream.Options{
		"as usual": {Profile: uistream.Newest()}, "by the RFC": {RFC: true, Profile: uistream.Newest()}, "for an upstream": {Native: true, Profile: uistream.Newest()},
	} {
		if got := lines(translate(o, records)); !strings.Contains(got, "bash") || strings.Contains(got, "SECRET") {
			t.Errorf("%s: %s", name, got)
		}
	}
}
