package gateway

import (
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/tributary-dev/tributary/access"
)

// Reading a body costs up to three times the largest text in it, 100 MB at the
// worst. So of one principal only a few large ones are read at once.
const (
	bulkAtOnce = 4
	bulkFrom   = 1 << 20 // what is no larger costs little
)

// bulkBody waits for a place once so much of a body has come that it is large,
// and gives the place back when the body is over.
type bulkBody struct {
	io.ReadCloser
	limiter *limiter
	share   *share
	within  time.Duration // how long it may wait in line
	read    int64
	placed  bool
	leave   sync.Once
}

// bulk bounds how many large bodies of a principal are read at once. The caller
// is to call done when nobody reads the body any more.
func (l *limiter) bulk(principal string, body io.ReadCloser, within time.Duration) *bulkBody {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.share(principal)
	s.holds++
	return &bulkBody{ReadCloser: body, limiter: l, share: s, within: within}
}

// bulky bounds the large bodies of each principal.
func (g *gateway) bulky(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if p, ok := access.From(r.Context()); ok && r.Body != nil && r.Body != http.NoBody {
			body := g.limiter.bulk(p.ID, r.Body, g.Read)
			defer body.done()
			r = r.WithContext(r.Context())
			r.Body = body
		}
		next.ServeHTTP(w, r)
	})
}

// Read implements io.Reader.
func (b *bulkBody) Read(p []byte) (int, error) {
	if b.read > bulkFrom && !b.placed {
		if err := b.place(); err != nil {
			return 0, err
		}
	}
	n, err := b.ReadCloser.Read(p)
	b.read += int64(n)
	if err != nil {
		b.done()
	}
	return n, err
}

func (b *bulkBody) place() error {
	timer := time.NewTimer(b.within)
	defer timer.Stop()
	select {
	case b.share.bulk <- struct{}{}:
		b.placed = true
		return nil
	case <-timer.C:
		return &tooMuch{
			"too_many_uploads",
			fmt.Sprintf("%d large messages of yours are being read already: try again when one of them is through.", bulkAtOnce),
			laterWait,
		}
	}
}

// done gives the place back, once.
func (b *bulkBody) done() {
	b.leave.Do(func() {
		if b.placed {
			<-b.share.bulk
		}
		b.limiter.mu.Lock()
		defer b.limiter.mu.Unlock()
		b.share.holds--
	})
}

// sized refuses a chat whose length says already that it is too large, before any
// of it is read.
func sized(h handler) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		if r.ContentLength > postLimits.body {
			return &bodyError{http.StatusRequestEntityTooLarge, fmt.Sprintf("The request body is larger than %d MB.", postLimits.body>>20)}
		}
		return h(w, r)
	}
}
