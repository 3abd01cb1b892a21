package cluster

import (
	"errors"
	"io"
	"net/http"
	"os"
	"sync/atomic"

	"github.com/tributary-dev/tributary/gateway/refusal"
)

// This file keeps bodies that may be sent again.

// mostKept bounds a body that is kept, so that it can be sent again.
const mostKept = 1 << 20

// keep reads a small body into memory.
func keep(r *http.Request) error {
	if r.ContentLength <= 0 || r.ContentLength > mostKept || r.Body == nil {
		return nil
	}
	text, err := io.ReadAll(r.Body)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return refusal.TooSlow()
	}
	if err != nil {
		return refusal.Malformed("The request body ends too early: %v.", err)
	}
	newKeptBody(text).of(r)
	return nil
}

// keptBody is a body that can be sent again, until its text is given up. An owner may answer before it has read it all.
type keptBody struct{ text atomic.Pointer[[]byte] }

func newKeptBody(text []byte) *keptBody {
	b := &keptBody{}
	b.text.Store(&text)
	return b
}

// kept is the text, or nothing.
func (b *keptBody) kept() []byte {
	if text := b.text.Load(); text != nil {
		return *text
	}
	return nil
}

// of makes it the body of a request.
func (b *keptBody) of(r *http.Request) {
	r.GetBody = func() (io.ReadCloser, error) { return &keptReader{b, 0}, nil }
	r.Body, _ = r.GetBody()
	r.ContentLength = int64(len(b.kept()))
}

// keptReader reads a keptBody. The request that has it may live as long as its answer.
type keptReader struct {
	*keptBody
	at int
}

// Read implements io.Reader.
func (k *keptReader) Read(p []byte) (int, error) {
	text := k.kept()
	if k.at >= len(text) {
		return 0, io.EOF
	}
	n := copy(p, text[k.at:])
	k.at += n
	return n, nil
}

// Close implements io.Closer.
func (*keptReader) Close() error { return nil }
