package uistream

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/tributary-dev/tributary/trace"
)

// This file has the dialect of the Agent Ops RFC, for `compat: rfc`.

// rfc is the dialect of the Agent Ops RFC (compat: rfc): a decorator over the chunks of a
// Translator, which knows nothing of it.
//
// One upstream turn is one text. The text begins with the message, has the message's id,
// goes on under that id after a tool, and ends with the turn. The id is the agent's own
// name of its turn, so the start of the message waits for that name. A second name within
// a message begins another text. No step begins, no reader leaves at a pause, the failure
// of a tool is an error of the stream, and a question is a data part.
type rfc struct {
	*Translator

	record       trace.Record
	made         []Chunk
	message      string
	started      bool   // the message's start was sent
	failed       bool   // this record has had its error
	ours         string // our own id of the message
	upstreamTurn string // the upstream turn that speaks

	text     string // the id of the text
	writing  bool   // the text has begun and not ended
	queue    []*queuedText
	deferred []Chunk // data that came before the message began

	shown     map[string]bool         // requests: none is shown twice
	asking    map[string]string       // calls: the approval that stands open in the client
	questions map[string]*rfcQuestion // by their id
}

// rfcQuestion is a question: a data part, not a text and a call.
type rfcQuestion struct {
	what        trace.Question
	shown, done bool
}

func newRFC(o Options) *rfc {
	d := &rfc{Translator: NewTranslator(o), shown: map[string]bool{}, questions: map[string]*rfcQuestion{}}
	d.can.preliminary = false
	return d
}

// MessageID is the assistant message that the last chunks belong to.
func (d *rfc) MessageID() string { return d.message }

// Paused reports false: no reader leaves.
func (d *rfc) Paused() bool { return false }

// openText is the text that is open now. A client that gets the rest of a message from
// here on needs the start of that text.
func (d *rfc) openText() string {
	if d.writing {
		return d.text
	}
	return ""
}

// keptPart leaves a request without a result as the stream has shown it.
func (d *rfc) keptPart(p Part) Part {
	if p.State == askedApproval {
		return p
	}
	return d.Translator.keptPart(p)
}

// Translate takes the next record of the turn.
func (d *rfc) Translate(r trace.Record) []Chunk {
	if d.Over() || r.Payload == nil {
		return nil
	}
	d.made, d.failed = nil, false
	asks := false
	switch p := r.Payload.(type) { //nolint:gochecksumtype // all others are translated as they are
	case trace.Data:
		if p.Name == beyond {
			return nil
		}
	case trace.Pause:
		p.Held = true
		p.Requests = slices.DeleteFunc(slices.Clone(p.Requests), func(id string) bool { return d.shown[id] })
		for _, id := range p.Requests {
			d.shown[id] = true
			asks = asks || d.approvals[id] != nil && !d.approvals[id].done
		}
		r.Payload = p
	case trace.Question:
		if d.questions[p.QuestionID] == nil {
			d.questions[p.QuestionID] = &rfcQuestion{what: p}
		}
	}
	d.record = r
	chunks := d.Translator.Translate(r)
	d.begin(chunks)
	if asks { // the reader who answers gets the rest, and knows of no open text
		d.endText()
	}
	for _, c := range chunks {
		d.take(c)
	}
	switch p := r.Payload.(type) { //nolint:gochecksumtype // the others are said already
	case trace.Answer:
		d.answer(p)
	case trace.Stop:
		if !superseded(p) {
			d.stop(p)
		}
	}
	return d.made
}

// begin begins the message, if it has to begin with this record. Data and numbers wait for
// it.
func (d *rfc) begin(chunks []Chunk) {
	step, is := d.record.Payload.(trace.Step)
	if is && step.Phase == trace.PhaseStart {
		d.nativeStep(step.NativeID)
	}
	if d.started {
		return
	}
	for _, c := range chunks {
		if s, is := c.(Start); is {
			d.ours = s.MessageID
		}
	}
	switch p := d.record.Payload.(type) { //nolint:gochecksumtype // all others begin it
	case trace.Prompt, trace.Rewind, trace.Reply, trace.Status, trace.Unknown, trace.Usage, trace.Plan, trace.FileChange, trace.Error:
		return
	case trace.Data:
		if _, state := p.Subagent(); !state || len(chunks) == 0 {
			return
		}
	}
	_, call := d.record.Payload.(trace.ToolCall)
	if _, sub := d.record.Actor.SubagentCall(); !sub || call || len(chunks) > 0 {
		d.start(d.ours)
	}
}

// nativeStep takes the agent's own id of what begins.
func (d *rfc) nativeStep(id string) {
	switch {
	case id == "" || id == d.upstreamTurn:
	case !d.started:
		d.upstreamTurn = id
		d.start(id)
	case d.upstreamTurn == "": // the message had to begin before its name was known
		d.upstreamTurn = id
	default:
		d.endText()
		d.upstreamTurn, d.text = id, id
		d.startText()
	}
}

// start begins a message and its text.
func (d *rfc) start(id string) {
	d.message, d.started = id, true
	d.emit(Start{MessageID: id})
	d.text, d.writing = id, false
	d.startText()
	d.emit(d.deferred...)
	d.deferred = nil
}

