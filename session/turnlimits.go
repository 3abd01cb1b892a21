package session

import (
	"fmt"

	"github.com/tributary-dev/tributary/internal/size"
	"github.com/tributary-dev/tributary/trace"
)

// This file bounds the output of a turn.

// turnLimits count the output of one turn. An agent that goes round in circles would fill the
// disk, and the memory of every reader of its turn. The appends of a turn come one after
// another, so turnLimits need no lock.
type turnLimits struct {
	bytes   int64
	records int
	over    bool
}

// spend counts events and returns a sentence once they are too many.
func (b *turnLimits) spend(events []trace.Event, o Options) (sentence string) {
	for _, e := range events {
		b.bytes += int64(trace.ApproxSize(e.Payload))
		if trace.Ephemeral(e.Payload) {
			b.bytes -= trace.WeightOfHeader // the log joins small deltas
		} else {
			b.records++
		}
	}
	switch {
	case b.over:
		return ""
	case o.MaxTurnBytes > 0 && b.bytes > o.MaxTurnBytes:
		sentence = fmt.Sprintf("The agent has written %s in this turn, which is the most that one may have, so the turn was ended: send a new message to go on.", size.Bytes(o.MaxTurnBytes))
	case o.MaxTurnRecords > 0 && b.records > o.MaxTurnRecords:
		sentence = fmt.Sprintf("The agent has made %d records in this turn, which is the most that one may have, so the turn was ended: send a new message to go on.", o.MaxTurnRecords)
	}
	b.over = sentence != ""
	return sentence
}
