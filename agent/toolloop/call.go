package toolloop

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"github.com/tributary-dev/tributary/trace"
)

// atOnce bounds how many calls of a step run at the same time.
const atOnce = 8

// job is a call on its way to its result.
type job struct {
	call  *Call
	shown trace.ToolCall
	tool  Tool
	fault string // why the call cannot run, whatever anybody allows
	trace.PermissionDecision
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
	var running sync.WaitGroup
	for _, j := range jobs {
		running.Go(func() {
			if l.allowed(ctx, interrupt, j) {
				slots <- struct{}{}
				l.do(ctx, j)
				<-slots
			}
			l.b.ToolResult(*j.call.Result)
		})
	}
	running.Wait()
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
	j.shown = l.show(c)
	if !json.Valid([]byte(text)) {
		j.shown.InputText = text
	}
	l.b.ToolCall(j.shown)
	return j
}

func (l *loop) show(c *Call) trace.ToolCall {
	t := l.Table.Classify(c.Name, c.Input)
	return trace.ToolCall{ToolCallID: c.ID, RawName: c.Name, Name: t.Name, ToolKind: t.Kind, Title: t.Title, Input: c.Input, Locations: t.Locations}
}

func (l *loop) names() string {
	names := make([]string, len(l.tools))
	for i, t := range l.tools {
		names[i] = t.Name
	}
	return strings.Join(names, ", ")
}

// fit reads an input and says why it cannot be run, or "". A key that stands twice, or that
// the tool does not know, is refused: readers of JSON differ about both, and the policy has
// to judge what runs.
func (t Tool) fit(input json.RawMessage) (fits json.RawMessage, fault string) {
	if len(bytes.TrimSpace(input)) == 0 {
		input = json.RawMessage("{}")
	}
	given, err := keys(input)
	if err != nil {
		return json.RawMessage("{}"), "The input " + err.Error() + ": write the call again."
	}
	var schema struct {
		Properties map[string]json.RawMessage `json:"properties"`
		Required   []string                   `json:"required"`
		Additional any                        `json:"additionalProperties"`
	}
	_ = json.Unmarshal(t.Schema, &schema) // a tool without a schema takes anything
	for _, name := range schema.Required {
		if !slices.Contains(given, name) {
			return input, fmt.Sprintf("The input lacks %q: write the call again.", name)
		}
	}
	for _, name := range given {
		if _, ok := schema.Properties[name]; !ok && schema.Additional == false {
			return input, fmt.Sprintf("The input has %q, which the tool does not know: write the call again.", name)
		}
	}
	return input, ""
}

// keys returns the keys of a JSON object.
func keys(input json.RawMessage) (all []string, err error) {
	if !json.Valid(input) || !bytes.HasPrefix(bytes.TrimSpace(input), []byte("{")) {
		return nil, errors.New("is not a JSON object")
	}
	d := json.NewDecoder(bytes.NewReader(input))
	_, err = d.Token()
	for err == nil && d.More() {
		var key json.Token
		var value json.RawMessage
		if key, err = d.Token(); err == nil {
			err = d.Decode(&value)
		}
		name, _ := key.(string)
		if slices.Contains(all, name) {
			return nil, fmt.Errorf("has %q twice", name)
		}
		all = append(all, name)
	}
	return all, err
}

// options are the answers that a person can choose from. The gateway keeps an "always",
// and its policy decides the next call by it.
func options() []trace.PermissionOption {
	return []trace.PermissionOption{
		{ID: "allow", Name: "Allow", OptionKind: trace.AllowOnce},
		{ID: "always", Name: "Always allow", OptionKind: trace.AllowAlways},
		{ID: "deny", Name: "Deny", OptionKind: trace.RejectOnce},
	}
}