func (d *rfc) emit(all ...Chunk) { d.made = append(d.made, all...) }

// take sends what the dialect has a word for.
func (d *rfc) take(c Chunk) {
	kind := d.record.Payload.Kind()
	asked := kind == trace.KindPause || kind == trace.KindAnswer
	switch c := c.(type) {
	case Start:
		if d.started && c.MessageID != d.ours {
			d.ours = c.MessageID
			d.start(c.MessageID)
		}
	case TextStart:
		if !asked || !d.sentence(c, c.ID) {
			d.enqueue(c.ID)
		}
	case TextDelta:
		if !asked || !d.sentence(c, c.ID) {
			d.write(c.ID, c.Delta)
		}
	case TextEnd:
		if !asked || !d.sentence(c, c.ID) {
			d.dequeue(c.ID)
		}
	case ToolInputAvailable:
		if q := d.questions[QuestionID(c.ToolCallID)]; q != nil && c.ToolName == AskUser && c.Form == clientForm() {
			d.ask(q)
		} else {
			d.emit(c)
		}
	case ToolOutputAvailable:
		if kind != trace.KindAnswer {
			d.emit(c)
		}
	case ToolApprovalRequest:
		put(&d.asking, c.ToolCallID, c.ApprovalID)
		d.emit(c)
	case ToolApprovalResponse:
		maps.DeleteFunc(d.asking, func(_, approval string) bool { return approval == c.ApprovalID })
		d.emit(c)
	case ToolOutputError:
		d.withdraw(c.ToolCallID, c)
		if c.Form != clientForm() {
			d.fail()
		}
	case ToolOutputDenied:
		d.withdraw(c.ToolCallID, c)
		d.fail()
	case Data:
		switch {
		case !d.started && !c.Transient:
			d.deferred = append(d.deferred, c)
		case kind == trace.KindStop, asked && c.Name == "question":
		default:
			d.emit(c)
		}
	case Finish:
		if d.started && kind == trace.KindReply { // which begins the next message
			d.endText()
			d.emit(FinishStep{}, Finish{Reason: c.Reason})
		}
	case Abort:
		if stop, is := d.record.Payload.(trace.Stop); !is || superseded(stop) {
			d.emit(c)
		}
	case StartStep, FinishStep, Error: // a stop has an error of its own
	case ReasoningStart, ReasoningDelta, ReasoningEnd, ToolInputStart, ToolInputDelta, ToolInputError,
		SourceURL, SourceDocument, File, Extended, Other:
		d.emit(c)
	}
}

// sentence sends the sentence of a permission request as a text of its own, and drops that
// of a question. It reports whether the text is one of them.
func (d *rfc) sentence(c Chunk, id string) bool {
	request, is := strings.CutPrefix(id, "ask-")
	if is && d.questions[request] == nil {
		d.emit(c)
	}
	return is
}

// ask shows a question once.
func (d *rfc) ask(q *rfcQuestion) {
	if !q.shown {
		q.shown = true
		d.emit(questionData(q.what, nil))
	}
}

func (d *rfc) answer(p trace.Answer) {
	if q := d.questions[p.QuestionID]; q != nil && !q.done {
		d.ask(q)
		q.done = true
		d.emit(questionData(q.what, &p))
	}
}

// withdraw sends the end of a call whose request still stands open in the client. The dialect has no
// word for that, and the client would offer an answer that nobody takes. It has one for a refusal.
func (d *rfc) withdraw(toolCall string, end Chunk) {
	request, open := d.asking[toolCall]
	delete(d.asking, toolCall)
	if a := d.approvals[request]; open && (a == nil || a.answer == nil || a.answer.Outcome != trace.Selected || a.answer.Allowed()) {
		d.emit(end)
	}
}

// fail sends the failure of a tool as an error, once. There is no word for a call that was
// stopped with its turn, nor for one that a message leaves unfinished.
func (d *rfc) fail() {
	text := ""
	switch p := d.record.Payload.(type) { //nolint:gochecksumtype // the others fail no tool
	case trace.ToolResult:
		if p.Status != trace.ToolCanceled {
			text = cmp.Or(p.Error, "Tool execution failed")
		}
	case trace.PermissionResponse:
		text = refusal(p)
	}
	if text != "" && !d.failed {
		d.failed = true
		d.emit(Error{ErrorText: text})
	}
}

// stop ends the turn: only a turn that ended well ends a step, and one whose end is not
// known ends nothing but the message.
func (d *rfc) stop(p trace.Stop) {
	d.flushNext(true)
	reason := finishReason(p.Reason)
	switch {
	case p.Outcome == trace.OutcomeFailed:
		d.emit(Error{ErrorText: cmp.Or(p.Error, "Turn failed")})
		reason = finishError
	case p.Outcome == trace.OutcomeCanceled:
		d.endText()
		reason = finishOther
	case reason == finishStop:
		d.endText()
		d.emit(FinishStep{})
	}
	if !d.can.finishReason {
		reason = ""
	}
	d.emit(Finish{Reason: reason})
}
