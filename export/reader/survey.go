package reader

import (
	"cmp"
	"iter"
	"maps"
	"slices"

	"github.com/tributary-dev/tributary/trace"
)

// This file finds what only the whole session tells.

// Outline is what a reader has to know of a session before it reads the first turn.
type Outline struct {
	// Agent is what is known of the agent at the end of the session.
	Agent trace.AgentInfo
	// Errors are those that are on record outside turns, without notices.
	Errors []*Note
	// Open are the ids of the turns that have not stopped, in the order in which they began.
	Open []string

	scores  map[string][]*Score         // by turn
	removed []span                      // the records that rewinds removed, in order
	first   map[callKey]callKey         // where a call began that goes on in this turn
	later   map[callKey][]*continuation // how it went on, by where it began
}

// span is the records from one number to before another.
type span struct{ from, to uint64 }

type callKey struct{ turn, call string }

// continuation is what a turn tells of a call that goes on in it.
type continuation struct {
	turn string
	call *Call
}

// Scored is an outline with the scores alone, for a reader to which a turn is what its records
// said when it stopped.
func (o *Outline) Scored() *Outline { return &Outline{scores: o.scores} }

// score puts a score in the place of the one that it replaces.
func (o *Outline) score(s *Score) {
	all := slices.DeleteFunc(o.scores[s.Turn], func(b *Score) bool { return b.Case == s.Case && b.Name == s.Name })
	o.scores[s.Turn] = append(all, s)
}

// Survey reads a session once. The outline has the size of the session's scores and rewinds, of its open turns,
// and of the calls that a later turn continues.
func Survey(records iter.Seq2[trace.Record, error]) (*Outline, error) {
	o := &Outline{scores: map[string][]*Score{}, first: map[callKey]callKey{}, later: map[callKey][]*continuation{}}
	messages := map[string]uint64{} // where each message begins, the newest of that id
	open := map[string]uint64{}     // where each open turn begins
	continued := &session{turns: map[string]*turn{}}
	for r, err := range records {
		if err != nil {
			return nil, err
		}
		o.note(r, open)
		r.Payload = trace.Normalized(r.Payload)
		t := continued.turns[r.Turn]
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
			if p.Continues == "" {
				continue
			}
			if t == nil {
				t = newTurn(r)
				continued.turns[r.Turn] = t
			}
			first := callKey{p.Continues, p.ToolCallID}
			o.first[callKey{r.Turn, p.ToolCallID}] = cmp.Or(o.first[first], first)
			continued.record(t, r)
		case trace.ToolResult:
			if t != nil && t.calls[p.ToolCallID] != nil {
				continued.record(t, r)
			}
		case trace.PermissionRequest, trace.PermissionResponse, trace.FileChange:
			if t != nil {
				continued.record(t, r)
			}
		case trace.Stop:
			if t != nil {
				delete(continued.turns, r.Turn)
				for _, c := range t.Calls {
					first := o.firstOf(r.Turn, c.ToolCallID)
					o.later[first] = append(o.later[first], &continuation{r.Turn, c})
				}
			}
		default:
		}
	}
	o.Open = slices.SortedFunc(maps.Keys(open), func(a, b string) int { return cmp.Compare(open[a], open[b]) })
	return o, nil
}

// note keeps which turns are open, and the errors outside turns.
func (o *Outline) note(r trace.Record, open map[string]uint64) {
	if r.Turn == "" {
		if e, is := r.Payload.(trace.Error); is && e.Level != trace.LevelNotice {
			o.Errors = append(o.Errors, &Note{Record: r.ID, Seq: r.Seq, Time: r.Time, Actor: r.Actor, Payload: e})
		}
		return
	}
	if _, over := r.Payload.(trace.Stop); over {
		delete(open, r.Turn)
	} else if _, known := open[r.Turn]; !known && !trace.Ephemeral(r.Payload) {
		open[r.Turn] = r.Seq
	}
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

// firstOf is where a call of a turn began.
func (o *Outline) firstOf(turn, call string) callKey {
	key := callKey{turn, call}
	return cmp.Or(o.first[key], key)
}

// begins reports whether a call began in this turn, as far as the records tell, and not in a turn
// before. What later turns tell of the call becomes a part of it. A reader without an outline
// believes the call.
func (s *session) begins(t *turn, c *Call) bool {
	if s.outline == nil || s.outline.first == nil {
		return c.Continues == ""
	}
	first := s.outline.firstOf(t.ID, c.ToolCallID)
	if s.begun[first] {
		return false
	}
	if later := s.outline.later[first]; later != nil {
		s.begun[first] = true
		for _, one := range later {
			if one.turn != t.ID {
				c.goOn(one.call)
			}
		}
	}
	c.Continues = "" // also if the turn before is not there, or has no end
	return true
}

// goOn takes over what a later turn tells of the call. The newest counts.
func (c *Call) goOn(then *Call) {
	was := c.ToolCall
	c.ToolCall = then.ToolCall
	if len(c.Input) == 0 {
		c.Input, c.InputText = was.Input, was.InputText
	}
	for _, q := range then.Requests {
		one := *q
		one.Call, one.Actor = c, c.Actor
		c.Requests = append(c.Requests, &one)
	}
	if c.ChangeSeq == 0 {
		c.ChangeRecord, c.ChangeSeq = then.ChangeRecord, then.ChangeSeq
	}
	if then.Result != nil {
		c.Result, c.End = then.Result, later(c.Start, then.End)
		c.ResultRecord, c.ResultSeq = then.ResultRecord, then.ResultSeq
	}
}
