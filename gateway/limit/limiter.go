package limit

import (
	"sync"

	"golang.org/x/time/rate"

	"github.com/tributary-dev/tributary/gateway/refusal"
)

// Options bound the use of the gateway by one principal, so that a program that runs wild
// leaves room for others. No honest app meets the defaults. Examples are a thousand tabs
// that reconnect at once, and an app's server with one token for all of its users. Zero
// means the default, and a negative number no bound.
type Options struct {
	// Requests is the rate that may last, per second (100); Burst is the number of
	// requests that may come at once (2,000). If either has no bound, the other has none:
	// a bucket that is never empty needs no filling.
	Requests, Burst int
	// Streams is the number of streamed responses that a principal may have open (4,000).
	Streams int
	// Clients is the number of clients that may read one session's turns, events or trace,
	// beside those whose prompts run or wait there (2,000).
	Clients int
	// Memory bounds what the large requests of a principal hold, without the oldest (400 MB).
	// Chats count until they are on record. Reads of the log count until the client has the
	// answer; they have a bound of their own, which is as large.
	Memory int64
}

func (o Options) withDefaults() Options {
	for _, d := range []struct {
		of        *int
		byDefault int
	}{{&o.Requests, 100}, {&o.Burst, 2000}, {&o.Streams, 4000}, {&o.Clients, 2000}} {
		if *d.of == 0 {
			*d.of = d.byDefault
		}
	}
	if o.Memory == 0 {
		o.Memory = 400 << 20
	}
	return o
}

// Limiter counts what each principal uses. Idle principals are evicted, so the limiter's
// memory is bounded. A Limiter is safe for concurrent use.
type Limiter struct {
	options Options

	mu      sync.Mutex
	of      map[string]*share // by principal
	clients map[string]int    // by session
	evictAt int               // the number of shares at which idle ones are evicted
}

// share is what one principal uses.
type share struct {
	tokens  *rate.Limiter
	streams int
	memory  [classes]queue
}

// New returns a Limiter that nobody uses yet.
func New(o Options) *Limiter {
	const few = 1000
	return &Limiter{options: o.withDefaults(), of: map[string]*share{}, clients: map[string]int{}, evictAt: few}
}

// share returns the share of a principal. The caller holds l.mu.
func (l *Limiter) share(principal string) *share {
	if s := l.of[principal]; s != nil {
		return s
	}
	if len(l.of) >= l.evictAt {
		for id, s := range l.of {
			if s.idle() {
				delete(l.of, id)
			}
		}
		l.evictAt = max(l.evictAt, 2*len(l.of))
	}
	s := &share{tokens: l.bucket()}
	l.of[principal] = s
	return s
}

func (l *Limiter) bucket() *rate.Limiter {
	if l.options.Requests < 0 || l.options.Burst < 0 {
		return rate.NewLimiter(rate.Inf, 0)
	}
	return rate.NewLimiter(rate.Limit(l.options.Requests), l.options.Burst)
}

// idle reports whether a new share would be the same.
func (s *share) idle() bool {
	return s.streams == 0 && s.empty() && s.tokens.Tokens() >= float64(s.tokens.Burst())
}

// Request takes one request from a principal's bucket.
func (l *Limiter) Request(principal string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.share(principal).tokens.Reserve()
	wait := r.Delay()
	if wait == 0 {
		return nil
	}
	r.Cancel()
	return refusal.TooMany("too_many_requests", wait, "These are too many requests: send at most %d a second, and try again in a moment.", l.options.Requests)
}

// Stream counts a stream of a principal until the returned function is called.
func (l *Limiter) Stream(principal string) (leave func(), err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.share(principal)
	if l.options.Streams >= 0 && s.streams >= l.options.Streams {
		return nil, later("too_many_streams", "You have %d streams open, which is the most that may be: close some, and try again.", s.streams)
	}
	s.streams++
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		s.streams--
	}, nil
}

// Client counts a client that reads a session until the returned function is called.
func (l *Limiter) Client(session string) (leave func(), err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.options.Clients >= 0 && l.clients[session] >= l.options.Clients {
		return nil, later("too_many_clients", "%d clients follow this session, which is the most that may: try again when one of them has left.", l.options.Clients)
	}
	l.clients[session]++
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.clients[session]--; l.clients[session] == 0 {
			delete(l.clients, session)
		}
	}, nil
}

// later refuses a request until the sender or somebody else uses less.
func later(code, format string, args ...any) error {
	return refusal.TooMany(code, refusal.DefaultWait, format, args...)
}
