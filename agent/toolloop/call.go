package toolloop

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/trace"
)

// atOnce bounds how many calls of a step run at the same time.
const atOnce = 8

// job is a call on its way to its result.
type job struct {
	call  *Call
	shown trace.ToolCall
	tool  Tool
	fault string // why the call cannot run, whatever the policy allows
	agentkit.Approval
}

// calls runs the calls of a step and sets their results. The permissions of all calls
// are asked together; each call begins as soon as it is allowed.
func (l *loop) calls(ctx context.Context, interrupt context.CancelCauseFunc, calls []Call) {
	jobs := make([]*job, len(calls))
	for i := range calls {
		jobs[i] = l.write(&calls[i])
	}
	l.ask(jobs)
	slots := make(chan struct{}, atOnce)
	var group sync.WaitGroup
	for _, j := range jobs {
		group.Go(func() {
			r := l.permit(ctx, interrupt, j)
			if r.Status == "" {
				slots <- struct{}{}
				r = l.do(ctx, j)
				<-slots
			}
			r.ToolCallID = j.call.ID
			j.call.Result = &r
			l.b.ToolResult(r)
		})
	}
	group.Wait()
}

// write puts a call on record.
func (l *loop) write(c *Call) *job {
	j, text := &job{call: c}, string(c.Input)
	i := slices.IndexFunc(l.tools, func(t Tool) bool { return t.Name == c.Name })
	if i >= 0 {
		j.tool = l.tools[i]
	}
	c.Input, j.fault = j.tool.fit(c.Input)
	if i < 0 {
		j.fault = fmt.Sprintf("There is no tool %q. The tools are: %s.", c.Name, l.names())
	}
	j.shown = l.Table.Call(c.ID, c.Name, c.Input)
	if !json.Valid([]byte(text)) {
		j.shown.InputText = text
	}
	j.shown.ProviderState = c.State
	l.b.ToolCall(j.shown)
	return j
}

func (l *loop) names() string {
	names := make([]string, len(l.tools))
	for i, t := range l.tools {
		names[i] = t.Name
	}
	return strings.Join(names, ", ")
}

// ask requests permission for all calls that can run. The gateway keeps an "always", and
// its policy decides the next call by it.
func (l *loop) ask(jobs []*job) {
	jobs = slices.DeleteFunc(slices.Clone(jobs), func(j *job) bool { return j.fault != "" })
	asked := make([]trace.PermissionCheck, len(jobs))
	for i, j := range jobs {
		asked[i] = trace.PermissionCheck{Call: j.shown, Request: trace.PermissionRequest{
			RequestID: "allow-" + j.call.ID, ToolCallID: j.call.ID, Title: j.shown.Title,
		}}
	}
	for i, a := range agentkit.Approve(l.b, asked...) {
		jobs[i].Approval = a
	}
}

// permit waits for the permission of a call. The result of a call that may run has no
// status.
func (l *loop) permit(ctx context.Context, interrupt context.CancelCauseFunc, j *job) trace.ToolResult {
	if j.fault != "" {
		return trace.ToolResult{Status: trace.ToolFailed, Error: j.fault}
	}
	a, err := j.Wait(ctx, l.host)
	if err != nil {
		a = trace.PermissionResponse{Outcome: trace.Canceled, Reason: "The permission request could not be answered: " + err.Error()}
	}
	switch {
	case ctx.Err() != nil:
		return trace.ToolResult{Status: trace.ToolCanceled, Error: "The turn was stopped."}
	case !a.Allowed():
		if a.Interrupt {
			interrupt(agentkit.ErrInterrupted)
		}
		return trace.ToolResult{Status: trace.ToolDenied, Error: agentkit.Refusal(a)}
	case len(a.UpdatedInput) > 0:
		input, fault := j.tool.fit(a.UpdatedInput)
		if j.call.Input = input; fault != "" {
			return trace.ToolResult{Status: trace.ToolFailed, Error: "The person who allowed the call has changed its input. " + fault}
		}
	}
	return trace.ToolResult{}
}

// do runs a call. A panic of a tool fails the call, and not the gateway.
func (l *loop) do(ctx context.Context, j *job) (r trace.ToolResult) {
	defer func() {
		if p := recover(); p != nil {
			r = trace.ToolResult{Status: trace.ToolFailed, Error: fmt.Sprintf("the tool %s broke: %v\n%s", j.tool.Name, p, debug.Stack())}
		}
	}()
	var err error
	r.Status = trace.ToolCompleted
	if shown := (running{l.b, j.call.ID}); ctx.Err() == nil {
		if err := l.b.Flush(); err != nil { // a gateway that may have lost the session runs nothing for it
			return trace.ToolResult{Status: trace.ToolCanceled, Error: "The call could not be put on record."}
		}
		r.Output, err = j.tool.Run(context.WithValue(ctx, runningKey{}, shown), j.call.Input, shown)
	}
	switch {
	case ctx.Err() != nil:
		r.Status, r.Error = trace.ToolCanceled, "The turn was stopped."
	case err != nil:
		r.Status, r.Error = trace.ToolFailed, err.Error()
	}
	return r
}

// running is a call that runs.
type running struct {
	b      *trace.Builder
	callID string
}

type runningKey struct{}

// Write implements io.Writer: it shows what the call prints, and never fails.
func (r running) Write(text []byte) (int, error) {
	r.b.ToolResultDelta(r.callID, strings.ToValidUTF8(string(text), "\uFFFD"))
	return len(text), nil
}

// Changed puts on record that the call that runs with ctx has changed a file.
func Changed(ctx context.Context, c trace.FileChange) {
	if r, ok := ctx.Value(runningKey{}).(running); ok {
		c.ToolCallID = r.callID
		r.b.Emit(c)
	}
}
