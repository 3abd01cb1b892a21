package otlp

import (
	"cmp"
	"fmt"
	"io"
	"iter"
	"strings"
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/tributary-dev/tributary/export/reader"
	"github.com/tributary-dev/tributary/export/redact"
	"github.com/tributary-dev/tributary/trace"
)

// This file makes the spans of a turn.

// Options say what is written.
type Options struct {
	redact.Filter

	// Version is that of the program that exports.
	Version string
	// Proto writes protobuf and not JSON.
	Proto bool
}

// The bounds of one request, which a turn may need several of.
const (
	mostSpans = 500
	mostBytes = 4 << 20
)

// Write writes the turns that have stopped: as lines of JSON, each of which is one request, or as
// protobuf, which is one request as a whole. It returns how many turns it wrote. It refuses what
// [Turns] refuses.
//
// Each call of records reads the session from its start: first for the scores.
func Write(w io.Writer, records func() iter.Seq2[trace.Record, error], o Options) (turns int, err error) {
	for requests, err := range Turns(records, o) {
		if err != nil {
			return turns, err
		}
		for _, r := range requests {
			encode := r.Proto
			if !o.Proto {
				encode = r.line
			}
			out, err := encode()
			if err != nil {
				return turns, err
			}
			if _, err := w.Write(out); err != nil {
				return turns, fmt.Errorf("write spans: %w", err)
			}
		}
		turns++
	}
	return turns, nil
}

// CheckTime refuses a turn before the year 2000. It is of a recording, whose clock begins at 0, and
// receivers would file it under 1970.
func CheckTime(t *reader.Turn) error {
	if t.Start.Year() < 2000 {
		return fmt.Errorf("the records have times of %d, as a recording's clock begins at 0, and a receiver would file them there: say when it was with --at", t.Start.Year())
	}
	return nil
}

// Turns yields the requests of each turn that has stopped, or an error and then nothing. It refuses
// what [CheckTime] refuses. Each call of records reads the session from its start: first for the scores.
func Turns(records func() iter.Seq2[trace.Record, error], o Options) iter.Seq2[[]Request, error] {
	return func(yield func([]Request, error) bool) {
		outline, err := reader.Survey(records())
		if err != nil {
			yield(nil, err)
			return
		}
		for t, err := range reader.Turns(records(), outline.Scored()) {
			if err == nil && !o.Has(t) {
				continue
			}
			var requests []Request
			if err == nil {
				err = CheckTime(t)
			}
			if err == nil {
				requests, err = Turn(t, o)
			}
			if !yield(requests, err) || err != nil {
				return
			}
		}
	}
}

// Turn makes the requests of a turn, which it filters in place. The span of the turn is the
// last one, so that a receiver has it when it has all.
func Turn(t *reader.Turn, o Options) ([]Request, error) {
	o.Apply(t)
	m := newMaker(t)
	for _, a := range t.Actors {
		m.actor(a)
	}
	for _, c := range t.Calls {
		m.call(c)
	}
	for _, q := range t.Requests {
		m.request(q)
	}
	for _, q := range t.Questions {
		m.question(q)
	}
	for _, s := range t.Scores {
		m.evaluation(s)
	}
	m.gateway()
	m.root()
	return m.requests(o.Version)
}

// Scores makes the requests of the scores of a turn alone, which it filters in place: the other spans
// were sent before.
func Scores(t *reader.Turn, o Options) ([]Request, error) {
	o.Apply(t)
	m := newMaker(t)
	for _, s := range t.Scores {
		m.evaluation(s)
	}
	return m.requests(o.Version)
}

type maker struct {
	t             *reader.Turn
	trace, parent []byte // parent is that of the turn's span: the caller's, if any
	rootID        []byte
	session       string // as receivers take it
	user          string
	lastStep      *reader.Step
	spans         []*tracepb.Span
	agent         string
	provider      string
}

func newMaker(t *reader.Turn) *maker {
	m := &maker{t: t, rootID: hash("turn", t.Session, t.ID)[:8], session: short(t.Session)}
	m.agent = cmp.Or(t.Agent.Name, t.Agent.Product, t.Agent.Adapter, "agent")
	m.provider = cmp.Or(t.Agent.Provider, t.Agent.Adapter, "unknown")
	traceparent := ""
	for _, p := range t.Prompts {
		traceparent, m.user = cmp.Or(traceparent, p.Traceparent), cmp.Or(m.user, p.By)
	}
	m.trace, m.parent = traceOf(t.Session, t.ID, traceparent)
	if steps := t.Main().Steps; len(steps) > 0 {
		m.lastStep = steps[len(steps)-1]
	}
	return m
}

// short is a session's id as every receiver takes it: at most 200 characters of ASCII.
func short(id string) string {
	const most = 200
	if len(id) > most || strings.ContainsFunc(id, func(r rune) bool { return r < ' ' || r > '~' }) {
		return fmt.Sprintf("%x", hash(id))
	}
	return id
}

func (m *maker) id(word, key string) []byte {
	if key == "" {
		return hash(word, m.t.Session, m.t.ID)[:8]
	}
	return hash(word, m.t.Session, m.t.ID, key)[:8]
}

// under is the span of an actor.
func (m *maker) under(a *reader.Actor) []byte {
	if !a.Subagent() {
		return m.rootID
	}
	return m.id("subagent", string(a.ID))
}

func nanos(t time.Time) uint64 { return uint64(max(0, t.UnixNano())) } //nolint:gosec // not negative

// span adds a span with what all spans have. It is of the kind internal, and has no error.
func (m *maker) span(id, parent []byte, name string, seq uint64, from, to time.Time, a attrs) *tracepb.Span {
	a.texts("session.id", m.session, "gen_ai.conversation.id", m.session)
	a.add("tributary.seq", integer(int64(seq))) //nolint:gosec // numbers of records are small
	a.texts("user.id", m.user)
	s := &tracepb.Span{
		TraceId: m.trace, SpanId: id, ParentSpanId: parent, Name: clean(name), Kind: tracepb.Span_SPAN_KIND_INTERNAL,
		StartTimeUnixNano: nanos(from), EndTimeUnixNano: max(nanos(from), nanos(to)), Attributes: a,
	}
	m.spans = append(m.spans, s)
	return s
}

// failed is the status of a span with an error.
func failed(message string) *tracepb.Status {
	return &tracepb.Status{Code: tracepb.Status_STATUS_CODE_ERROR, Message: cut(clean(message), 64<<10)}
}

// requests divides the spans into requests.
func (m *maker) requests(version string) (all []Request, err error) {
	size := 0
	for _, s := range m.spans {
		n := proto.Size(s)
		if last := len(all) - 1; last < 0 || len(all[last].Spans) >= mostSpans || size+n > mostBytes {
			all, size = append(all, Request{Version: version}), 0
		}
		last := &all[len(all)-1]
		last.Spans = append(last.Spans, s)
		size += n
	}
	for _, r := range all {
		if err := r.Validate(); err != nil {
			return nil, fmt.Errorf("the turn %s cannot be exported: %w", m.t.ID, err)
		}
	}
	return all, nil
}
