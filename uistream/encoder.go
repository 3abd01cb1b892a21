package uistream

import (
	"iter"
	"slices"

	"github.com/tributary-dev/tributary/trace"
)

// This file encodes the records of one turn as frames.

// encoder turns the records of one turn into frames.
type encoder struct {
	translation translation
	framing     Framing
	texts       *openTexts // nil: nobody asks for positions
}

func newEncoder(o Options, f Framing) encoder {
	return encoder{translation: newTranslation(o), framing: f.For(o)}
}

// encoded is what the frames of one record have.
type encoded struct {
	begin int // where in the frames a message begins, if fresh
	fresh bool
	// failed says that an error is among the frames, and lost that it stands for a turn
	// of which the agent has not told the end.
	failed, lost bool
}

// encode appends the frames of the record.
func (e encoder) encode(frames []byte, r trace.Record) (_ []byte, m encoded) {
	for _, c := range e.translation.Translate(r) {
		if e.texts != nil {
			var more bool
			if c, more = e.texts.rest(c); !more {
				continue
			}
		}
		switch c.(type) { //nolint:gochecksumtype // the others are not special
		case Start:
			m.fresh, m.begin = true, len(frames)
		case Error:
			stop, ended := r.Payload.(trace.Stop)
			m.failed, m.lost = true, ended && stop.Class == trace.ClassGateway
		}
		frames = e.framing.AppendFrame(frames, c)
	}
	return frames, m
}

// AppendTurn appends the streams of a turn, each with its end: one per
// assistant message. A pause does not end a stream here.
func AppendTurn(dst []byte, records iter.Seq[trace.Record], o Options, f Framing) []byte {
	e := newEncoder(o, f)
	begun, empty := false, len(dst)
	for r := range records {
		var m encoded
		if dst, m = e.encode(dst, r); m.fresh && begun {
			dst = slices.Insert(dst, m.begin, []byte(e.framing.done())...)
		}
		begun = begun || m.fresh
	}
	if len(dst) > empty {
		dst = append(dst, e.framing.done()...)
	}
	return dst
}
