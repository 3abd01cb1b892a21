package trace

// This file has the message of a user that answers a request.

// TextAnswer are a message of the user's that answers what a turn asks, and the
// assistant message that begins below it.
type TextAnswer struct {
	Prompt Prompt
	Reply  Reply
}

func (t *turn) putTextAnswer(w TextAnswer) {
	t.put("", User, w.Prompt.normalized())
	t.closeStep(true)
	t.put("", Gateway, w.Reply)
}
