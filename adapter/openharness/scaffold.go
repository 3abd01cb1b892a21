package openharness

import (
	"cmp"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/agent/remote"
	"github.com/tributary-dev/tributary/trace"
)

// entry is an event of the log of Open Scaffold.
type entry struct {
	ID        string  `json:"id"`
	Name      string  `json:"name"`
	Payload   payload `json:"payload"`
	Timestamp raw     `json:"timestamp"`
}

type payload struct {
	Session  string   `json:"sessionId"`
	Workflow string   `json:"workflow"`
	Input    raw      `json:"input"`
	Phase    string   `json:"phase"`
	Reason   string   `json:"reason"`
	Agent    string   `json:"agent"`
	Output   raw      `json:"output"`
	Delta    string   `json:"delta"`
	ToolID   string   `json:"toolId"`
	ToolName string   `json:"toolName"`
	Failed   bool     `json:"isError"`
	ID       string   `json:"id"`
	Prompt   string   `json:"prompt"`
	Kind     string   `json:"type"`
	Options  []string `json:"options"`
	Value    string   `json:"value"`
	Response string   `json:"response"` // the value, in the server's short form
	Approved *bool    `json:"approved"`
}

// request is what a workflow waits for.
type request struct {
	id       string // for the host
	approval bool
	asked    string // the words of the server
}

// logged takes an event of the log. The server sends events again when a stream is opened
// again.
func (d *Decoder) logged(data raw) error {
	var e entry
	if err := json.Unmarshal(data, &e); err != nil {
		return fmt.Errorf("this is no event of Open Scaffold: %w", err)
	}
	begins := unknown
	if e.Name != "workflow:completed" && e.Name != "input:received" {
		begins = scaffold
	}
	t := d.open(begins)
	switch {
	case t == nil, e.ID != "" && t.seen[e.ID]:
		return nil
	case e.ID != "":
		t.seen[e.ID] = true
		agentkit.CountKept(t.b, e.ID)
	}
	if t.earlier.step != "" { // this event is on record
		if t.earlier.step == e.ID {
			t.earlier.step = "" // the step of this event is the open one
			t.steps[t.run(e.Payload.Agent, "")] = true
		}
		return nil
	}
	d.entry(t, e, e.Payload)
	return nil
}

func (d *Decoder) entry(t *turn, e entry, p payload) {
	switch e.Name {
	case "workflow:started":
		t.status("running", p.Workflow)
	case "workflow:completed":
		t.status("complete", p.Workflow)
		t.end("stop", trace.OutcomeCompleted, "")
	case "phase:entered", "phase:exited":
		t.domain("node", map[string]string{"nodeId": p.Phase, "status": e.Name[len("phase:"):], "reason": p.Reason})
		if p.Reason == "error" {
			t.fail("The phase "+p.Phase+" failed.", "")
		}
	case "agent:started":
		r := t.run(p.Agent, "")
		r.spoken = false
		t.survived()
		t.begin(r, p.Agent, e.ID)
	case "agent:completed":
		r := t.run(p.Agent, "")
		if !r.spoken {
			r.whole(false, plain(p.Output))
		}
		t.domain("node-output", map[string]any{"nodeId": p.Agent, "output": p.Output})
		t.leave(r)
	case "text:delta", "thinking:delta":
		t.run(p.Agent, "").delta(e.Name == "thinking:delta", p.Delta)
	case "tool:called":
		r := t.run(p.Agent, "")
		t.survived()
		r.close()
		if r.tools++; p.ToolID == "" {
			p.ToolID = fmt.Sprintf("%s-%d", r.name, r.tools)
		}
		if r.called = p.ToolID; !slices.Contains(t.earlier.Done, p.ToolID) {
			t.call(p.ToolID, p.ToolName, p.Input)
		}
	case "tool:result":
		failed := ""
		if p.Failed {
			failed = cmp.Or(plain(p.Output), "The tool failed.")
		}
		t.result(cmp.Or(p.ToolID, t.run(p.Agent, "").called), p.Output, failed)
	case "input:requested":
		d.ask(t, p)
	case "input:received":
		d.received(t, p)
	}
}

