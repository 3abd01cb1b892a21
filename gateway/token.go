package gateway

import (
	"fmt"
	"io"
	"net/http"
)

// tokenReader bounds a single token, which the decoder holds in memory whole.
type tokenReader struct {
	r    io.Reader
	at   func() int64 // where the token that is being read begins
	read int64
	most int64
	none blank // of a token, so far
	long int64 // the longest token, so far
	room func() error
}

// held is what tokens cost. The decoder's buffer may be twice the longest of them, and
// stays. A text is copied from it once to replace what was escaped, and once to be kept.
func (t *tokenReader) held() int64 { return 2*t.long + 2*(t.read-t.at()) }

func (t *tokenReader) Read(p []byte) (int, error) {
	if t.read-t.at() > t.most {
		return 0, &bodyError{http.StatusRequestEntityTooLarge, fmt.Sprintf("The request holds a text larger than %d MB.", t.most>>20)}
	}
	piece := int64(maxBlank + 1) // so that more space than may be ends a piece
	if none := int64(t.none); none >= t.read-t.at() {
		piece -= none
	}
	if piece <= 0 {
		return 0, malformed("The request body holds more than %d KB of space in a row: send it without.", maxBlank>>10)
	}
	if t.room != nil {
		if err := t.room(); err != nil {
			return 0, err
		}
	}
	n, err := t.r.Read(p[:min(int64(len(p)), piece)])
	t.read += int64(n)
	t.long = max(t.long, t.read-t.at())
	t.none.read(p[:n])
	return n, err
}
