package uistream

import (
	"maps"
	"slices"
	"strings"

	"github.com/tributary-dev/tributary/trace"
)

// rfc is the dialect of the Agent Ops RFC (compat: rfc): a decorator over the chunks of a
// Translator, which knows nothing of it.
//
// One upstream turn is one text. The text begins with the message, has the message's id,
// goes on under that id after a tool, and ends with the turn. The id is the agent's own
// name of its turn, so the start of the message waits for that name. A second name within
// a message begins another text. No step begins, no reader leaves at a park, the failure
// of a tool is an error of the stream, and a question is a data part.
type rfc struct {
	*Translator

	record  trace.Record
	made    []Chunk
	message string
	started bool   // the message's start was sent
	ours    string // our own id of the message
	native  string // the upstream turn that speaks
	failed  bool   // this record has had its error

	text    string // the id of the text
	writing bool   // the text has begun and not ended
	queue   []*queuedText
	early   []Chunk // data that came before the message began

	shown     map[string]bool         // requests: none is shown twice
	questions map[string]*rfcQuestion // by their id
	asking    string                  // the text of a request that is being sent as it is
}

// rfcQuestion is a question: a data part, not a text and a call.
type rfcQuestion struct {
	what        trace.Question
	shown, done bool
}

// queuedText is a part of text that has not ended. Parts are sent one after another,
// because one text cannot hold two at once; and history, which knows only full texts, must
// give the same order.
type queuedText struct {
	id   string
	open bool
	held []byte // what waits for its turn
}

func newRFC(o Options) *rfc {
	d := &rfc{Translator: NewTranslator(o), shown: map[string]bool{}, questions: map[string]*rfcQuestion{}}
	d.can.preliminary = false
	return d
}

func (d *rfc) clone() translation {
	c := *d
	c.Translator = d.Translator.copy()
	c.made, c.early = nil, slices.Clone(d.early)
	c.shown, c.questions = maps.Clone(d.shown), copies[rfcQuestion]{}.named(d.questions)
	c.queue = nil
	for _, q := range d.queue {
		own := *q
		own.held = slices.Clone(q.held)
		c.queue = append(c.queue, &own)
	}
	return &c
}

// MessageID is the assistant message that the last chunks belong to.
func (d *rfc) MessageID() string { return d.message }

// Parked reports false: no reader leaves.
func (d *rfc) Parked() bool { return false }

// openText is the text that is open now. A client that gets the rest of a message from
// here on needs the start of that text.
func (d *rfc) openText() string {
	if d.writing {
		return d.text
	}
	return ""
}

// answeredPart leaves a part of history as the stream has shown it.
func (d *rfc) answeredPart(p Part) Part { return p }

