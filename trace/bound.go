package trace

import "encoding/json"

// This file bounds what an agent may write in a turn, and what a turn holds in memory.

// Bound is a bound of a turn that the agent has exceeded.
type Bound uint8

// The bounds of a turn.
const (
	// BoundBytes is Config.MaxBytes, and BoundRecords is Config.MaxRecords.
	BoundBytes Bound = iota + 1
	BoundRecords
	// BoundEvent is Config.MaxEvent: a text, a thought, the input of a call, or another
	// event that is no output of a tool, was too large.
	BoundEvent
	// BoundHeld is Config.MaxHeld, and BoundReserve says that Config.Reserve has refused.
	BoundHeld
	BoundReserve
)

const (
	// weightOfDelta is what a delta of an open part costs in memory beside its text.
	weightOfDelta = 16
	// reserveStep is the unit in which a turn reserves memory. A turn that holds less
	// reserves nothing, so a small turn never fails because of large ones.
	reserveStep = 1 << 20
)

// usage is what a turn has cost so far.
type usage struct {
	bytes, records int64
	held           int64 // bytes in memory until the turn ends, or until its owner lets go
	reserved       int64 // of them, in steps
	heardAt        int   // how many events there were at the last call of Heard
	exceeded       Bound
	told           bool // the owner of the turn knows
	touch          bool // the call under way is Touch
}

// silentShare is the part of its size that a message weighs that puts nothing on record. Some
// agents repeat what they have said in each of many messages.
const silentShare = 16

// Heard says that the agent has sent one more message of so many bytes. A message that puts
// nothing on record weighs a sixteenth of its size, and at least as much as an event without
// content. So an agent that goes on without a word comes to the end of MaxBytes. Heard is no
// sign of life; see Touch.
func (b *Builder) Heard(bytes int) {
	t := b.turn
	t.mu.Lock()
	if t.n == t.use.heardAt {
		t.spend(max(header, bytes/silentShare), 0)
	}
	t.use.heardAt = t.n
	c := t.takeChanges()
	t.mu.Unlock()
	t.announce(c)
}

// Hold says that the caller keeps so many bytes of the agent's output in memory until the
// turn ends, beside those that the Builder keeps.
func (b *Builder) Hold(bytes int) { b.do(func(t *turn) { t.hold(bytes) }) }

// spend counts what goes on record.
func (t *turn) spend(bytes, records int) {
	t.use.bytes += int64(bytes)
	t.use.records += int64(records)
	switch {
	case t.MaxBytes > 0 && t.use.bytes > t.MaxBytes:
		t.exceed(BoundBytes)
	case t.MaxRecords > 0 && t.use.records > t.MaxRecords:
		t.exceed(BoundRecords)
	}
}

// hold counts bytes that stay in memory. A negative number lets go.
func (t *turn) hold(bytes int) {
	t.use.held += int64(bytes)
	if t.MaxHeld > 0 && t.use.held > t.MaxHeld {
		t.exceed(BoundHeld)
	}
	if t.Reserve == nil {
		return
	}
	if step := t.use.held/reserveStep*reserveStep - t.use.reserved; step != 0 {
		t.use.reserved += step
		if !t.Reserve(step) {
			t.exceed(BoundReserve)
		}
	}
}

// release lets go of all that the turn holds.
func (t *turn) release() { t.hold(-int(t.use.held)) }

// exceed notes the first bound that the agent has exceeded. Without an owner who ends the
// turn, the turn goes on.
func (t *turn) exceed(b Bound) {
	if t.use.exceeded == 0 && t.Exceeded != nil && !t.done {
		t.use.exceeded = b
	}
}

// tooLarge counts a text, an input or another event of the agent that is larger than MaxEvent.
func (t *turn) tooLarge() {
	t.counts.Cut++
	t.exceed(BoundEvent)
}

// weightOf is what an event counts. The log joins deltas, so a delta counts its text only;
// other ephemeral events count like those that stay.
func weightOf(e Event) (bytes, records int) {
	bytes = ApproxSize(e.Payload) + len(e.Actor)
	switch e.Payload.(type) { //nolint:gochecksumtype // the others are whole
	case MessageDelta, ThoughtDelta, ToolCallDelta:
		return bytes - header, 0
	}
	return bytes, 1
}

// fits reports whether an event of the agent is small enough for the log. One that is not
// counts as too large.
func (t *turn) fits(p Payload) bool {
	if ApproxSize(p)-header <= t.MaxEvent {
		return true
	}
	t.tooLarge()
	return false
}

// weigh counts what a call holds.
func (t *turn) weigh(c *call) {
	now := 2*header + c.tool.size() + len(c.tool.ToolCallID) + c.text.Len() + len(c.draft)
	if c.output != nil {
		now += c.output.text.Len()
	}
	t.hold(now - c.held)
	c.held = now
}

// weighPart counts what a part holds. The log forgets the deltas of a part that has ended.
func (t *turn) weighPart(p *part) {
	now := header + p.text.Len() + weightOfDelta*p.deltas
	if p.closed {
		now -= weightOfDelta * p.deltas
	}
	t.hold(now - p.held)
	p.held = now
}

// boundInput bounds the input of a call. One that is too large is dropped, because the
// beginning of an input is another input.
func (t *turn) boundInput(input json.RawMessage) json.RawMessage {
	if len(input) <= max(t.MaxEvent, len(noInput)) {
		return input
	}
	t.tooLarge()
	return json.RawMessage(noInput)
}

const noInput = "{}"
