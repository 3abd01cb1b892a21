package trace

import (
	"cmp"
	"slices"
)

// This file puts requests and questions of the agent on record.

// PermissionRequest asks whether a call may run, and returns the id of the request,
// which the answer names. The parameter asked is the call as the agent will run it:
// the tool and the input may differ from those that the agent showed earlier. The
// policy judges asked. The zero ToolCall means that the call is the one on record.
// A call that nobody has seen is written first. If the policy decides, request and
// response go on record together, and the response is returned with decided. After
// the turn the answer is decided, too: no.
func (b *Builder) PermissionRequest(r PermissionRequest, asked ToolCall) (id string, answer PermissionResponse, decided bool) {
	d := b.PermissionRequests(PermissionCheck{Request: r, Call: asked})[0]
	return d.ID, d.Answer, d.Decided
}

// PermissionCheck is one of several permissions that are requested at once. See
// [Builder.PermissionRequest] for Call.
type PermissionCheck struct {
	Request PermissionRequest
	Call    ToolCall
	// Quiet leaves no record if the policy allows the call. The Call is then whole.
	Quiet bool
	// Granted says that the mode which a person has chosen allows the call, or that the call only
	// changes what the agent itself keeps. It counts where an "always" could: the policy leaves the
	// call open, and no rule wants a person.
	Granted bool
}

// PermissionDecision is the outcome of a PermissionCheck: the id under which the answer
// is to be awaited, or the answer, if it is decided.
type PermissionDecision struct {
	ID      string
	Answer  PermissionResponse
	Decided bool
}

// byPolicy is who decided if Decide does not say more.
const byPolicy = "policy"

// unrecorded reports whether a decision leaves no record.
func (c PermissionCheck) unrecorded(d PermissionDecision) bool {
	return c.Quiet && d.Decided && d.Answer.Allowed() && d.Answer.By == byPolicy
}

// PermissionRequests asks for several permissions at once, so that the user sees them
// together. The policy decides first; only requests that it leaves open are put to the
// user. The decisions stand in the order of the requests.
func (b *Builder) PermissionRequests(asked ...PermissionCheck) []PermissionDecision {
	decisions, verdicts := make([]PermissionDecision, len(asked)), make([]PermissionDecision, len(asked))
	for i := range decisions {
		decisions[i] = PermissionDecision{Answer: PermissionResponse{Outcome: Canceled, Reason: "The turn is over."}, Decided: true}
	}
	asked = slices.Clone(asked) // Offer replaces options
	for i := range asked {
		var over bool
		if verdicts[i], over = b.decide(&asked[i]); over {
			return decisions
		}
	}
	b.do(func(t *turn) {
		var open []*request
		for i, a := range asked {
			if a.unrecorded(verdicts[i]) {
				decisions[i] = verdicts[i]
				continue
			}
			q, d := b.permission(t, a.Request, verdicts[i])
			if decisions[i] = d; !d.Decided {
				open = append(open, q)
			}
		}
		t.queueRequests(b, open...)
	})
	return decisions
}

// permission puts a request on record, and its answer if the policy has one.
func (b *Builder) permission(t *turn, r PermissionRequest, verdict PermissionDecision) (*request, PermissionDecision) {
	r = r.normalized()
	q := b.newRequest(t, r.RequestID, r.ToolCallID, false)
	r.RequestID, q.options = q.ID, r.Options
	if q.toolCall != nil {
		r.ToolCallID = q.toolCall.tool.ToolCallID
	}
	if !verdict.Decided {
		t.emitRequest(b, q, r)
		return q, PermissionDecision{ID: q.ID}
	}
	q.decided = true
	r.DecidedBy = verdict.Answer.By
	t.emitRequest(b, q, r)
	t.resolve(q, verdict.Answer)
	verdict.ID = q.ID
	verdict.Answer, _ = q.Answer.(PermissionResponse)
	return q, verdict
}

// decide puts the call on record as it is asked and lets the policy judge it and leave out
// options. The policy reads the file system, so it runs without the lock of the turn.
func (b *Builder) decide(a *PermissionCheck) (d PermissionDecision, over bool) {
	r := a.Request.normalized()
	if r.ToolCallID == "" {
		return d, false
	}
	over = true
	call := a.Call
	b.do(func(t *turn) {
		if over = false; a.Quiet {
			return
		}
		c := b.current(t, r.ToolCallID)
		t.completeCall(c)
		t.revise(c, a.Call)
		call = c.tool
	})
	if !over && b.turn.Decide != nil {
		d.Answer, d.Decided = b.turn.Decide(r, call)
		d.Answer.By = cmp.Or(d.Answer.By, byPolicy)
	}
	if !over && !d.Decided && b.turn.Offer != nil {
		a.Request.Options = b.turn.Offer(r)
	}
	lasting := func(o PermissionOption) bool { return o.OptionKind == AllowAlways }
	if a.Granted && !over && !d.Decided && slices.ContainsFunc(a.Request.Options, lasting) {
		d = PermissionDecision{Answer: PermissionResponse{Outcome: Selected, OptionKind: AllowOnce, By: byPolicy}, Decided: true}
	}
	if a.Quiet && !a.unrecorded(d) {
		b.ToolCall(a.Call)
	}
	return d, over
}

// Question asks the user something and returns the id under which the answer is
// to be awaited; it is empty when the turn is over.
func (b *Builder) Question(r Question) (id string) {
	return b.Questions(r)[0]
}

// Questions asks several things at once, so that the user sees them together.
func (b *Builder) Questions(asked ...Question) (ids []string) {
	ids = make([]string, len(asked))
	b.do(func(t *turn) {
		var all []*request
		for i, r := range asked {
			q := b.newRequest(t, r.QuestionID, r.ToolCallID, true)
			ids[i], r.QuestionID = q.ID, q.ID
			if q.toolCall != nil {
				r.ToolCallID = q.toolCall.tool.ToolCallID
			}
			t.emitRequest(b, q, r)
			all = append(all, q)
		}
		t.queueRequests(b, all...)
	})
	return ids
}

// newRequest registers a request or a question. A call that it is about is on record
// before it.
func (b *Builder) newRequest(t *turn, key, toolCallID string, question bool) *request {
	if key == "" {
		key = t.Turn + ".ask"
	} else {
		key += t.RequestSuffix
	}
	q := &request{question: question, answered: make(chan struct{})}
	q.Opened = t.touched
	var renamed bool
	if q.ID, renamed = t.requestNames.unique(key); renamed {
		t.counts.Renamed++
	}
	if toolCallID != "" {
		q.toolCall = b.current(t, toolCallID)
		t.completeCall(q.toolCall)
		q.toolCall.requests = append(q.toolCall.requests, q)
	}
	t.ensureStep(b.author(t)) // the call may have been the last that a pause waited for
	t.requests[q.ID] = q
	t.inOrder = append(t.inOrder, q)
	t.waiting++
	t.changed = true
	return q
}

// emitRequest writes a request. Its parent is its call, else the call of the sub-agent
// that asks.
func (t *turn) emitRequest(b *Builder, q *request, p Payload) {
	by := b.author(t)
	parent := by.parent()
	if q.toolCall != nil {
		parent = q.toolCall.event
	}
	q.Asked = p
	t.hold(ApproxSize(p) + len(q.ID))
	q.event = t.put(parent, by.actor(), p)
}
