package uistream

import (
	"iter"

	"github.com/tributary-dev/tributary/trace"
)

// Framing says what stands in a frame besides the chunk. The stock clients read
// none of it.
type Framing struct {
	// NoEvents leaves out the event lines, which hold the type of the chunk.
	NoEvents bool
	// Cursor names the place after a record, for the id line of its last frame.
	// There are no id lines without it.
	Cursor func(session string, seq uint64) string
}

// done ends a stream. Nothing may follow the text on its line.
const done = "data: [DONE]\n\n"

// AppendFrame appends the chunk as a server-sent event.
func (f Framing) AppendFrame(dst []byte, c Chunk) []byte { return f.appendFrame(dst, c, "") }

func (f Framing) appendFrame(dst []byte, c Chunk, id string) []byte {
	if !f.NoEvents {
		dst = append(dst, "event: "...)
		if d, ok := c.(Data); ok {
			dst = append(append(dst, dataPrefix...), dataName(d.Name)...)
		} else {
			dst = append(dst, c.Type()...)
		}
		dst = append(dst, '\n')
	}
	if id != "" {
		dst = append(append(append(dst, "id: "...), id...), '\n')
	}
	dst = append(dst, "data: "...)
	dst = AppendChunk(dst, c)
	return append(dst, '\n', '\n')
}

// AppendTurn appends the streams of a turn, each with its end: one per
// assistant message. A park does not end a stream here.
func AppendTurn(dst []byte, records iter.Seq[trace.Record], o Options, f Framing) []byte {
	p := pipe{translator: NewTranslator(o), framing: f}
	begun := false
	for r := range records {
		e := p.next(r)
		dst = append(dst, e.bytes[:e.tail]...)
		if e.fresh && begun {
			dst = append(dst, done...)
		}
		dst = append(dst, e.bytes[e.tail:]...)
		begun = begun || e.fresh
	}
	if begun {
		dst = append(dst, done...)
	}
	return dst
}

// entry is what one record has become.
type entry struct {
	seq     uint64
	offset  int64  // bytes of the turn up to and with this record
	bytes   []byte // frames
	message string // the assistant message that it ends in
	// fresh says that a message begins here; what stands before tail belongs to
	// the one before.
	fresh bool
	tail  int
	park  bool
	end   bool
	// failed says that an error is among the frames, and lost that it stands for a
	// turn of which the agent has not told the end.
	failed, lost bool
}

// pipe turns the records of a turn into entries.
type pipe struct {
	translator *Translator
	framing    Framing
	offset     int64
	scratch    []byte
}

// next is what the record becomes. Its bytes are good until the next one.
func (p *pipe) next(r trace.Record) entry {
	chunks := p.translator.Translate(r)
	e := entry{seq: r.Seq, park: p.translator.Parked(), end: p.translator.Over(), message: p.translator.MessageID()}
	p.scratch = p.scratch[:0]
	for i, c := range chunks {
		switch c.(type) {
		case Start:
			e.fresh, e.tail = true, len(p.scratch)
		case Error:
			stop, ended := r.Payload.(trace.Stop)
			e.failed, e.lost = true, ended && stop.Lost()
		}
		id := ""
		if i == len(chunks)-1 && p.framing.Cursor != nil {
			id = p.framing.Cursor(r.Session, r.Seq)
		}
		p.scratch = p.framing.appendFrame(p.scratch, c, id)
	}
	e.bytes = p.scratch
	if cap(p.scratch) > 64<<10 {
		p.scratch = nil
	}
	p.offset += int64(len(e.bytes))
	e.offset = p.offset
	return e
}
