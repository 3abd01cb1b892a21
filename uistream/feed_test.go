package uistream_test

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/tributary-dev/tributary/trace"
	"github.com/tributary-dev/tributary/uistream"
)

// feed is the log of one turn that grows while it is read.
type feed struct {
	mu      sync.Mutex
	wake    chan struct{}
	records []trace.Record
	err     error
	closed  bool
	opened  atomic.Int32
	reading atomic.Int32
}

func newFeed(records ...trace.Record) *feed {
	return &feed{wake: make(chan struct{}), records: records}
}

func (f *feed) change(do func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	do()
	close(f.wake)
	f.wake = make(chan struct{})
}

func (f *feed) add(r ...trace.Record) { f.change(func() { f.records = append(f.records, r...) }) }
func (f *feed) fail(err error)        { f.change(func() { f.err = err }) }
func (f *feed) close()                { f.change(func() { f.closed = true }) }

func (f *feed) source(ctx context.Context, after uint64) iter.Seq2[trace.Record, error] {
	f.opened.Add(1)
	return func(yield func(trace.Record, error) bool) {
		f.reading.Add(1)
		defer f.reading.Add(-1)
		for at := 0; ; at++ {
			for {
				f.mu.Lock()
				n, wake, err, closed := len(f.records), f.wake, f.err, f.closed
				f.mu.Unlock()
				if at < n {
					break
				}
				if err != nil {
					yield(trace.Record{}, err)
					return
				}
				if closed {
					return
				}
				select {
				case <-wake:
				case <-ctx.Done():
					yield(trace.Record{}, ctx.Err())
					return
				}
			}
			f.mu.Lock()
			r := f.records[at]
			f.mu.Unlock()
			if r.Seq <= after {
				continue
			}
			if !yield(r, nil) {
				return
			}
			if _, ok := r.Payload.(trace.Stop); ok {
				return
			}
		}
	}
}

// response is a client's end of a response.
type response struct {
	mu     sync.Mutex
	header http.Header
	body   strings.Builder
	hook   func(written int) error
}

func (r *response) Header() http.Header {
	if r.header == nil {
		r.header = http.Header{}
	}
	return r.header
}
func (r *response) WriteHeader(int) {}
func (r *response) Flush()          {}
func (r *response) Write(p []byte) (int, error) {
	r.mu.Lock()
	hook, n := r.hook, r.body.Len()
	r.mu.Unlock()
	if hook != nil {
		if err := hook(n); err != nil {
			return 0, err
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.body.Write(p)
}

func (r *response) text() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.body.String()
}

var comment = regexp.MustCompile(`(?m)^: .*\n\n`)

// frames is the body without comments.
func (r *response) frames() string { return comment.ReplaceAllString(r.text(), "") }

var errGone = errors.New("connection reset by peer")

func serve(ctx context.Context, rs *uistream.Rings, key uistream.Key, f *feed, span uistream.Span) (string, error) {
	var r response
	err := rs.Serve(ctx, uistream.NewWriter(&r, rs.Framing(), uistream.Timing{}), key, f.source, span)
	return r.frames(), err
}

// story is a turn of n lines of text.
func story(tb interface{ Fatal(...any) }, n int, line string) []trace.Record {
	return write(tb, completed(), func(b *trace.Builder) {
		for range n {
			b.MessageDelta("a", line)
		}
	})
}
