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
	// long says that event lines, and comments, have the words of the letter.
	long bool
	// legacy says that chunks have the legacy form.
	legacy bool
}

// For returns the framing of streams with these options.
func (f Framing) For(o Options) Framing {
	f.long, f.legacy = o.Letter, o.Legacy
	return f
}

// alive is the comment that breaks a silence.
func (f Framing) alive() string {
	if f.long {
		return ": keepalive\n\n"
	}
	return ": keep-alive\n\n"
}

// event is the name in the event line of a chunk.
func (f Framing) event(c Chunk) string {
	switch typ := c.Type(); {
	case f.long && (typ == "start" || typ == "finish"):
		return "message-" + typ
	default:
		return typ
	}
}

// done ends a stream. Nothing may follow the text on its line.
func (f Framing) done() string {
	if f.legacy {
		return ""
	}
	return "data: [DONE]\n\n"
}

// AppendFrame appends the chunk as a server-sent event.
func (f Framing) AppendFrame(dst []byte, c Chunk) []byte { return f.appendFrame(dst, c, "") }

func (f Framing) appendFrame(dst []byte, c Chunk, id string) []byte {
	if f.legacy {
		if line := appendLegacy(nil, c); len(line) > 0 {
			dst = append(append(append(dst, "data: "...), line...), '\n', '\n')
		}
		return dst
	}
	if !f.NoEvents {
		dst = append(dst, "event: "...)
		if d, ok := c.(Data); ok {
			dst = append(append(dst, dataPrefix...), dataName(d.Name)...)
		} else {
			dst = append(dst, f.event(c)...)
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
	f = f.For(o)
	p := pipe{translator: NewTranslator(o), framing: f}
	begun, empty := false, len(dst)
	for r := range records {
		e := p.next(r)
		dst = append(dst, e.bytes[:e.tail]...)
		if e.fresh && begun {
			dst = append(dst, f.done()...)
		}
		dst = append(dst, e.bytes[e.tail:]...)
		begun = begun || e.fresh
	}
	if len(dst) > empty {
		dst = append(dst, f.done()...)
	}
	return dst
}

// entry is what one record has become.
type entry struct {
	seq     uint64
	offset  int64  // bytes of the turn up to and with this record
	bytes   []byte // frames
	message string // the assistant message that it ends in
	text    string // the part of text that was open before it, where parts outlive a park
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
	text := p.translator.openTextID()
	chunks := p.translator.Translate(r)
	e := entry{seq: r.Seq, text: text, park: p.translator.Parked(), end: p.translator.Over(), message: p.translator.MessageID()}
	p.scratch = p.scratch[:0]
	for i, c := range chunks {
		if _, ok := c.(Start); ok {
			e.fresh, e.tail = true, len(p.scratch)
		}
		if _, ok := c.(Error); ok {
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
