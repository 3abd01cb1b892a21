package session

import (
	"fmt"

	"github.com/tributary-dev/tributary/internal/size"
	"github.com/tributary-dev/tributary/trace"
)

// This file bounds the output of a turn, and what all turns hold in memory. An agent that
// goes round in circles would fill the disk, and the memory of every reader of its turn.

// maxEvent bounds a text, a thought, the input of a call, and each other event, in bytes.
const maxEvent = 32 << 20

// maxHeld bounds the texts, thoughts, and calls without a result that one turn holds.
const maxHeld = 64 << 20

// reserve implements trace.Config.Reserve.
func (h *Hub) reserve(bytes int64) bool {
	return h.held.Add(bytes) <= h.MaxHeldBytes || bytes < 0 || h.MaxHeldBytes < 0
}

// exceeded ends a turn whose agent has exceeded a bound.
func (t *turn) exceeded(b trace.Bound) {
	o := t.session.hub.Options
	why := ""
	switch b {
	case trace.BoundBytes:
		why = fmt.Sprintf("The agent has written %s in this turn, which is the most that one may have", size.Bytes(o.MaxTurnBytes))
	case trace.BoundRecords:
		why = fmt.Sprintf("The agent has made %d records in this turn, which is the most that one may have", o.MaxTurnRecords)
	case trace.BoundEvent:
		why = fmt.Sprintf("The agent has written more than %s in one piece, which is the most that a text or the input of a tool may have", size.Bytes(maxEvent))
	case trace.BoundHeld:
		why = fmt.Sprintf("The agent has more than %s of texts and open tool calls in this turn, which is the most that one may have", size.Bytes(maxHeld))
	case trace.BoundReserve:
		why = fmt.Sprintf("The turns that run hold %s in memory, which is the most that they may have together", size.Bytes(o.MaxHeldBytes))
	}
	t.tooMuch.Store(true)
	t.endNow(failed(trace.ReasonTooMuch, why+", so the turn was ended: send a new message to go on."))
}
