package remote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/internal/httpjson"
	"github.com/tributary-dev/tributary/internal/sse"
	"github.com/tributary-dev/tributary/trace"
)

// patience is how often in a row a stream may fail to open again, and forever is a time limit
// that nothing reaches.
const (
	patience = 8
	forever  = 1000 * time.Hour
)

// lastEvent is the header of a call that goes on with a stream.
const lastEvent = "Last-Event-ID"

// run is the connection of one turn: its streams, one after another.
type run struct {
	s     *Session
	b     *trace.Builder
	first func(context.Context) (*Call, error) // the request that begins, or nil
	turn  context.Context                      //nolint:containedctx // says whether the turn is left to the server
	life  context.Context                      //nolint:containedctx // ends with the turn
	end   context.CancelFunc
	once  sync.Once
	lost  chan struct{} // closed when the run cannot go on
	why   trace.Stop    // set before lost is closed
	// streams are the readers. They end with life, and none begins after that.
	streams sync.WaitGroup
}

var _ agentkit.Link = (*run)(nil)

// left reports whether the turn goes on without the gateway.
func (r *run) left() bool { return errors.Is(context.Cause(r.turn), agent.ErrDetached) }

// lose ends the run with a sentence; "" is the end of the session.
func (r *run) lose(sentence string) {
	r.once.Do(func() {
		if r.why = lostStop(sentence); sentence == "" {
			r.why = closed()
		}
		r.end()
		close(r.lost)
	})
}

// lostStop is the end of a turn whose server is lost, and closed the end of one whose session was closed.
func lostStop(sentence string) trace.Stop {
	return trace.Stop{Reason: trace.ReasonLost, Outcome: trace.OutcomeFailed, Error: sentence}
}
func closed() trace.Stop { return trace.Stop{Reason: "closed", Outcome: trace.OutcomeCanceled} }