// ask requests permission for all calls that can run.
func (l *loop) ask(jobs []*job) {
	var asked []trace.PermissionAsk
	var waiting []*job
	for _, j := range jobs {
		if j.fault != "" {
			continue
		}
		a := trace.PermissionAsk{Request: trace.PermissionRequest{
			RequestID: "allow-" + j.call.ID, ToolCallID: j.call.ID, Title: j.shown.Title,
			Options: options(),
		}, Call: j.shown}
		asked, waiting = append(asked, a), append(waiting, j)
	}
	for i, d := range l.b.PermissionRequests(asked...) {
		waiting[i].PermissionDecision = d
	}
}

// allowed reports whether the call may run. If not, the call has its result.
func (l *loop) allowed(ctx context.Context, interrupt context.CancelCauseFunc, j *job) bool {
	if j.fault != "" {
		return j.end(trace.ToolFailed, j.fault)
	}
	if !j.Decided {
		answer, err := l.host.Permit(ctx, j.ID)
		if err != nil && ctx.Err() == nil {
			return j.end(trace.ToolDenied, "The permission request could not be answered: "+err.Error())
		}
		j.Answer = answer
	}
	switch a := j.Answer; {
	case ctx.Err() != nil:
		return j.end(trace.ToolCanceled, "The turn was stopped.")
	case a.Allowed() && len(a.UpdatedInput) == 0:
		return true
	case a.Allowed():
		input, fault := j.tool.fit(a.UpdatedInput)
		if j.call.Input = input; fault != "" {
			return j.end(trace.ToolFailed, "The person who allowed the call has changed its input. "+fault)
		}
		return true
	case a.Interrupt:
		interrupt(errInterrupted)
		return j.end(trace.ToolDenied, a.Reason)
	case a.Outcome == trace.Expired:
		return j.end(trace.ToolDenied, "Nobody answered in time.")
	case a.Outcome == trace.Canceled && a.Reason == "":
		return j.end(trace.ToolDenied, "The permission request was withdrawn.")
	default:
		return j.end(trace.ToolDenied, a.Reason)
	}
}

func (j *job) end(s trace.ToolStatus, why string) bool {
	j.call.Result = &trace.ToolResult{ToolCallID: j.call.ID, Status: s, Error: why}
	return false
}

// do runs a call.
func (l *loop) do(ctx context.Context, j *job) {
	output, err := j.run(context.WithValue(ctx, recordKey{}, l.recorder(j.call.ID)), printer{l.b, j.call.ID})
	r := trace.ToolResult{ToolCallID: j.call.ID, Status: trace.ToolCompleted, Output: output}
	switch {
	case ctx.Err() != nil:
		r.Status, r.Error = trace.ToolCanceled, "The turn was stopped."
	case err != nil:
		r.Status, r.Error = trace.ToolFailed, err.Error()
	}
	j.call.Result = &r
}

// run calls the tool. A panic of a tool fails the call, and not the gateway.
func (j *job) run(ctx context.Context, out io.Writer) (output json.RawMessage, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the tool %s broke: %v\n%s", j.tool.Name, p, debug.Stack())
		}
	}()
	if ctx.Err() != nil {
		return nil, errors.New("the turn was stopped before the call began")
	}
	return j.tool.Run(ctx, j.call.Input, out)
}

// printer shows what a call prints while it runs.
type printer struct {
	b      *trace.Builder
	callID string
}

// Write implements io.Writer. It never fails.
func (p printer) Write(text []byte) (int, error) {
	p.b.ToolResultDelta(p.callID, strings.ToValidUTF8(string(text), "\uFFFD"))
	return len(text), nil
}

type recordKey struct{}

// recorder returns what Changed calls.
func (l *loop) recorder(toolCallID string) func(trace.FileChange) {
	return func(c trace.FileChange) {
		c.ToolCallID = toolCallID
		l.b.Emit(c)
	}
}

// Changed puts on record that the call that runs with ctx has changed a file.
func Changed(ctx context.Context, c trace.FileChange) {
	if record, ok := ctx.Value(recordKey{}).(func(trace.FileChange)); ok {
		record(c)
	}
}
