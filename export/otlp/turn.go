package otlp

import (
	"cmp"
	"fmt"
	"io"
	"iter"
	"strings"
	"time"

	"github.com/tributary-dev/tributary/export/reader"
	"github.com/tributary-dev/tributary/export/redact"
	"github.com/tributary-dev/tributary/trace"
)

// This file makes the spans of a turn.

// Options say what is written.
type Options struct {
	// Agent is what is known of the agent beside the trace.
	Agent trace.AgentInfo
	// Version is that of the program that exports.
	Version string
	// Drop are the classes of content that are left out.
	Drop []redact.Class
	// Turn, if given, is the only turn that is written.
	Turn string
	// NoDenied leaves out the spans of calls that were refused; their permissions stay.
	// NoSubagents leaves out the work of sub-agents.
	NoDenied, NoSubagents bool
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
			out := r.Proto()
			if !o.Proto {
				if out, err = r.JSON(); err != nil {
					return turns, err
				}
				out = append(out, '\n')
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
			if err == nil && o.Turn != "" && t.ID != o.Turn {
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

// Turn makes the requests of a turn, whose content it redacts in place. The span of the turn is the
// last one, so that a receiver has it when it has all.
func Turn(t *reader.Turn, o Options) ([]Request, error) {
	t.Agent = o.Agent.With(t.Agent)
	redact.Turn(t, o.Drop)
	m := newMaker(t, o)
	for _, a := range t.Actors {
		if !m.leaves(a) {
			m.actor(a)
		}
	}
	for _, c := range t.Calls {
		if !m.leaves(c.Actor) && !m.hidden(c) {
			m.call(c)
		}
	}
	for _, q := range t.Requests {
		if !m.leaves(q.Actor) {
			m.request(q)
		}
	}
	for _, q := range t.Questions {
		if !m.leaves(q.Actor) {
			m.question(q)
		}
	}
	for _, s := range t.Scores {
		m.evaluation(s)
	}
	m.gateway()
	m.root()
	all := m.requests()
	for _, r := range all {
		if err := r.Validate(); err != nil {
			return nil, fmt.Errorf("the turn %s cannot be exported: %w", t.ID, err)
		}
	}
	return all, nil
}

type maker struct {
	Options

	t         *reader.Turn
	trace     TraceID
	parent    SpanID // of the turn's span: the caller's
	rootID    SpanID
	session   string // as receivers take it
	user      string
	lastStep  *reader.Step
	spans     []Span
	agentName string
}

func newMaker(t *reader.Turn, o Options) *maker {
	m := &maker{Options: o, t: t, rootID: spanID("turn", t.Session, t.ID, ""), session: short(t.Session)}
	m.agentName = cmp.Or(t.Agent.Name, t.Agent.Product, t.Agent.Adapter, "agent")
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

func (m *maker) leaves(a *reader.Actor) bool { return m.NoSubagents && a.Subagent() }

func (m *maker) hidden(c *reader.Call) bool { return m.NoDenied && status(c) == trace.ToolDenied }

func (m *maker) id(word, key string) SpanID { return spanID(word, m.t.Session, m.t.ID, key) }

// under is the span of an actor.
func (m *maker) under(a *reader.Actor) SpanID {
	if !a.Subagent() {
		return m.rootID
	}
	return m.id("subagent", string(a.ID))
}

// attrSet is a list of attributes that grows. Empty texts and zero counts are unknown, and left out.
type attrSet []Attr

func (l *attrSet) text(key, s string) {
	if s != "" {
		*l = append(*l, Attr{key, cut(strings.ToValidUTF8(s, "\uFFFD"), mostAttr)})
	}
}

func (l *attrSet) number(key string, n int64) {
	if n != 0 {
		*l = append(*l, Attr{key, n})
	}
}

func (l *attrSet) add(key string, v any) { *l = append(*l, Attr{key, v}) }

// messages adds messages, unless there is nothing in them.
func (l *attrSet) messages(key string, all []said) {
	for _, one := range all {
		if len(one.Parts) > 0 {
			l.text(key, encoded(all))
			return
		}
	}
}

func nanos(t time.Time) uint64 { return uint64(max(0, t.UnixNano())) } //nolint:gosec // not negative

// span adds a span with what all spans have.
func (m *maker) span(s Span, seq uint64, from, to time.Time, attrs attrSet) {
	s.Trace, s.Start, s.End = m.trace, nanos(from), max(nanos(from), nanos(to))
	s.Name = strings.ToValidUTF8(s.Name, "\uFFFD")
	s.ErrorMessage = cut(strings.ToValidUTF8(s.ErrorMessage, "\uFFFD"), 64<<10)
	attrs.text(sessionID, m.session)
	attrs.text(conversationID, m.session)
	attrs.add(ownSeq, int64(seq)) //nolint:gosec // numbers of records are small
	attrs.text(userID, m.user)
	s.Attrs = attrs
	m.spans = append(m.spans, s)
}

// requests divides the spans into requests.
func (m *maker) requests() (all []Request) {
	size := 0
	for _, s := range m.spans {
		n := len(s.proto())
		if last := len(all) - 1; last < 0 || len(all[last].Spans) >= mostSpans || size+n > mostBytes {
			var resource attrSet
			resource.text("service.name", "tributary")
			resource.text("service.version", m.Version)
			all, size = append(all, Request{Resource: resource, Scope: "tributary", ScopeVersion: m.Version}), 0
		}
		last := &all[len(all)-1]
		last.Spans = append(last.Spans, s)
		size += n
	}
	return all
}
