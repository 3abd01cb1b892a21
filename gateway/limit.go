package gateway

import (
	"errors"
	"fmt"
	"math"
	"net/http"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/tributary-dev/tributary/access"
)

// This file limits the requests of each principal.

// Limits bound the use of the gateway by one principal, so that a program that runs
// wild leaves something for everybody else. No honest app meets the defaults: a
// thousand tabs that come back at once after a restart do not, nor does an app's
// server that holds one token for all of its users. Of each, zero means the default
// and a negative number no bound.
type Limits struct {
	// Requests is how many a second may go on for ever (100); Burst is how many
	// may come at once (2,000). Without a bound on the one there is none on the other:
	// a bucket that is never empty needs no filling.
	Requests, Burst int
	// Streams is how many responses that stream a principal may have open (4,000).
	Streams int
	// Clients is how many may follow one session, a turn of it, its events or its
	// trace, beside those whose prompts run or wait there (2,000).
	Clients int
	// Memory bounds what the large requests of a principal hold, without the oldest (400 MB).
	// Chats count until they are on record. Reads of the log count until the client has the
	// answer; they have a bound of their own, which is as large.
	Memory int64
}

func (l Limits) withDefaults() Limits {
	for _, d := range []struct {
		of        *int
		byDefault int
	}{{&l.Requests, 100}, {&l.Burst, 2000}, {&l.Streams, 4000}, {&l.Clients, 2000}} {
		if *d.of == 0 {
			*d.of = d.byDefault
		}
	}
	if l.Memory == 0 {
		l.Memory = 400 << 20
	}
	return l
}

// rateLimited refuses somebody who has had enough for now.
type rateLimited struct {
	code     string
	sentence string
	wait     time.Duration
}

func (e *rateLimited) Error() string { return e.sentence }

// limiter keeps the Limits. Idle principals are evicted, so the limiter's memory is
// bounded.
type limiter struct {
	limits Limits

	mu       sync.Mutex
	of       map[string]*share // by principal
	clients  map[string]int    // by session
	lookover int               // how many shares there may be before those at rest go
}

// share is what one principal has of the gateway.
type share struct {
	tokens  *rate.Limiter
	streams int
	memory  [memClasses]memQueue
}

func newLimiter(l Limits) *limiter {
	const few = 1000
	return &limiter{limits: l.withDefaults(), of: map[string]*share{}, clients: map[string]int{}, lookover: few}
}

// share returns the share of a principal. The caller holds l.mu.
func (l *limiter) share(principal string) *share {
	if s := l.of[principal]; s != nil {
		return s
	}
	if len(l.of) >= l.lookover {
		for id, s := range l.of {
			if s.rests() {
				delete(l.of, id)
			}
		}
		l.lookover = max(l.lookover, 2*len(l.of))
	}
	s := &share{tokens: l.bucket()}
	l.of[principal] = s
	return s
}

func (l *limiter) bucket() *rate.Limiter {
	if l.limits.Requests < 0 || l.limits.Burst < 0 {
		return rate.NewLimiter(rate.Inf, 0)
	}
	return rate.NewLimiter(rate.Limit(l.limits.Requests), l.limits.Burst)
}

// rests reports whether a new share would be the same.
func (s *share) rests() bool {
	return s.streams == 0 && s.empty() && s.tokens.Tokens() >= float64(s.tokens.Burst())
}

// request takes one request from a principal's bucket.
func (l *limiter) request(principal string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.share(principal).tokens.Reserve()
	wait := r.Delay()
	if wait == 0 {
		return nil
	}
	r.Cancel()
	return &rateLimited{
		"too_many_requests",
		fmt.Sprintf("These are too many requests: send at most %d a second, and try again in a moment.", l.limits.Requests),
		wait,
	}
}

// stream counts a stream of a principal until the returned function is called.
func (l *limiter) stream(principal string) (leave func(), err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.share(principal)
	if l.limits.Streams >= 0 && s.streams >= l.limits.Streams {
		return nil, &rateLimited{
			"too_many_streams",
			fmt.Sprintf("You have %d streams open, which is the most that may be: close some, and try again.", s.streams),
			laterWait,
		}
	}
	s.streams++
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		s.streams--
	}, nil
}

// follow counts a client that follows a session until the returned function is
// called.
func (l *limiter) follow(session string) (leave func(), err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.limits.Clients >= 0 && l.clients[session] >= l.limits.Clients {
		return nil, &rateLimited{
			"too_many_clients",
			fmt.Sprintf("%d clients follow this session, which is the most that may: try again when one of them has left.", l.limits.Clients),
			laterWait,
		}
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

// within lets a request through whose sender has not sent too many.
func (g *gateway) within(h handler) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		if p, ok := access.From(r.Context()); ok {
			if err := g.limiter.request(p.ID); err != nil {
				return err
			}
		}
		return h(w, r)
	}
}

// streaming lets a request through that is to be answered by a stream, unless its
// sender has too many of them. A prompt must not be taken whose stream is not.
func (g *gateway) streaming(h handler) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		leave, err := g.limiter.stream(caller(r))
		if err != nil {
			return err
		}
		defer leave()
		r, cancel := expiring(r)
		defer cancel()
		return h(w, r)
	}
}

// laterWait is when to come back where nobody can know it.
const laterWait = 5 * time.Second

// retryAfter is the header of every refusal that a later request may escape.
func retryAfter(err error) string {
	wait := laterWait
	if much, ok := errors.AsType[*rateLimited](err); ok {
		wait = much.wait
	}
	return fmt.Sprint(max(1, int64(math.Ceil(wait.Seconds()))))
}