// Translate takes the next record of the turn.
func (d *rfc) Translate(r trace.Record) []Chunk {
	if d.Over() || !d.takes(&r) {
		return nil
	}
	d.record, d.made, d.failed = r, nil, false
	chunks := d.Translator.Translate(r)
	if step, is := r.Payload.(trace.Step); is && step.Phase == trace.PhaseStart {
		d.nativeStep(step.NativeID)
	}
	if !d.started {
		d.note(chunks)
		if d.opens(chunks) {
			d.start(d.ours)
		}
	}
	asks := d.asksPermission(chunks)
	for _, c := range chunks {
		_, closes := c.(ReasoningEnd)
		if asks && !closes {
			d.endText() // the reader who answers gets the rest, and knows of no open text
		}
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

// takes reports whether the dialect has a word for a record, and adapts it.
func (d *rfc) takes(r *trace.Record) bool {
	switch p := r.Payload.(type) { //nolint:gochecksumtype // all others are taken as they are
	case nil:
		return false
	case trace.Data:
		return p.Name != beyond
	case trace.Park:
		p.Held = true
		p.Requests = slices.DeleteFunc(slices.Clone(p.Requests), func(id string) bool { return d.shown[id] })
		for _, id := range p.Requests {
			d.shown[id] = true
		}
		r.Payload = p
	case trace.Question:
		if d.questions[p.QuestionID] == nil {
			d.questions[p.QuestionID] = &rfcQuestion{what: p}
		}
	}
	return true
}

// opens reports whether the message has to begin with this record. Data and numbers wait
// until it has.
func (d *rfc) opens(chunks []Chunk) bool {
	_, sub := d.record.Actor.SubagentCall()
	switch p := d.record.Payload.(type) { //nolint:gochecksumtype // all others open it
	case trace.Prompt, trace.Rewind, trace.Reply, trace.Status, trace.Unknown, trace.Usage, trace.Plan, trace.FileChange, trace.Error:
		return false
	case trace.Data:
		_, state := p.Subagent()
		return state && len(chunks) > 0
	case trace.MessageStart, trace.MessageDelta, trace.Message, trace.ThoughtStart, trace.ThoughtDelta, trace.Thought,
		trace.ToolCallDelta, trace.ToolResultProgress, trace.Source, trace.File:
		return !sub || len(chunks) > 0
	}
	return true
}

// asksPermission reports whether the chunks of a park hold the sentence of a request.
func (d *rfc) asksPermission(chunks []Chunk) bool {
	_, parks := d.record.Payload.(trace.Park)
	return parks && slices.ContainsFunc(chunks, func(c Chunk) bool {
		start, is := c.(TextStart)
		return is && d.questions[strings.TrimPrefix(start.ID, "ask-")] == nil
	})
}

// note takes our own id of the message.
func (d *rfc) note(chunks []Chunk) {
	for _, c := range chunks {
		if s, is := c.(Start); is {
			d.ours = s.MessageID
		}
	}
}

// nativeStep takes the agent's own id of what begins.
func (d *rfc) nativeStep(id string) {
	switch {
	case id == "" || id == d.native:
	case !d.started:
		d.native = id
		d.start(id)
	case d.native == "": // the message had to begin before its name was known
		d.native = id
	default:
		d.endText()
		d.native, d.text = id, id
		d.startText()
	}
}

// start begins a message and its text.
func (d *rfc) start(id string) {
	d.message, d.started = id, true
	d.emit(Start{MessageID: id})
	d.text, d.writing = id, false
	d.startText()
	d.emit(d.early...)
	d.early = nil
}

func (d *rfc) emit(all ...Chunk) { d.made = append(d.made, all...) }

// take sends what the dialect has a word for.
func (d *rfc) take(c Chunk) {
	_, stops := d.record.Payload.(trace.Stop)
	switch c := c.(type) {
	case Start:
		if d.started && c.MessageID != d.ours {
			d.ours = c.MessageID
			d.start(c.MessageID)
		}
	case TextStart, TextDelta, TextEnd:
		d.takeText(c)
	case ToolInputAvailable:
		if q := d.questions[QuestionID(c.ToolCallID)]; q != nil && c.ToolName == AskUser && c.Form == clientForm() {
			d.ask(q)
			return
		}
		d.emit(c)
	case ToolOutputAvailable:
		if q, asks := d.record.Payload.(trace.Answer); !asks || d.questions[q.QuestionID] == nil {
			d.emit(c)
		}
	case ToolOutputError:
		if c.Form != clientForm() {
			d.fail()
		}
	case ToolOutputDenied:
		d.fail()
	case Data:
		_, parks := d.record.Payload.(trace.Park)
		_, answers := d.record.Payload.(trace.Answer)
		switch {
		case !d.started && !c.Transient:
			d.early = append(d.early, c)
		case stops, (parks || answers) && d.questions[c.ID] != nil && c.Name == "question":
		default:
			d.emit(c)
		}
	case Finish:
		if d.started && !stops { // at the next message
			d.endText()
			d.emit(FinishStep{}, Finish{Reason: c.Reason})
		}
	case Abort:
		if stop, is := d.record.Payload.(trace.Stop); !is || superseded(stop) {
			d.emit(c)
		}
	case StartStep, FinishStep, Error: // the stop has an error of its own
	case ReasoningStart, ReasoningDelta, ReasoningEnd, ToolInputStart, ToolInputDelta, ToolInputError,
		ToolApprovalRequest, ToolApprovalResponse, SourceURL, SourceDocument, File, Extended, Other:
		d.emit(c)
	}
}

// takeText puts what the agent writes into the one text. The sentence of a permission
// request is a text of its own.
func (d *rfc) takeText(c Chunk) {
	id, delta := "", ""
	switch c := c.(type) { //nolint:gochecksumtype // the caller has no others
	case TextStart:
		id = c.ID
	case TextDelta:
		id, delta = c.ID, c.Delta
	case TextEnd:
		id = c.ID
	}
	_, begins := c.(TextStart)
	_, ends := c.(TextEnd)
	switch d.record.Payload.(type) { //nolint:gochecksumtype // the others ask nothing
	case trace.Park, trace.Answer:
		if begins {
			d.asking = id
		}
		if id != d.asking {
			break
		}
		if ends {
			d.asking = ""
		}
		if d.questions[strings.TrimPrefix(id, "ask-")] == nil {
			d.emit(c)
		}
		return
	}
	switch {
	case begins:
		d.enqueue(id)
	case ends:
		if i := d.queued(id); i >= 0 {
			d.queue[i].open = false
			d.flushNext(false)
		}
	default:
		d.write(id, delta)
	}
}

func (d *rfc) queued(id string) int {
	return slices.IndexFunc(d.queue, func(q *queuedText) bool { return q.open && q.id == id })
}

// enqueue puts a part behind those that are open.
func (d *rfc) enqueue(id string) {
	d.queue = append(d.queue, &queuedText{id: id, open: true})
	if len(d.queue) == 1 {
		d.startText()
	}
}

// write adds to the text, if the part is the first in the queue.
func (d *rfc) write(id, delta string) {
	i := d.queued(id)
	if i < 0 {
		d.enqueue(id)
		i = len(d.queue) - 1
	}
	if i > 0 {
		d.queue[i].held = append(d.queue[i].held, delta...)
		return
	}
	d.startText()
	d.emit(TextDelta{ID: d.text, Delta: delta})
}

// flushNext writes what parts have held that are first now; all of them, if the queue is to
// be empty.
func (d *rfc) flushNext(all bool) {
	for len(d.queue) > 0 && (all || !d.queue[0].open) {
		if d.queue = d.queue[1:]; len(d.queue) == 0 {
			return
		}
		next := d.queue[0]
		d.startText()
		if len(next.held) > 0 {
			d.emit(TextDelta{ID: d.text, Delta: string(next.held)})
			next.held = nil
		}
	}
}

// startText begins the text, or goes on with it where it was ended for an approval.
func (d *rfc) startText() {
	if !d.writing {
		d.writing = true
		d.emit(TextStart{ID: d.text})
	}
}

func (d *rfc) endText() {
	d.flushNext(true)
	if d.writing {
		d.writing = false
		d.emit(TextEnd{ID: d.text})
	}
}

// ask shows a question once.
func (d *rfc) ask(q *rfcQuestion) {
	if !q.shown {
		q.shown = true
		d.emit(questionData(q.what, nil))
	}
}

func (d *rfc) answer(p trace.Answer) {
	q := d.questions[p.QuestionID]
	if q == nil || q.done {
		return
	}
	d.ask(q)
	q.done = true
	d.emit(questionData(q.what, &p))
}

// fail sends the failure of a tool as an error. There is no word for a call that was
// stopped with its turn, nor for one that a message leaves unfinished.
func (d *rfc) fail() {
	text := ""
	switch p := d.record.Payload.(type) { //nolint:gochecksumtype // the others fail no tool
	case trace.ToolResult:
		if text = p.Error; text == "" {
			text = "Tool execution failed"
		}
		if p.Status == trace.ToolCanceled {
			return
		}
	case trace.PermissionResponse:
		text = refusal(p)
	default:
		return
	}
	if !d.failed {
		d.failed = true
		d.emit(Error{ErrorText: text})
	}
}

// stop ends the turn: only a turn that ended well ends a step, and one whose end is not
// known ends nothing but the message.
func (d *rfc) stop(p trace.Stop) {
	d.flushNext(true)
	reason := finishReason(p.Reason)
	switch p.Outcome {
	case trace.OutcomeFailed:
		text := p.Error
		if text == "" {
			text = "Turn failed"
		}
		d.emit(Error{ErrorText: text})
		reason = finishError
	case trace.OutcomeCanceled:
		d.endText()
		reason = finishOther
	case trace.OutcomeCompleted:
		if reason == finishStop {
			d.endText()
			d.emit(FinishStep{})
		}
	}
	if !d.can.finishReason {
		reason = ""
	}
	d.emit(Finish{Reason: reason})
}
