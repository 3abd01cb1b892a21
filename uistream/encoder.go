package uistream

import (
	"fmt"
	"iter"
	"runtime/debug"
	"time"

	"github.com/tributary-dev/tributary/trace"
)

// This file encodes the records of one turn as frames.

// encoder turns the records of one turn into frames. It knows how far it has come in the
// log, so a copy of it can go on from there.
type encoder struct {
	translation translation
	framing     Framing
	turn        string // the others are passed over; "" for a log of one turn
	seq         uint64 // the last record of the log that was taken
	own         uint64 // the last of them that belongs to the turn
	content     int64  // how much the client has been told, see weight
}

func newEncoder(turn string, o Options, f Framing) *encoder {
	return &encoder{translation: newTranslation(o), framing: f.For(o), turn: turn}
}

// clone returns an encoder that goes on from here and shares nothing that changes.
func (e *encoder) clone() *encoder {
	c := *e
	c.translation = e.translation.clone()
	return &c
}

// block is encoded records, side by side: one array of frames, and one without pointers
// for all else. A turn has thousands of records, and an object for each would slow the
// garbage collector, for which words wait. A block only grows, so that readers may hold
// slices of it.
type block struct {
	frames    []byte
	refs      []recordRef
	positions []textPosition
}

// recordRef is what is known of one record in a block.
type recordRef struct {
	seq      uint64
	content  int64
	end      int // of its frames in the block
	begin    int // where a message begins among them, if fresh
	position int
	fresh    bool // a message begins in this record
	pause    bool
	over     bool
	// failed says that an error is among the frames, and lost that it stands for a turn
	// of which the agent has not told the end.
	failed, lost bool
}

// textPosition is where in the turn records stand: the message that they end in, and the text
// that is open before them, where texts outlive a pause.
type textPosition struct{ message, text string }

// refSize is what a record costs besides its frames.
const refSize = 64

func (b *block) size() int { return len(b.frames) + len(b.refs)*refSize }

// encode puts the record behind the others of the block.
func (e *encoder) encode(r trace.Record, b *block) {
	e.seq = r.Seq
	if e.turn != "" && r.Turn != e.turn {
		return
	}
	e.own = r.Seq
	at := textPosition{text: e.translation.openText()}
	m := recordRef{seq: r.Seq}
	for _, c := range e.translation.Translate(r) {
		from := len(b.frames)
		switch c.(type) { //nolint:gochecksumtype // the others are not special
		case Start:
			m.fresh, m.begin = true, from
		case Error:
			stop, ended := r.Payload.(trace.Stop)
			m.failed, m.lost = true, ended && stop.Class == trace.ClassGateway
		}
		b.frames = e.framing.AppendFrame(b.frames, c)
		e.content += weight(c, len(b.frames)-from)
	}
	at.message = e.translation.MessageID()
	if n := len(b.positions); n == 0 || b.positions[n-1] != at {
		b.positions = append(b.positions, at)
	}
	m.position, m.end, m.content = len(b.positions)-1, len(b.frames), e.content
	m.pause, m.over = e.translation.Paused(), e.translation.Over()
	b.refs = append(b.refs, m)
}

// weight is what a chunk adds to the content of a turn. Two encoders with the same content
// behind the same record are in the same state. So the content does not depend on how a text
// was cut into deltas, nor on previews, which a log may drop.
func weight(c Chunk, frame int) int64 {
	switch c := c.(type) { //nolint:gochecksumtype // the others are never merged or dropped
	case TextDelta:
		return int64(len(c.Delta))
	case ReasoningDelta:
		return int64(len(c.Delta))
	case ToolInputDelta:
		return int64(len(c.Delta))
	case Data:
		if c.Transient {
			return 0
		}
	case ToolOutputAvailable:
		if c.Preliminary {
			return 0
		}
	}
	return int64(frame)
}

// read encodes what a source has after the encoder's place, up to about as many bytes as
// given. It reports whether that was all. A panic ends this stream, not the process.
func (e *encoder) read(records iter.Seq2[trace.Record, error], b *block, atMost int, c *cost) (all bool, err error) {
	var began time.Time
	n, size := len(b.refs), b.size()
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v\n%s", errPanic, p, debug.Stack())
		}
		if taken := len(b.refs) - n; taken > 0 {
			c.spend(taken, time.Since(began))
		}
	}()
	for r, err := range records {
		if err != nil {
			return false, err
		}
		if began.IsZero() {
			began = time.Now()
		}
		e.encode(r, b)
		if over := len(b.refs) > n && b.refs[len(b.refs)-1].over; over || b.size()-size >= atMost {
			return over, nil
		}
	}
	return true, nil
}

// AppendTurn appends the streams of a turn, each with its end: one per
// assistant message. A pause does not end a stream here.
func AppendTurn(dst []byte, records iter.Seq[trace.Record], o Options, f Framing) []byte {
	e := newEncoder("", o, f)
	var b block
	begun, empty := false, len(dst)
	for r := range records {
		b.frames, b.refs, b.positions = b.frames[:0], b.refs[:0], b.positions[:0]
		e.encode(r, &b)
		m := b.refs[0]
		dst = append(dst, b.frames[:m.begin]...)
		if m.fresh && begun {
			dst = append(dst, e.framing.done()...)
		}
		dst = append(dst, b.frames[m.begin:]...)
		begun = begun || m.fresh
	}
	if len(dst) > empty {
		dst = append(dst, e.framing.done()...)
	}
	return dst
}
