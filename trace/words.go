package trace

// Words are a message of the user's that answers what a turn asks, and the
// assistant message that begins below it.
type Words struct {
	Prompt Prompt
	Reply  Reply
}

// PermissionResponseIn is [Builder.PermissionResponse] for an answer in words. They
// go on record with it, or not at all.
func (b *Builder) PermissionResponseIn(w Words, r PermissionResponse) (accepted bool) {
	b.do(func(t *turn) {
		q := t.unanswered(r.RequestID, false)
		if accepted = q != nil; accepted {
			t.hear(w)
			t.respond(q, r)
		}
	})
	return accepted
}

// AnswerIn is [Builder.Answer] for an answer in words, as above.
func (b *Builder) AnswerIn(w Words, a Answer) (accepted bool) {
	b.do(func(t *turn) {
		q := t.unanswered(a.QuestionID, true)
		if accepted = q != nil; accepted {
			t.hear(w)
			t.answer(q, a)
		}
	})
	return accepted
}

func (t *turn) hear(w Words) {
	t.put("", User, w.Prompt.normal())
	t.closeStep(true)
	t.put("", Gateway, w.Reply)
}
