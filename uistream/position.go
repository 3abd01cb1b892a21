package uistream

import (
	"bytes"
	"encoding/json"
	"maps"
)

// This file says how far a client has come in a stream. A gateway passes the stream of another one on, and has another gateway
// go on behind that place when the first one dies.

// Position is a place in the stream of a turn.
type Position struct {
	Turn string `json:"turn"`
	// Seq is the number of the last record of which the client has all chunks.
	Seq uint64 `json:"seq"`
	// Begun says that the client has the start of the message.
	Begun bool `json:"begun,omitempty"`
	// Texts are the bytes that the client has of each part that may grow. The log of a gateway that has died may have less
	// of a text, or the same text in other pieces.
	Texts map[string]int `json:"texts,omitempty"`
}

// The line of a position is a comment of the event stream.
const (
	positionStart = ": at "
	positionEnd   = "\n\n"
)

// CutPositions takes the positions out of the beginning of a stream. It returns what goes to the client, the last of the
// positions if there is one, and the rest, of which the place is not known yet.
func CutPositions(stream []byte) (client []byte, at Position, found bool, rest []byte) {
	for {
		i := positionIn(stream)
		if i < 0 {
			return client, at, found, stream
		}
		line, after, whole := bytes.Cut(stream[i+len(positionStart):], []byte(positionEnd))
		if !whole {
			return client, at, found, stream
		}
		var next Position
		if json.Unmarshal(line, &next) == nil {
			at, found = next, true
		}
		client, stream = append(client, stream[:i]...), after
	}
}

// positionIn is where the first line with a position begins, or -1.
func positionIn(stream []byte) int {
	if bytes.HasPrefix(stream, []byte(positionStart)) {
		return 0
	}
	if i := bytes.Index(stream, []byte("\n"+positionStart)); i >= 0 {
		return i + 1
	}
	return -1
}

// openTexts are the texts of a message that may grow.
type openTexts struct {
	now    map[string]int // their bytes, as this gateway has told them
	had    map[string]int // the bytes that the client had before
	behind bool           // the chunks come behind what the client had
}

// rest is a chunk without what the client has of it, or false if that is all. It notes how long the texts are.
func (t *openTexts) rest(c Chunk) (_ Chunk, more bool) {
	more = true
	switch bare := Bare(c).(type) { //nolint:gochecksumtype // the others are no text that grows
	case TextStart:
		more = t.begin("text " + bare.ID)
	case ReasoningStart:
		more = t.begin("reasoning " + bare.ID)
	case ToolInputStart:
		more = t.begin("input " + bare.ToolCallID)
	case TextDelta:
		bare.Delta = t.grow("text "+bare.ID, bare.Delta)
		return withKeysOf(c, bare), bare.Delta != ""
	case ReasoningDelta:
		bare.Delta = t.grow("reasoning "+bare.ID, bare.Delta)
		return withKeysOf(c, bare), bare.Delta != ""
	case ToolInputDelta:
		bare.Delta = t.grow("input "+bare.ToolCallID, bare.Delta)
		return withKeysOf(c, bare), bare.Delta != ""
	case TextEnd:
		t.over("text " + bare.ID)
	case ReasoningEnd:
		t.over("reasoning " + bare.ID)
	case ToolInputAvailable:
		t.over("input " + bare.ToolCallID)
	case ToolInputError:
		t.over("input " + bare.ToolCallID)
	}
	return c, more
}

// withKeysOf is a chunk with the further keys of another one.
func withKeysOf(c, bare Chunk) Chunk {
	if e, is := c.(Extended); is {
		e.Chunk = bare
		return e
	}
	return bare
}

// begin reports whether the client lacks the start of the part.
func (t *openTexts) begin(part string) bool {
	t.now[part] = 0
	_, has := t.had[part]
	return !has
}

func (t *openTexts) grow(part, more string) string {
	at := t.now[part]
	t.now[part] = at + len(more)
	return more[min(len(more), max(0, t.had[part]-at)):]
}

func (t *openTexts) over(part string) {
	delete(t.now, part)
	if t.behind { // a part that is open at the place may have been open before
		delete(t.had, part)
	}
}

// lengths are the bytes that the client has of each text.
func (t *openTexts) lengths() map[string]int {
	if len(t.now)+len(t.had) == 0 {
		return nil
	}
	all := maps.Clone(t.now)
	for part, n := range t.had {
		all[part] = max(all[part], n)
	}
	return all
}

// GoOn has a Subscription that has read nothing go on behind a place in the same stream.
func (s *Subscription) GoOn(at Position) {
	s.span.From = at.Seq + 1
	s.live, s.begun = false, at.Begun
	if s.texts.had = maps.Clone(at.Texts); s.texts.had == nil {
		s.texts.had = map[string]int{}
	}
}

// TellPositions has a Subscription write its position behind each write.
func (s *Subscription) TellPositions() { s.positions = true }

// tellFirstPosition has the reader know the turn before there is any chunk.
func (s *Subscription) tellFirstPosition() error {
	if !s.positions || s.told {
		return nil
	}
	if err := s.w.begin(); err != nil {
		return err
	}
	return s.w.write(s.appendPosition(nil))
}

// appendPosition appends the line of the place behind all frames.
func (s *Subscription) appendPosition(frames []byte) []byte {
	line, err := json.Marshal(Position{Turn: s.turn, Seq: s.seq, Begun: s.begun, Texts: s.texts.lengths()})
	if err != nil { // it cannot be: these are texts and numbers
		return frames
	}
	s.told = true
	frames = append(frames, positionStart...)
	return append(append(frames, line...), positionEnd...)
}
