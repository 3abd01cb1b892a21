//go:build linux

package agents_test

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/internal/testkit/scriptedmodel"
	"github.com/tributary-dev/tributary/trace"
)

// A script is one turn that every agent plays, in the order of scripts.
type script struct {
	name   string
	prompt string // DIR is the workspace
	// shape is what the Trace has of it; see shapeOf.
	// Empty: agents differ too much in it.
	shape string
	// choose answers a permission request; stopAt stops the turn at the first
	// record of that kind.
	choose trace.OptionKind
	stopAt trace.Kind
	// text stands in the last message, made and missing say what the workspace
	// holds after it.
	text    string
	made    string
	missing string
}

// Shapes that more than one script has.
const (
	answered = "message stop:completed"
	oneTool  = "message tool_call tool_result:completed message stop:completed"
	allowed  = "message tool_call permission_request permission_response:allow tool_result:completed message stop:completed"
	failed   = "stop:failed"
)

func scripts() []script {
	return []script{
		{name: "plain", prompt: "[[script:think]] The word is heron.", shape: answered, text: scriptedmodel.ThinkText},
		{name: "tool", prompt: "[[script:read DIR/hello.txt]]", shape: oneTool, text: "hello from a file"},
		{name: "parallel", prompt: "[[script:both DIR/hello.txt]]", shape: "message tool_call tool_call tool_result:completed tool_result:completed message stop:completed"},
		{name: "allow", prompt: "[[script:escalate touch DIR/allowed]]", choose: trace.AllowOnce, shape: allowed, made: "allowed"},
		{
			name: "deny", prompt: "[[script:escalate touch DIR/denied]]", choose: trace.RejectOnce, missing: "denied",
			shape: "message tool_call permission_request permission_response:reject tool_result:denied message stop:completed",
		},
		{name: "write", prompt: "[[script:write DIR/written.txt]]", choose: trace.AllowOnce, shape: allowed, made: "written.txt"},
		{name: "plan", prompt: "[[script:plan look | leap | land]]", choose: trace.AllowOnce},
		{name: "question", prompt: "[[script:ask Which colour? | Red | Blue]]", choose: trace.AllowOnce},
		{name: "stop in text", prompt: "[[script:slow 100]]", stopAt: trace.KindMessageDelta, shape: "message stop:canceled"},
		{name: "after a stop", prompt: "[[script:plain]]", shape: answered, text: scriptedmodel.PlainText},
		{
			name: "stop at a request", prompt: "[[script:escalate touch DIR/stopped]]", stopAt: trace.KindPermissionRequest, missing: "stopped",
			shape: "message tool_call permission_request permission_response:canceled tool_result:canceled stop:canceled",
		},
		{name: "error", prompt: "[[script:error 400]]", shape: failed},
		{name: "error in mid-stream", prompt: "[[script:error-event]]", shape: "message " + failed},
		{name: "after an error", prompt: "[[script:plain]]", shape: answered, text: scriptedmodel.PlainText},
		{name: "always", prompt: "[[script:escalate touch DIR/always]]", choose: trace.AllowAlways, shape: allowed, made: "always"},
		{name: "always, again", prompt: "[[script:escalate touch DIR/always]]", choose: trace.AllowOnce, shape: oneTool},
	}
}

// recall is played after a restart of the gateway.
func recall() script {
	return script{name: "resume", prompt: "[[script:recall]]", shape: answered, text: "heron"}
}

// play plays a script and returns the records of its turn.
func (b *bench) play(t *testing.T, s script, limit time.Duration) []trace.Record {
	t.Helper()
	outer := b.T
	var stopping sync.WaitGroup
	stop := sync.OnceFunc(func() { stopping.Go(b.stop) })
	defer func() {
		stopping.Wait()
		b.T = outer
	}()
	late := time.AfterFunc(limit, stop)
	defer late.Stop()
	b.T = t
	turn, err := b.turn(strings.ReplaceAll(s.prompt, "DIR", b.agent.Dir), patience, func(p trace.Payload) {
		switch p := p.(type) {
		case trace.PermissionRequest:
			switch {
			case s.stopAt == trace.KindPermissionRequest:
				stop()
			case p.DecidedBy == "":
				b.call("POST", b.path("/permissions/"+p.RequestID), choice(p, s.choose))
			}
		case trace.Question:
			b.call("POST", b.path("/questions/"+p.QuestionID), map[string]any{"value": "Blue"})
		case trace.MessageDelta:
			if s.stopAt == trace.KindMessageDelta {
				stop()
			}
		}
	})
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, shapeOf(turn), b.server.Said())
	}
	return turn
}

// choice is the answer of that kind; an agent without such an option gets the
// one that is next to it.
func choice(r trace.PermissionRequest, want trace.OptionKind) map[string]any {
	for _, kind := range []trace.OptionKind{want, map[trace.OptionKind]trace.OptionKind{trace.AllowAlways: trace.AllowOnce}[want]} {
		if i := slices.IndexFunc(r.Options, func(o trace.PermissionOption) bool { return o.OptionKind == kind }); i >= 0 {
			return map[string]any{"option": r.Options[i].ID}
		}
	}
	return map[string]any{"approved": want != trace.RejectOnce}
}

// shapeOf is a turn as a grader sees it: its kinds in the order in which they
// began, and how its calls, its requests and itself ended. Thoughts, steps, usage,
// errors and the like are left out, since not every agent tells of them, and so are
// the requests that a policy answers. Messages in a row count as one. Of calls and
// results in a row the calls stand first, because the agent decides whether the
// calls of one answer run side by side.
func shapeOf(turn []trace.Record) string {
	var out []string
	add := func(word string) {
		if word != "message" || len(out) == 0 || out[len(out)-1] != word {
			out = append(out, word)
		}
	}
	policy := map[string]bool{}        // requests that no person saw
	begun := map[string]bool{"": true} // parts without a text, and what has begun
	for _, r := range turn {
		if p, ok := r.Payload.(trace.Message); ok && p.Text == "" {
			begun[p.Part] = true
		}
	}
	begin := func(word, id string) {
		if !begun[id] {
			begun[id] = true
			add(word)
		}
	}
	for _, r := range turn {
		switch p := r.Payload.(type) {
		case trace.MessageStart:
			begin("message", p.Part)
		case trace.Message:
			begin("message", p.Part)
		case trace.ToolCallStart:
			begin("tool_call", p.ToolCallID)
		case trace.ToolCall: // told again when the agent says more of it
			begin("tool_call", p.ToolCallID)
		case trace.ToolResult:
			add("tool_result:" + string(p.Status))
		case trace.PermissionRequest:
			if policy[p.RequestID] = p.DecidedBy != ""; !policy[p.RequestID] {
				add("permission_request")
			}
		case trace.PermissionResponse:
			if !policy[p.RequestID] {
				add("permission_response:" + verdict(p))
			}
		case trace.Stop:
			add("stop:" + string(p.Outcome))
		}
	}
	for i := range out {
		for j := i; j > 0 && out[j] == "tool_call" && strings.HasPrefix(out[j-1], "tool_result"); j-- {
			out[j], out[j-1] = out[j-1], out[j]
		}
	}
	return strings.Join(out, " ")
}

func verdict(p trace.PermissionResponse) string {
	switch {
	case p.Outcome != trace.Selected:
		return string(p.Outcome)
	case p.OptionKind == trace.RejectOnce || p.OptionKind == trace.RejectAlways:
		return "reject"
	}
	return "allow"
}
