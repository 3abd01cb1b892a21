package chatbody

import (
	"encoding/json"
	"io"
	"slices"

	"github.com/tributary-dev/tributary/gateway/refusal"
)

// This file bounds the cost of reading JSON.

// tokenReader bounds a single token, which the decoder holds in memory whole.
type tokenReader struct {
	r       io.Reader
	at      func() int64 // where the token that is being read begins
	read    int64
	most    int64
	space   spaceCount // behind the last token, so far
	long    int64      // the longest token, so far
	reserve func() error
}

// held is the cost of tokens. The decoder's buffer may be twice the longest of them, and
// stays. A text is copied from it once to replace what was escaped, and once to be kept.
func (t *tokenReader) held() int64 { return 2*t.long + 2*(t.read-t.at()) }

func (t *tokenReader) Read(p []byte) (int, error) {
	if t.read-t.at() > t.most {
		return 0, refusal.TooLarge("The request holds a text larger than %d MB.", t.most>>20)
	}
	piece := int64(maxSpace + 1) // so that more space than may be ends a piece
	if space := int64(t.space); space >= t.read-t.at() {
		piece -= space
	}
	if piece <= 0 {
		return 0, refusal.Malformed("The request body holds more than %d KB of space in a row: send it without.", maxSpace>>10)
	}
	if t.reserve != nil {
		if err := t.reserve(); err != nil {
			return 0, err
		}
	}
	n, err := t.r.Read(p[:min(int64(len(p)), piece)])
	t.read += int64(n)
	t.long = max(t.long, t.read-t.at())
	t.space.read(p[:n])
	return n, err
}

// maxSpace bounds the space between two tokens of a body. The decoder scans all of the space
// again for each piece that arrives: 16 MB took a minute and a half.
const maxSpace = 64 << 10

// spaceCount counts the space at the end of what was read so far.
type spaceCount int64

func (b *spaceCount) read(p []byte) {
	for i, c := range slices.Backward(p) {
		switch c {
		case ' ', '\t', '\r', '\n':
		default:
			*b = spaceCount(len(p) - 1 - i)
			return
		}
	}
	*b += spaceCount(len(p))
}

// maxPassedOn bounds a value that goes on record as it was sent.
const maxPassedOn = 1 << 20

// passThroughJSON makes the JSON of a value that is passed on as it is. The texts are measured
// first, because JSON may take six bytes for one byte of text.
func passThroughJSON(name string, v any) (json.RawMessage, error) {
	if textsIn(v) > maxPassedOn {
		return nil, tooMuchPassedOn(name)
	}
	raw, err := json.Marshal(v)
	switch {
	case err != nil:
		return nil, refusal.Malformed("The `%s` cannot be read.", name)
	case len(raw) > maxPassedOn:
		return nil, tooMuchPassedOn(name)
	}
	return raw, nil
}

func tooMuchPassedOn(name string) error {
	return refusal.TooLarge("The `%s` is larger than %d MB: send less.", name, maxPassedOn>>20)
}

// textsIn is the length of all texts and numbers in a value.
func textsIn(v any) (n int) {
	switch v := v.(type) {
	case string:
		return len(v)
	case json.Number:
		return len(v)
	case []any:
		for _, item := range v {
			n += textsIn(item)
		}
	case map[string]any:
		for key, item := range v {
			n += len(key) + textsIn(item)
		}
	}
	return n
}
