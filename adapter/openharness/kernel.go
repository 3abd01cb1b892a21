package openharness

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/trace"
)

// event is an event of the kernel.
type event struct {
	Type       string   `json:"type"`
	Flow       string   `json:"flowName"`
	Status     string   `json:"status"`
	Node       string   `json:"nodeId"`
	Run        string   `json:"runId"`
	Output     raw      `json:"output"`
	Error      raw      `json:"error"`
	Reason     string   `json:"reason"`
	Edge       string   `json:"edgeId"`
	From       string   `json:"from"`
	To         string   `json:"to"`
	Iteration  int      `json:"iteration"`
	Patch      raw      `json:"patch"`
	Model      string   `json:"model"`
	Content    string   `json:"content"`
	ToolName   string   `json:"toolName"`
	ToolInput  raw      `json:"toolInput"`
	ToolOutput raw      `json:"toolOutput"`
	ErrorType  string   `json:"errorType"`
	Message    string   `json:"message"`
	Result     raw      `json:"result"`
	Usage      usage    `json:"usage"`
	Cost       *float64 `json:"totalCostUsd"`
}

type usage struct {
	Input      int64 `json:"inputTokens"`
	Output     int64 `json:"outputTokens"`
	CacheWrite int64 `json:"cacheCreationInputTokens"`
	CacheRead  int64 `json:"cacheReadInputTokens"`
}

// kernel takes an event of the kernel. The end of a flow is the end of the turn; the end of
// an agent is that only where no event tells of a flow.
func (d *Decoder) kernel(data raw) error {
	var e event
	if err := json.Unmarshal(data, &e); err != nil {
		return fmt.Errorf("this is no event of Open Harness: %w", err)
	}
	begins := unknown
	switch e.Type {
	case "flow:start", "node:start", "agent:start", "agent:text", "agent:text:delta", "agent:thinking", "agent:thinking:delta", "agent:tool":
		begins = kernel
	}
	t := d.open(begins)
	if t == nil {
		return nil
	}
	t.flow = t.flow || strings.HasPrefix(e.Type, "flow:")
	switch e.Type {
	case "flow:start", "flow:resumed":
		t.status("running", e.Flow)
		d.resumed("")
	case "flow:paused":
		t.status("paused", e.Flow)
		d.paused(t)
	case "flow:aborted":
		t.status("aborted", e.Flow)
		t.end("aborted", trace.OutcomeCanceled, "")
	case "flow:complete":
		t.status(cmp.Or(e.Status, "complete"), e.Flow)
		if e.Status == "failed" {
			t.end("error", trace.OutcomeFailed, cmp.Or(t.why, plain(e.Error), "The flow failed, and does not say why."))
		} else {
			t.end("stop", trace.OutcomeCompleted, "")
		}
	case "node:start":
		t.begin(t.run(e.Node, e.Run), e.Node, "")
	case "node:complete":
		t.domain("node-output", map[string]any{"nodeId": e.Node, "runId": e.Run, "output": e.Output})
		t.leave(t.run(e.Node, e.Run))
	case "node:error":
		t.fail(cmp.Or(plain(e.Error), e.Message, "The node "+e.Node+" failed."), "")
		t.leave(t.run(e.Node, e.Run))
		t.alone("error", trace.OutcomeFailed, t.why)
	case "node:skipped":
		t.domain("node", map[string]string{"nodeId": e.Node, "status": "skipped", "reason": e.Reason})
	case "edge:fire":
		t.domain("edge", map[string]string{"edgeId": e.Edge, "from": e.From, "to": e.To})
	case "loop:iterate":
		t.domain("loop", map[string]any{"edgeId": e.Edge, "iteration": e.Iteration})
	case "state:patch":
		t.domain("state-patch", e.Patch)
	default:
		if strings.HasPrefix(e.Type, "agent:") {
			r := t.run(e.Node, e.Run)
			r.busy = true
			d.agent(t, r, e)
		}
	}
	return nil
}

