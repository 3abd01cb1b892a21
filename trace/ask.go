package trace

// ask is a permission request or a question that somebody has to answer.
type ask struct {
	id       string
	key      string
	question bool
	event    string
	by       Builder
	toolCall *call
	options  []PermissionOption
	done     bool
}

// PermissionRequest asks whether a call may run and returns the id under which
// the answer is to be awaited. A call that nobody has seen is written first. If
// the policy decides, request and response go on record together, and the
// response is returned with decided.
func (b *Builder) PermissionRequest(r PermissionRequest) (id string, answer PermissionResponse, decided bool) {
	b.do(func(t *turn) {
		q := b.ask(t, r.RequestID, r.ToolCallID, false)
		r.RequestID = q.id
		if q.toolCall != nil {
			t.completeCall(q.toolCall)
			r.ToolCallID = q.toolCall.ToolCallID
		}
		q.options = r.Options
		if t.Judge != nil && q.toolCall != nil {
			if answer, decided = t.Judge(r, q.toolCall.ToolCall); decided {
				r.DecidedBy = answer.By
			}
		}
		q.event = t.put(b.about(t, q), b.actor(t), r)
		id = q.id
		if decided {
			answer = t.respond(q, answer)
		}
	})
	return id, answer, decided
}

// PermissionResponse puts the one answer to a request on record. It reports
// false when the request is unknown or has its answer.
func (b *Builder) PermissionResponse(r PermissionResponse) (accepted bool) {
	b.do(func(t *turn) {
		q, ok := t.asks[r.RequestID]
		if !ok || q.question || q.done {
			t.counts.Orphans++
			return
		}
		t.respond(q, r)
		accepted = true
	})
	return accepted
}

func (t *turn) respond(q *ask, r PermissionResponse) PermissionResponse {
	q.done = true
	r.RequestID = q.id
	for _, o := range q.options {
		if o.ID == r.ChosenOption {
			r.OptionKind = o.OptionKind
		}
	}
	if len(r.UpdatedInput) > 0 {
		r.UpdatedInput = Opaque(r.UpdatedInput)
	}
	t.put(q.event, answerer(r.By), r)
	return r
}

// Question asks the user something and returns the id under which the answer is
// to be awaited.
func (b *Builder) Question(r Question) (id string) {
	b.do(func(t *turn) {
		q := b.ask(t, r.QuestionID, r.ToolCallID, true)
		r.QuestionID = q.id
		if q.toolCall != nil {
			t.completeCall(q.toolCall)
			r.ToolCallID = q.toolCall.ToolCallID
		}
		q.event = t.put(b.about(t, q), b.actor(t), r)
		id = q.id
	})
	return id
}

// Answer puts the one answer to a question on record. It reports false when the
// question is unknown or has its answer.
func (b *Builder) Answer(a Answer) (accepted bool) {
	b.do(func(t *turn) {
		q, ok := t.asks[a.QuestionID]
		if !ok || !q.question || q.done {
			t.counts.Orphans++
			return
		}
		t.answer(q, a)
		accepted = true
	})
	return accepted
}

func (t *turn) answer(q *ask, a Answer) {
	q.done = true
	a.QuestionID = q.id
	if a.Values == nil {
		a.Values = []string{}
	}
	t.put(q.event, answerer(a.By), a)
}

// Park says that the turn waits for these requests and questions. It closes
// parts and step for every reader.
func (b *Builder) Park(requests ...string) {
	b.do(func(t *turn) {
		t.closeStep()
		t.put("", Gateway, Park{Requests: requests})
	})
}

func (b *Builder) ask(t *turn, key, toolCallID string, question bool) *ask {
	b.ensureStep(t)
	if key == "" {
		key = "ask"
	}
	q := &ask{id: t.unique("ask\x00" + key), key: key, question: question, by: *b}
	q.id = q.id[len("ask\x00"):]
	if toolCallID != "" {
		c, ok := t.calls[toolCallID]
		if !ok {
			c = b.newCall(t, ToolCall{ToolCallID: toolCallID})
		}
		q.toolCall = c
	}
	t.asks[q.id] = q
	t.asked = append(t.asked, q)
	return q
}

// about is the event that an ask is about: its call, else what started the
// sub-agent that asks.
func (b *Builder) about(t *turn, q *ask) string {
	if q.toolCall != nil {
		return q.toolCall.event
	}
	return b.origin(t)
}

// closeAsk withdraws what nobody has answered.
func (t *turn) closeAsk(q *ask) {
	switch {
	case q.done:
	case q.question:
		t.answer(q, Answer{Outcome: Canceled})
	default:
		t.respond(q, PermissionResponse{Outcome: Canceled})
	}
}

// answerer is the actor behind an answer: nobody in particular means that the
// gateway withdrew it.
func answerer(by string) Actor {
	if by == "" {
		return Gateway
	}
	return User
}
