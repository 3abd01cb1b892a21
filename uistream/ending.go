package uistream

import (
	"cmp"
	"encoding/json"

	"github.com/tributary-dev/tributary/internal/quote"
	"github.com/tributary-dev/tributary/trace"
)

// This file begins and ends messages.

// Superseded is the reason of a stop when a regenerate or an edit replaces the
// turn: the client has dropped its message already.
const Superseded = "superseded"

// reply opens an assistant message. A second one within a turn ends the first. The
// client has one message per response, and a start with another id in mid-stream
// would make it show the parts twice.
func (t *Translator) reply(p trace.Reply) {
	switch {
	case t.opened && p.MessageID == t.message:
		return
	case t.opened:
		t.closeParts()
		t.settleCalls("It goes on in the next message.", true)
		t.settleQuestions("It was answered in the next message.")
		var meta json.RawMessage
		if t.endSteps() {
			meta = outcome(trace.Stop{Outcome: trace.OutcomeCompleted})
		}
		t.emit(t.finish(finishStop, meta))
	}
	t.openMessage(p.MessageID)
	t.letPass()
}

// stop ends the turn. The builder has closed everything by now; what a broken
// log left open is closed here.
func (t *Translator) stop(p trace.Stop) {
	t.over = true
	if superseded(p) {
		t.emit(t.abort(p))
		return
	}
	t.closeParts()
	t.settleCalls("Not finished: the turn has ended.", false)
	t.settleQuestions("The question was not answered.")
	guarded := t.endSteps()
	switch p.Outcome {
	case trace.OutcomeFailed:
		text := failed(p)
		t.emit(errorData(text, p.Reason), Error{ErrorText: text}, t.finish(finishError, outcome(p)))
	case trace.OutcomeCanceled:
		t.emit(t.abort(p), t.finish(finishOther, outcome(p)))
	default:
		var meta json.RawMessage
		if guarded {
			meta = outcome(p)
		}
		reason := finishReason(p.Reason)
		if t.options.Profile.accepts("finish", "finishReason", quote.JSON(p.Reason)) { // the upstream has said it in the words of the clients
			reason = p.Reason
		}
		t.emit(t.finish(reason, meta))
	}
}

// rewind ends a message that was removed while the agent wrote it: the client has
// dropped it, and any chunk but an abort would bring it back on the screen. A
// rewind at the beginning of a turn is about messages before it.
func (t *Translator) rewind() {
	if t.opened {
		t.over = true
		t.emit(t.abort(trace.Stop{Reason: Superseded}))
	}
}

// endSteps closes the step. A message that ends with a settled question would
// make the stock client post it again and again; one more step tells it that
// the question is history. The step is only seen if metadata follows.
func (t *Translator) endSteps() (guarded bool) {
	t.closeStep()
	if !t.asked {
		return false
	}
	t.openStep()
	t.closeStep()
	return true
}

func superseded(p trace.Stop) bool {
	return p.Outcome == trace.OutcomeCanceled && p.Reason == Superseded
}

func (t *Translator) abort(p trace.Stop) Chunk {
	if t.can.abortReason {
		return Abort{Reason: p.Reason}
	}
	return Abort{}
}

func (t *Translator) finish(reason string, meta json.RawMessage) Chunk {
	if !t.can.finishReason {
		reason = ""
	}
	return Finish{Reason: reason, Metadata: t.withParticipants(meta)}
}

func outcome(p trace.Stop) json.RawMessage {
	return quote.JSON(struct {
		Outcome trace.Outcome `json:"outcome"`
	}{p.Outcome})
}

// failed is the sentence that the user sees.
func failed(p trace.Stop) string {
	if p.Error == "" && p.Reason != "" {
		return "The agent's turn failed (" + p.Reason + ")."
	}
	return cmp.Or(p.Error, "The agent's turn failed.")
}

func errorData(message, reason string) Data {
	return Data{Name: "error", Value: quote.JSON(struct {
		Message string `json:"message"`
		Reason  string `json:"reason"`
	}{message, reason})}
}

// finishReason maps an agent's own word for why it stopped to the closed set.
func finishReason(s string) string {
	switch s {
	case "", "stop", "end_turn", "completed", "success", "done":
		return finishStop
	case "length", "max_tokens", "max_turn_requests", "max_turns":
		return finishLength
	case "refusal", "content_filter", "content-filter":
		return finishFilter
	default:
		return finishOther
	}
}