// ask asks a person for the input of a workflow. A request that an earlier process has put
// on record is awaited.
func (d *Decoder) ask(t *turn, p payload) {
	q := request{approval: p.Kind == "approval", asked: string(agentkit.Encode([]any{p.Prompt, p.Options}))}
	if before, waits := t.asked[p.ID]; waits && before.approval == q.approval && before.asked == q.asked {
		return
	} else if waits { // the answer to the request before would count for this one
		t.cancel(p.ID, before)
	}
	for _, id := range t.earlier.Waiting {
		if id == p.ID || strings.HasPrefix(id, p.ID+"-") {
			q.id = id
		}
	}
	if q.id == "" && t.earlier.answered[p.ID] {
		return
	}
	for _, r := range t.runs {
		r.close()
	}
	made := trace.PermissionDecision{ID: q.id}
	switch {
	case q.id != "":
	case q.approval:
		t.call(p.ID, "approval", agentkit.Encode(map[string]string{"prompt": p.Prompt}))
		made = t.b.PermissionRequests(trace.PermissionCheck{Request: trace.PermissionRequest{RequestID: p.ID, ToolCallID: p.ID, Title: p.Prompt, Options: []trace.PermissionOption{
			{ID: "yes", Name: "Approve", OptionKind: trace.AllowOnce}, {ID: "no", Name: "Reject", OptionKind: trace.RejectOnce},
		}}})[0]
	default:
		asked := trace.Question{QuestionID: p.ID, Text: p.Prompt}
		for _, o := range p.Options {
			asked.Choices = append(asked.Choices, trace.Choice{Label: o})
		}
		made.ID = t.b.Question(asked)
	}
	if made.ID == "" { // another gateway goes on with the turn, and asks
		return
	}
	q.id = made.ID
	t.asked[p.ID] = q
	if !q.approval {
		d.effects = append(d.effects, agent.Ask{Native: p.ID, QuestionIDs: []string{q.id}, Choices: p.Options, Reply: func(a []trace.Answer) raw {
			return input(t.session, p.ID, strings.Join(a[0].Values, ", "), nil)
		}})
		return
	}
	e := agent.Permit{Native: p.ID, RequestID: q.id, Reply: func(a trace.PermissionResponse) raw {
		yes := a.Allowed()
		return input(t.session, p.ID, map[bool]string{true: "yes", false: "no"}[yes], &yes)
	}}
	if made.Decided {
		e.Decided = &made.Answer
	}
	d.effects = append(d.effects, e)
}

// cancel puts on record that a request has no answer.
func (t *turn) cancel(native string, q request) {
	delete(t.asked, native)
	if !q.approval {
		t.b.Answer(trace.Answer{QuestionID: q.id, Outcome: trace.Canceled})
		return
	}
	t.b.PermissionResponse(trace.PermissionResponse{RequestID: q.id, Outcome: trace.Canceled})
	t.b.Denied(native, "")
}

// received takes an answer, of the gateway's user or given elsewhere.
func (d *Decoder) received(t *turn, p payload) {
	q, ok := t.asked[p.ID]
	if !ok {
		return
	}
	delete(t.asked, p.ID)
	d.effects = append(d.effects, agent.Withdraw{Native: p.ID})
	value, chosen, kind := cmp.Or(p.Value, p.Response), "no", trace.RejectOnce
	yes := strings.HasPrefix(strings.ToLower(value), "y")
	if p.Approved != nil {
		yes = *p.Approved
	}
	switch {
	case !q.approval:
		t.b.Answer(trace.Answer{QuestionID: q.id, Outcome: trace.Selected, Values: []string{value}})
		return
	case yes:
		chosen, kind = "yes", trace.AllowOnce
	}
	t.b.PermissionResponse(trace.PermissionResponse{RequestID: q.id, Outcome: trace.Selected, ChosenOption: chosen, OptionKind: kind})
	if yes {
		t.result(p.ID, agentkit.Encode(value), "")
	} else {
		t.b.Denied(p.ID, "")
	}
}

// input is the request that answers a workflow. The short form of the server would lose the
// id, so the whole event is sent.
func input(session, id, value string, approved *bool) raw {
	p := map[string]any{"id": id, "value": value}
	if approved != nil {
		p["approved"] = *approved
	}
	e := map[string]any{"id": newID(), "name": "input:received", "payload": p, "timestamp": time.Now().UnixMilli()}
	return remote.Post(sessionsPath+"/"+session+"/input", map[string]any{"event": e}).JSON()
}

// newID returns a random UUID, as the clients of the project send.
func newID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // its documentation: never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
