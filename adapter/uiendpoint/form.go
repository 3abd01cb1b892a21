package uiendpoint

import "github.com/tributary-dev/tributary/uistream"

// This file tells who runs a call, by the marks of its chunks.

// withForm returns the chunk of a call with another form. Releases differ in which chunks
// of a call they mark.
func withForm(c uistream.Chunk, f uistream.Form) uistream.Chunk {
	switch b := c.(type) { //nolint:gochecksumtype // the others have no form
	case uistream.Extended:
		b.Chunk = withForm(b.Chunk, f)
		return b
	case uistream.ToolInputAvailable:
		b.Form = f
		return b
	case uistream.ToolInputError:
		b.Form = f
		return b
	case uistream.ToolOutputAvailable:
		b.Form = f
		return b
	case uistream.ToolOutputError:
		b.Form = f
		return b
	}
	return c
}

// formOf returns the form of a call that a chunk begins, or shows whole.
func formOf(c uistream.Chunk) (f uistream.Form, begins bool) {
	switch c := c.(type) { //nolint:gochecksumtype // the others begin no call
	case uistream.ToolInputStart:
		return c.Form, true
	case uistream.ToolInputAvailable:
		return c.Form, true
	case uistream.ToolInputError:
		return c.Form, true
	}
	return uistream.Form{}, false
}

// emptyPart is a text or a reasoning that has no words and yet further keys.
func emptyPart(reasoning bool, keys uistream.Keys) uistream.Chunk {
	if reasoning {
		return uistream.Other{Name: "reasoning", Keys: keys}
	}
	return uistream.Other{Name: "text", Keys: keys}
}
