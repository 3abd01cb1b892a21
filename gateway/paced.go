package gateway

import (
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/tributary-dev/tributary/access"
)

// paced bounds every wait for a client: for the pieces of its body, and for its
// taking the pieces of a response. Whoever stops in the middle, or is gone without
// a word, does not hold its connection for ever.
func (g *gateway) paced(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		control := http.NewResponseController(w)
		if r.Body != nil && r.Body != http.NoBody {
			r.Body = &pacedBody{ReadCloser: r.Body, control: control, within: g.Options.Read, began: time.Now()}
			if p, ok := access.From(r.Context()); ok {
				body := g.limiter.bulk(p.ID, r.Body, g.Options.Read)
				defer body.done()
				r.Body = body
			}
		}
		paced := &pacedResponse{ResponseWriter: w, control: control, within: g.Timing.Write}
		paced.extend()
		next.ServeHTTP(paced, r)
	})
}

// pacedBody gives the sender of a body a while for each piece of it, and bounds
// the sum of these whiles: one byte now and then is no body that arrives.
type pacedBody struct {
	io.ReadCloser
	control *http.ResponseController
	within  time.Duration
	began   time.Time
	read    int64
}

// slowestBody is how many bytes a second a body must have on average, after the
// first while. The slowest of modems was faster.
const slowestBody = 1 << 10

// Read implements io.Reader. A connection that knows no deadline is read without.
func (b *pacedBody) Read(p []byte) (int, error) {
	deadline := time.Now().Add(b.within)
	if last := b.began.Add(b.within + time.Duration(b.read)*time.Second/slowestBody); last.Before(deadline) {
		deadline = last
	}
	_ = b.control.SetReadDeadline(deadline)
	n, err := b.ReadCloser.Read(p)
	b.read += int64(n)
	if errors.Is(err, io.EOF) { // from here on the server listens for the client's leaving
		_ = b.control.SetReadDeadline(time.Time{})
	}
	return n, err
}

// pacedResponse gives the reader of a response a while for each piece of it. A
// stream sets deadlines of its own, and then they hold.
type pacedResponse struct {
	http.ResponseWriter
	control *http.ResponseController
	within  time.Duration
	own     bool
}

// piece is how much of a response has its while: a slow reader gets all of a long
// history, if it reads.
const piece = 32 << 10

func (p *pacedResponse) extend() {
	if !p.own {
		_ = p.control.SetWriteDeadline(time.Now().Add(p.within))
	}
}

// WriteHeader implements http.ResponseWriter.
func (p *pacedResponse) WriteHeader(status int) {
	p.extend()
	p.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (p *pacedResponse) Write(data []byte) (written int, err error) {
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

// SetWriteDeadline is for http.ResponseController: whoever calls it paces the
// response itself.
func (p *pacedResponse) SetWriteDeadline(deadline time.Time) error {
	p.own = true
	return p.control.SetWriteDeadline(deadline)
}

// Unwrap lets http.ResponseController reach the connection.
func (p *pacedResponse) Unwrap() http.ResponseWriter { return p.ResponseWriter }