// Connect implements agentkit.Link. A stop that the server has not got goes first.
func (r *run) Connect(ctx context.Context) (agentkit.Connection, error) {
	s := r.s
	s.mu.Lock()
	unheard := s.unheard
	s.mu.Unlock()
	if unheard != nil {
		_, err := s.spec.Transport.Do(ctx, *unheard, s.caller(*unheard))
		if refused, ok := errors.AsType[*httpjson.Error](err); err != nil && (!ok || refused.Status == 0) {
			return agentkit.Connection{}, err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unheard, s.run = nil, r
	return agentkit.Connection{Lost: r.lost}, nil
}

// Send implements agentkit.Link. A request whose sending is broken off may run all the same,
// so it is sent and then stopped.
func (r *run) Send(ctx context.Context) error {
	c, err := r.first(ctx)
	if err != nil || c == nil {
		return err
	}
	if err := r.s.Sent(c.sent()); err != nil { //nolint:contextcheck // effects end with the session
		return err
	}
	return r.s.refusal(r.open(*c)) //nolint:contextcheck // the stream ends with the turn
}

// hint says what to look at after a refusal that says nothing itself.
func hint(e *httpjson.Error) string {
	switch {
	case e.Status == http.StatusUnauthorized, e.Status == http.StatusForbidden:
		return fmt.Sprintf(" (status %d): is its token right?", e.Status)
	case e.Message == http.StatusText(e.Status) && e.Status/100 == 4:
		return fmt.Sprintf(" (status %d): is the address %s right?", e.Status, e.Server+e.Path)
	case e.Message == http.StatusText(e.Status):
		return fmt.Sprintf(" (status %d): its own log says why", e.Status)
	}
	return ""
}

// Stop implements agentkit.Link. An undelivered stop is sent again.
func (r *run) Stop(ctx context.Context) error {
	c, ok := r.s.protocol.Stop()
	if !ok || r.s.withAsking((*Asking).paused) {
		return errors.New("the run ends with its stream, or has ended")
	}
	err := r.s.Send(ctx, c.JSON())
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	if r.s.unheard = &c; err == nil {
		r.s.unheard = nil
	}
	return nil
}

// Cut implements agentkit.Link.
func (r *run) Cut() { r.end() }

// Lost implements agentkit.Link: the run has gone on as long as it could.
func (r *run) Lost(agentkit.Loss) (again bool, end trace.Stop) { return false, r.why }

// leave ends what the turn has of the connection, and waits for it: the end of a stream must
// not be taken for that of the next turn's.
func (r *run) leave() {
	r.s.mu.Lock()
	r.end()
	if r.s.run == r {
		r.s.run = nil
	}
	r.s.mu.Unlock()
	r.streams.Wait()
}

// open makes a call whose answer is a stream, and reads the stream.
func (r *run) open(c Call) error {
	s := r.s
	stream, err := s.spec.Transport.Stream(r.life, c, s.caller(c))
	found := s.spec.Finds && lost(err)
	if found {
		if err := s.Received(heard(Ended, End{Error: err.Error()})); err != nil {
			s.Config().Logger.Debug(err.Error())
		}
		stream, err = r.goOn(Break{Err: err}, 0)
	}
	if err != nil || stream == nil {
		return err
	}
	if err := s.Received(heard(Opened, End{})); err != nil {
		s.Config().Logger.Debug(err.Error())
	}
	last := &mark{joined: found || c.Header[lastEvent] != "", seen: map[uint64]bool{}}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := r.life.Err(); err != nil {
		stream.Close()
		return err
	}
	r.streams.Go(func() { r.follow(stream, last) }) //nolint:contextcheck // the stream ends with the turn
	return nil
}

// follow reads a stream to the end of its run.
func (r *run) follow(stream Stream, last *mark) {
	s := r.s
	runs := 0
	s.withAsking(func(a *Asking) bool { runs = a.runs; return true })
	for stream != nil {
		again := last.joined
		news, err := r.hear(stream, last)
		if r.life.Err() != nil {
			return
		}
		if foreign, is := errors.AsType[foreignError](err); is {
			r.lose(s.spec.Name + " does not speak " + cmp.Or(s.spec.Speaks, "the protocol of its adapter") + ": " + foreign.Error())
			return
		}
		end := End{}
		if err != nil {
			end.Error = err.Error()
		}
		if err := s.Received(heard(Ended, end)); err != nil {
			s.Config().Logger.Warn(err.Error())
		}
		if r.b.Over() || s.withAsking(func(a *Asking) bool { return err == nil && a.Waits() || a.runs > runs }) {
			return
		}
		last.joined = true
		wait := time.Duration(0)
		if again && news == 0 {
			wait = time.Second // the stream ends again and again without a word
		}
		if stream, err = r.goOn(Break{LastID: last.id, Err: err}, wait); err != nil && r.life.Err() == nil {
			r.lose(s.sentence(err))
		}
	}
}

// goOn opens the stream that goes on with a run, after a while. It returns nil if there is no
// such stream.
func (r *run) goOn(b Break, wait time.Duration) (stream Stream, err error) {
	err = r.retry(temporary, func() error {
		next, err := r.s.protocol.GoOn(r.life, b)
		if err == nil && next != nil {
			pause(r.life, wait)
			stream, err = r.s.spec.Transport.Stream(r.life, *next, r.s.caller(*next))
		}
		return err
	})
	return stream, err
}

// retry tries again, later each time, while a call fails in a way that may pass.
func (r *run) retry(passes func(error) bool, call func() error) (err error) {
	for failures := range patience {
		if failures > 0 {
			r.s.Config().Logger.Debug("the run cannot be reached", "error", err)
			pause(r.life, min(100*time.Millisecond<<failures, 5*time.Second))
		}
		if err = call(); err == nil || !passes(err) || r.life.Err() != nil {
			return err
		}
	}
	return err
}

// unsent reports whether a call has not reached the server, so that it may be sent again.
func unsent(err error) bool {
	op, ok := errors.AsType[*net.OpError](err)
	return ok && op.Op == "dial"
}

// temporary reports whether a call may succeed later.
func temporary(err error) bool {
	failed, ok := errors.AsType[*httpjson.Error](err)
	return ok && (failed.Status == 0 || failed.Status == http.StatusTooManyRequests || failed.Status/100 == 5)
}

// lost reports whether a call may have reached the server, and its answer has not come.
func lost(err error) bool {
	failed, ok := errors.AsType[*httpjson.Error](err)
	return ok && failed.Status == 0 && !unsent(err)
}

// mark is the place that the streams of a run have reached: the newest id, and the events so
// far. Some servers give one id to several events.
type mark struct {
	id     string
	joined bool // the stream goes on with a run
	seen   map[uint64]bool
}

// most bounds the events that a mark knows.
const most = 1 << 18

// take moves the mark to an event. It reports true if the event has come before, in a stream
// that goes on with the run: a server may send any of the old events again.
func (m *mark) take(e Event) (again bool) {
	if e.ID == "" {
		return false
	}
	key := maphash.Bytes(seed, append([]byte(e.ID+"\x00"), e.Data...))
	if m.joined && m.seen[key] {
		return true
	}
	if m.id = e.ID; len(m.seen) < most {
		m.seen[key] = true
	}
	return false
}

//nolint:gochecknoglobals // never written
var seed = maphash.MakeSeed()

// hear hands the events of one stream to the Decoder. It returns how many were new, and why
// the stream broke off.
func (r *run) hear(stream Stream, last *mark) (news int, _ error) {
	s := r.s
	defer stream.Close()
	defer context.AfterFunc(r.life, stream.Close)()
	var silent atomic.Bool
	silence := time.AfterFunc(cmp.Or(s.spec.Silence, forever), func() {
		silent.Store(true)
		stream.Close()
	})
	defer silence.Stop()
	var foreign error // the Decoder does not know the first event
	understood := false
	for e, err := range stream.Events() {
		silence.Reset(cmp.Or(s.spec.Silence, forever))
		if _, skipped := errors.AsType[sse.TooLargeError](err); skipped {
			s.Config().Logger.Warn(err.Error())
			continue
		}
		switch {
		case err != nil && s.finished():
			return news, nil
		case err != nil && silent.Load():
			return news, fmt.Errorf("the server sent nothing for %v", s.spec.Silence)
		case err != nil:
			return news, err
		}
		if last.take(e) {
			continue
		}
		silence.Stop() // the server is not silent while the gateway works
		if err := s.Room(r.life); err != nil {
			return news, err
		}
		if err := s.Received(agent.Message{Dir: agent.Out, Channel: e.Name, Data: e.Data}); err != nil {
			s.Config().Logger.Warn(err.Error())
			if news == 0 && foreign == nil && !last.joined {
				foreign = foreignTo(e.Data)
			}
		} else if string(e.Data) != doneMark {
			understood = true
		}
		news++
		limit := cmp.Or(s.spec.Silence, forever)
		if s.finished() {
			limit = Linger
		}
		silence.Reset(limit)
	}
	if understood {
		foreign = nil
	}
	return news, foreign
}

// doneMark is how streams of many protocols end.
const doneMark = `"[DONE]"`

// finished reports whether the run is over, as far as the Protocol can tell.
func (s *Session) finished() (is bool) {
	if f, tells := s.protocol.(Finisher); tells {
		s.Do(func() { is = f.Finished() })
	}
	return is
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}
