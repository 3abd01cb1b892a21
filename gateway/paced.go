package gateway

import (
	"errors"
	"io"
	"net/http"
	"time"
)

// pacedBody gives the sender of a body a while for each piece of it, so that one
// who stops in the middle does not hold its connection for ever.
type pacedBody struct {
	io.ReadCloser
	control *http.ResponseController
	within  time.Duration
}

// paced bounds the wait for a request's body.
func (g *gateway) paced(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Body != nil && r.Body != http.NoBody {
			r.Body = &pacedBody{r.Body, http.NewResponseController(w), g.Options.Read}
		}
		next.ServeHTTP(w, r)
	})
}

// Read implements io.Reader. A connection that knows no deadline is read without.
func (b *pacedBody) Read(p []byte) (int, error) {
	_ = b.control.SetReadDeadline(time.Now().Add(b.within))
	n, err := b.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) { // from here on the server listens for the client's leaving
		_ = b.control.SetReadDeadline(time.Time{})
	}
	return n, err
}
