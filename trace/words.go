package trace

// Words are a message of the user's that answers what a turn asks, and the
// assistant message that begins below it.
type Words struct {
	Prompt Prompt
	Reply  Reply
}

func (t *turn) hear(w Words) {
	t.put("", User, w.Prompt.normal())
	t.closeStep(true)
	t.put("", Gateway, w.Reply)
}
