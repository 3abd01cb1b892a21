package natslog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
)

// errGone says that there is no message at the place, or not a sound one.
var errGone = errors.New("the message is not in the store")

// message is one of a stream.
type message struct {
	at   uint64
	body []byte
}

type getRequest struct {
	Seq       uint64 `json:"seq,omitempty"`
	Next      string `json:"next_by_subj,omitempty"`
	Last      string `json:"last_by_subj,omitempty"`
	NoHeaders bool   `json:"no_hdr,omitempty"`
}

// next gets the first message on the subject from the given place on.
func (s *Store) next(ctx context.Context, stream, subject string, from uint64) (message, error) {
	return s.get(ctx, stream, getRequest{Seq: max(from, 1), Next: subject})
}

// last gets the last message on the subject.
func (s *Store) last(ctx context.Context, stream, subject string) (message, error) {
	return s.get(ctx, stream, getRequest{Last: subject})
}

// at gets the message at the place.
func (s *Store) at(ctx context.Context, stream string, at uint64) (message, error) {
	return s.get(ctx, stream, getRequest{Seq: at})
}

func (s *Store) get(ctx context.Context, stream string, r getRequest) (message, error) {
	request, err := json.Marshal(r)
	if err != nil {
		return message{}, err
	}
	bounded, cancel := context.WithTimeout(ctx, getTimeout)
	defer cancel()
	m, err := s.reads.RequestWithContext(bounded, directGet(stream), request)
	if err != nil {
		if ctx.Err() != nil {
			return message{}, ctx.Err()
		}
		return message{}, fmt.Errorf("read the log from NATS: %w", err)
	}
	if err := status(m); err != nil {
		return message{}, err
	}
	at, err := strconv.ParseUint(m.Header.Get("Nats-Sequence"), 10, 64)
	if err != nil {
		return message{}, fmt.Errorf("read the log from NATS: the answer doesn't say which message it is: %w", err)
	}
	return message{at: at, body: m.Data}, nil
}

func directGet(stream string) string { return "$JS.API.DIRECT.GET." + stream }

func status(m *nats.Msg) error {
	switch s := m.Header.Get("Status"); s {
	case "":
		return nil
	case "404":
		return errGone
	case "503":
		return errors.New("read the log from NATS: the server does not answer for the stream: is JetStream enabled there?")
	default:
		return fmt.Errorf("read the log from NATS: status %s %s", s, m.Header.Get("Description"))
	}
}

// Bounds of what one reader has under way. They keep the server's buffer for the
// connection small, whatever the size of the messages.
const (
	windowMessages = 64
	windowBytes    = 4 << 20
)

// getter gets many messages by their places and hands them out in the order they
// were asked for.
type getter struct {
	store   *Store
	subject string
	inbox   string
	sub     *nats.Subscription
	answers chan *nats.Msg
	early   map[int]*nats.Msg
	sizes   []int
	bytes   int
	asked   int
	taken   int
}

func (s *Store) getter(stream string) (*getter, error) {
	g := &getter{
		store: s, subject: directGet(stream), inbox: s.reads.NewInbox(),
		answers: make(chan *nats.Msg, windowMessages+1), early: map[int]*nats.Msg{},
	}
	sub, err := s.reads.ChanSubscribe(g.inbox+".*", g.answers)
	if err != nil {
		return nil, fmt.Errorf("read the log from NATS: %w", err)
	}
	g.sub = sub
	return g, nil
}

func (g *getter) close() { _ = g.sub.Unsubscribe() }

// room reports whether one more message of that size may be asked for.
func (g *getter) room(size int) bool {
	n := g.asked - g.taken
	return n == 0 || n < windowMessages && g.bytes+size <= windowBytes
}

func (g *getter) ask(at uint64, size int) error {
	request := fmt.Appendf(nil, `{"seq":%d,"no_hdr":true}`, at)
	if err := g.store.reads.PublishRequest(g.subject, g.inbox+"."+strconv.Itoa(g.asked), request); err != nil {
		return fmt.Errorf("read the log from NATS: %w", err)
	}
	g.asked++
	g.sizes = append(g.sizes, size)
	g.bytes += size
	return nil
}

// take waits for the next message that was asked for.
func (g *getter) take(ctx context.Context) ([]byte, error) {
	m := g.early[g.taken]
	if m == nil {
		late := time.NewTimer(getTimeout)
		defer late.Stop()
		for m == nil {
			select {
			case <-ctx.Done():
				return nil, ctx.Err()
			case <-g.store.closing:
				return nil, errClosing
			case <-late.C:
				return nil, fmt.Errorf("read the log from NATS: no answer for %v: is the server overloaded or gone?", getTimeout)
			case a := <-g.answers:
				n, err := strconv.Atoi(a.Subject[strings.LastIndexByte(a.Subject, '.')+1:])
				if err != nil || n < g.taken {
					continue
				}
				if n == g.taken {
					m = a
				} else {
					g.early[n] = a
				}
			}
		}
	}
	delete(g.early, g.taken)
	g.bytes -= g.sizes[0]
	g.sizes = g.sizes[1:]
	g.taken++
	if err := status(m); err != nil {
		return nil, err
	}
	return m.Data, nil
}
