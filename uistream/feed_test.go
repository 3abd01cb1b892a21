package uistream_test

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"regexp"
	"slices"
	"sort"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/tributary-dev/tributary/trace"
	"github.com/tributary-dev/tributary/uistream"
)

// feed is the log of one turn that grows while it is read.
type feed struct {
	mu       sync.Mutex
	watches  []chan<- struct{}
	ended    chan struct{}
	end      sync.Once
	held     bool // why it ended without a stop
	detached bool // as held
	records  []trace.Record
	err      error
	panics   atomic.Bool
	reads    atomic.Int32 // how often it was read
	read     atomic.Int32 // how many records were

	refuses  error        // to admit subscribers
	admitted atomic.Int32 // subscribers that read now
	asked    atomic.Int32 // how often one was admitted
}

func newFeed(records ...trace.Record) *feed {
	f := &feed{ended: make(chan struct{})}
	f.add(records...)
	return f
}

func (f *feed) change(do func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	do()
	for _, woken := range f.watches {
		select {
		case woken <- struct{}{}:
		default:
		}
	}
}

func (f *feed) add(all ...trace.Record) {
	f.change(func() { f.records = append(f.records, all...) })
	if n := len(all); n > 0 && all[n-1].Payload.Kind() == trace.KindStop {
		f.close()
	}
}
func (f *feed) fail(err error) { f.change(func() { f.err = err }) }
func (f *feed) close()         { f.end.Do(func() { f.change(func() { close(f.ended) }) }) }

func (f *feed) Ended() <-chan struct{} { return f.ended }
func (f *feed) Held() bool             { return f.held }
func (f *feed) Detached() bool         { return f.detached }

func (f *feed) Admit(context.Context) (done func(), err error) {
	if f.refuses != nil {
		return nil, f.refuses
	}
	f.asked.Add(1)
	f.admitted.Add(1)
	return func() { f.admitted.Add(-1) }, nil
}

func (f *feed) Watch(woken chan<- struct{}) (stop func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.watches = append(f.watches, woken)
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.watches = slices.DeleteFunc(f.watches, func(o chan<- struct{}) bool { return o == woken })
	}
}

func (f *feed) Records(ctx context.Context, after uint64) iter.Seq2[trace.Record, error] {
	f.reads.Add(1)
	f.mu.Lock()
	records, err := f.records, f.err
	f.mu.Unlock()
	return func(yield func(trace.Record, error) bool) {
		if f.panics.Load() {
			panic("a bug")
		}
		at := sort.Search(len(records), func(i int) bool { return records[i].Seq > after })
		for _, r := range records[at:] {
			if ctx.Err() != nil {
				yield(trace.Record{}, ctx.Err())
				return
			}
			f.read.Add(1)
			if !yield(r, nil) {
				return
			}
		}
		if err != nil {
			yield(trace.Record{}, err)
		}
	}
}

// Recent has what Records yields, but for an error.
func (f *feed) Recent(after uint64) (records []trace.Record, all bool) {
	f.reads.Add(1)
	if f.panics.Load() {
		panic("a bug")
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	at := sort.Search(len(f.records), func(i int) bool { return f.records[i].Seq > after })
	f.read.Add(int32(len(f.records) - at)) //nolint:gosec // few
	return f.records[at:], f.err == nil
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

func serve(ctx context.Context, bc *uistream.Streams, o uistream.Options, f uistream.Source, span uistream.Span) (string, error) {
	var r response
	err := bc.Serve(ctx, uistream.NewWriter(&r, bc.Framing().For(o), uistream.Timing{}), uistream.NewSubscription("t1", o, span), f)
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
