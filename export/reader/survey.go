package reader

import (
	"cmp"
	"iter"
	"slices"
	"time"

	"github.com/tributary-dev/tributary/trace"
)

// This file finds what only the whole session tells.

// Outline is what a reader has to know of a session before it reads the first turn.
type Outline struct {
	// Agent is what is known of the agent at the end of the session.
	Agent trace.AgentInfo

	scores  map[string][]*Score  // by turn
	removed []span               // the records that rewinds removed, in order
	results map[callKey]*outcome // of calls that went on in a later turn
}

// span is the records from one number to before another.
type span struct{ from, to uint64 }

type callKey struct{ turn, call string }

type outcome struct {
	result *trace.ToolResult
	at     time.Time
	record string
	seq    uint64
}

// Scored is an outline with the scores alone, for a reader to which a turn is what its records
// said when it stopped.
func (o *Outline) Scored() *Outline { return &Outline{scores: o.scores} }

// score puts a score in the place of the one that it replaces.
func (o *Outline) score(s *Score) {
	all := slices.DeleteFunc(o.scores[s.Turn], func(b *Score) bool { return b.Case == s.Case && b.Name == s.Name })
	o.scores[s.Turn] = append(all, s)
}

// Survey reads a session once. The outline has the size of the session's scores and rewinds, and of
// the results of calls that a later turn continues.
func Survey(records iter.Seq2[trace.Record, error]) (*Outline, error) {
	o := &Outline{scores: map[string][]*Score{}, results: map[callKey]*outcome{}}
	messages := map[string]uint64{} // where each message begins, the newest of that id
	calls := map[callKey]callKey{}  // the first turn of a call that went on
	for r, err := range records {
		if err != nil {
			return nil, err
		}
		switch p := r.Payload.(type) { //nolint:gochecksumtype // all others are of one turn
		case trace.Data:
			if info, is := p.Agent(); is {
				o.Agent = o.Agent.With(info)
			}
			if s, is := p.Score(); is {
				o.score(&Score{Score: s, Record: r.ID, Seq: r.Seq, Time: r.Time})
			}
		case trace.Prompt:
			messages[p.Message.ID] = r.Seq
		case trace.Reply:
			messages[p.MessageID] = r.Seq
		case trace.Rewind:
			if from, known := messages[p.To]; known {
				o.remove(span{from, r.Seq})
			}
		case trace.ToolCall:
			if p.Continues != "" {
				first := callKey{p.Continues, p.ToolCallID}
				calls[callKey{r.Turn, p.ToolCallID}] = cmp.Or(calls[first], first)
			}
		case trace.ToolResult:
			if first, is := calls[callKey{r.Turn, p.ToolCallID}]; is {
				o.results[first] = &outcome{&p, r.Time, r.ID, r.Seq}
			}
		default:
		}
	}
	return o, nil
}

// remove keeps the spans apart and in order: a rewind takes in those that it reaches behind.
func (o *Outline) remove(s span) {
	for n := len(o.removed); n > 0 && o.removed[n-1].to > s.from; n = len(o.removed) {
		s.from = min(s.from, o.removed[n-1].from)
		o.removed = o.removed[:n-1]
	}
	o.removed = append(o.removed, s)
}

// removes reports whether a rewind has removed the record with this number.
func (o *Outline) removes(seq uint64) bool {
	if o == nil {
		return false
	}
	at, found := slices.BinarySearchFunc(o.removed, seq, func(s span, seq uint64) int {
		switch {
		case s.to <= seq:
			return -1
		case s.from > seq:
			return 1
		}
		return 0
	})
	return found && at < len(o.removed)
}

// resultOf is the last result of a call that went on after the turn, or nil.
func (o *Outline) resultOf(turn, call string) *outcome {
	if o == nil {
		return nil
	}
	return o.results[callKey{turn, call}]
}
