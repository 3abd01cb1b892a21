package limit

import (
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/tributary-dev/tributary/gateway/refusal"
)

// Timeouts bounds every wait for a client: for the pieces of its body, and until it
// takes the pieces of a response. So a client that stops in the middle, or
// disappears, does not hold its connection for ever. A piece of a body must come within
// read. The client must take a piece of a response within write.
func Timeouts(next http.Handler, read, write time.Duration) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		control := http.NewResponseController(w)
		timed := &timedResponse{ResponseWriter: w, control: control, within: write}
		if r.Body != nil && r.Body != http.NoBody {
			timed.body = &timedBody{ReadCloser: r.Body, control: control, within: read, began: time.Now()}
			timed.body.extend() // also if no handler reads it: then the server does, before it answers
			r = r.WithContext(r.Context())
			r.Body = timed.body // of a copy, for the server looks at the body of its own
		}
		timed.extend()
		next.ServeHTTP(timed, r)
		timed.own = false
		timed.extend() // for what the server itself still holds
	})
}

// timedBody limits the wait for each piece of a body, and the sum of these waits: a
// sender of one byte now and then must not hold its connection.
type timedBody struct {
	io.ReadCloser
	control *http.ResponseController
	within  time.Duration
	began   time.Time
	read    int64
	until   time.Time // when the piece that is awaited must be here; zero once all are
}

// slowestBody is the least average rate of a body, in bytes a second, after the first
// piece. The slowest of modems was faster.
const slowestBody = 1 << 10

// Read implements io.Reader.
func (b *timedBody) Read(p []byte) (int, error) {
	b.extend()
	n, err := b.ReadCloser.Read(p)
	b.read += int64(n)
	if errors.Is(err, io.EOF) { // from here on the server listens for the client's leaving
		b.until = time.Time{}
		_ = b.control.SetReadDeadline(b.until)
	} else if err != nil && isMalformed(err) {
		err = refusal.Malformed("The request body cannot be read: its chunks are malformed.")
	}
	return n, err
}

// isMalformed reports whether the server could not read the chunks of a body. Its errors
// for that have no type. Errors of the connection have one.
func isMalformed(err error) bool {
	_, network := errors.AsType[net.Error](err)
	return !network && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, os.ErrDeadlineExceeded) && !errors.Is(err, http.ErrBodyReadAfterClose)
}

// extend sets the deadline of the next piece. A connection without deadlines is read
// without them.
func (b *timedBody) extend() {
	b.until = time.Now().Add(b.within)
	if last := b.began.Add(b.within + time.Duration(b.read)*time.Second/slowestBody); last.Before(b.until) {
		b.until = last
	}
	_ = b.control.SetReadDeadline(b.until)
}

// timedResponse limits the wait until the client takes each piece of a response. A
// stream sets deadlines of its own, which replace these.
type timedResponse struct {
	http.ResponseWriter
	control *http.ResponseController
	within  time.Duration
	body    *timedBody // of the request, if it has one
	own     bool
}

// piece is the part of a response that has a deadline of its own: a slow reader gets all
// of a long history, if it reads.
const piece = 32 << 10

// extend sets the deadline of the next piece. Its time begins when the rest of the body
// is here or given up, because the server writes nothing before.
func (p *timedResponse) extend() {
	if p.own {
		return
	}
	from := time.Now()
	if p.body != nil && p.body.until.After(from) {
		from = p.body.until
	}
	_ = p.control.SetWriteDeadline(from.Add(p.within))
}

// WriteHeader implements http.ResponseWriter.
func (p *timedResponse) WriteHeader(status int) {
	p.extend()
	p.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (p *timedResponse) Write(data []byte) (written int, err error) {
	if p.own {
		return p.ResponseWriter.Write(data)
	}
	for first := true; first || len(data) > 0; first = false {
		p.extend()
		n, err := p.ResponseWriter.Write(data[:min(len(data), piece)])
		written += n
		if err != nil {
			return written, err
		}
		data = data[n:]
	}
	return written, nil
}

// SetWriteDeadline is for http.ResponseController: its caller paces the response
// itself.
func (p *timedResponse) SetWriteDeadline(deadline time.Time) error {
	p.own = true
	return p.control.SetWriteDeadline(deadline)
}

// Unwrap lets http.ResponseController reach the connection.
func (p *timedResponse) Unwrap() http.ResponseWriter { return p.ResponseWriter }
