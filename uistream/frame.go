package uistream

import "github.com/tributary-dev/tributary/trace"

// This file writes chunks as server-sent events.

// Framing says what stands in a frame besides the chunk. The stock clients read
// none of it.
type Framing struct {
	// NoEvents leaves out the event lines, which hold the type of the chunk.
	NoEvents bool
	// rfc says that event lines, and comments, have the words of the Agent Ops RFC.
	rfc bool
	// legacy says that chunks have the legacy form.
	legacy bool
}

// For returns the framing of streams with these options.
func (f Framing) For(o Options) Framing {
	f.rfc, f.legacy = o.RFC, o.Legacy
	return f
}

// alive is the comment that breaks a silence.
func (f Framing) alive() string {
	if f.rfc {
		return ": keepalive\n\n"
	}
	return ": keep-alive\n\n"
}

// event is the name in the event line of a chunk.
func (f Framing) event(c Chunk) string {
	typ := c.Type()
	if f.rfc && (typ == "start" || typ == "finish") {
		return "message-" + typ
	}
	return typ
}

// done ends a stream. Nothing may follow the text on its line.
func (f Framing) done() string {
	if f.legacy {
		return ""
	}
	return "data: [DONE]\n\n"
}

// AppendFrame appends the chunk as a server-sent event.
func (f Framing) AppendFrame(dst []byte, c Chunk) []byte {
	if f.legacy {
		if line := appendLegacy(nil, c); len(line) > 0 {
			dst = append(append(append(dst, "data: "...), line...), '\n', '\n')
		}
		return dst
	}
	if !f.NoEvents {
		dst = append(dst, "event: "...)
		if d, ok := c.(Data); ok {
			dst = append(append(dst, dataPrefix...), trace.CleanDataName(d.Name)...)
		} else {
			dst = append(dst, f.event(c)...)
		}
		dst = append(dst, '\n')
	}
	dst = append(dst, "data: "...)
	dst = AppendChunk(dst, c)
	return append(dst, '\n', '\n')
}