// agent takes an event of an agent.
func (d *Decoder) agent(t *turn, r *run, e event) {
	switch e.Type {
	case "agent:start":
		t.survived()
		if more := len(e.Model) - len(r.model); more != 0 {
			t.b.Hold(more)
		}
		r.model, r.spoken, r.deltas = e.Model, false, map[bool][]byte{}
		d.uses(e.Model)
	case "agent:thinking:delta", "agent:text:delta":
		r.delta(e.Type == "agent:thinking:delta", e.Content)
	case "agent:thinking", "agent:text":
		r.whole(e.Type == "agent:thinking", e.Content)
	case "agent:tool":
		r.tool(e.ToolName, e.ToolInput, e.ToolOutput, plain(e.Error))
	case "agent:error":
		r.close()
		r.busy = false
		t.fail(cmp.Or(e.Message, plain(e.Error), "The agent failed, and does not say why."), trace.ClassOfWord(e.ErrorType))
		t.alone("error", trace.OutcomeFailed, t.why)
	case "agent:complete":
		if !r.spoken {
			r.whole(false, plain(e.Result))
		}
		r.close()
		r.busy = false
		t.count(r, e)
		t.alone("stop", trace.OutcomeCompleted, "")
	case "agent:aborted":
		r.close()
		r.busy = false
		t.alone("aborted", trace.OutcomeCanceled, "")
	case "agent:paused":
		r.close()
		if !t.flow {
			d.paused(t)
		}
	}
}

// uses puts on record which model an agent of the flow uses now. A word such as default or sonnet
// names no model, and has neither a digit nor a hyphen.
func (d *Decoder) uses(model string) {
	if model != d.model && strings.ContainsAny(model, "0123456789-") {
		d.model = model
		d.turns.Note(trace.AgentInfo{Model: model}.Payload())
	}
}

// alone ends the turn of agents that run without a flow, after the last of them.
func (t *turn) alone(reason string, outcome trace.Outcome, sentence string) {
	for _, r := range t.runs {
		if r.busy {
			return
		}
	}
	if !t.flow {
		t.end(reason, outcome, sentence)
	}
}

// count adds the usage of a run to that of the turn, which is on record once, at the end. The kernel passes on Anthropic's
// counts, which report cached tokens apart.
func (t *turn) count(r *run, e event) {
	u := &t.usage
	u.Scope, u.Model = trace.UsageTurn, cmp.Or(r.model, u.Model)
	*u = u.Plus(trace.Usage{
		InputTokens: e.Usage.Input, OutputTokens: e.Usage.Output, CacheReadTokens: e.Usage.CacheRead, CacheWriteTokens: e.Usage.CacheWrite, CostUSD: e.Cost,
	}.CacheApart())
}

// goOn is the choice by which a paused flow goes on without a message.
const goOn = "Go on"

// paused asks a person how a paused flow goes on.
func (d *Decoder) paused(t *turn) {
	for _, r := range t.runs {
		r.close()
	}
	switch {
	case t.pause != nil:
		return
	case t.stopped:
		t.end("stopped", trace.OutcomeCanceled, "")
		return
	}
	q := trace.Question{QuestionID: "pause", Text: "The flow is paused. Let it go on, or send it a message.", Choices: []trace.Choice{{Label: goOn}}}
	a := agentkit.Ask(t.b, "pause", []trace.Question{q}, func(a []trace.Answer) raw {
		c := command{Type: "resume"}
		if a[0].Outcome != trace.Selected || len(a[0].Values) == 0 {
			c = abort("nobody resumed the flow")
		} else if a[0].Values[0] != goOn {
			c.Message = &a[0].Values[0]
		}
		return c.call().JSON()
	})
	t.pause = &a
	d.effects = append(d.effects, a.Effect)
}

// resumed takes the end of a pause; message is what somebody has sent to the flow.
func (d *Decoder) resumed(message string) {
	if t := d.turn; t.pause != nil {
		t.pause.Answer([][]string{{cmp.Or(message, goOn)}}, "")
		t.pause = nil
		d.effects = append(d.effects, agent.Withdraw{Native: "pause"})
	}
}
