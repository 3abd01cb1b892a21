package eval

import (
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"

	"github.com/tributary-dev/tributary/export/reader"
	"github.com/tributary-dev/tributary/trace"
)

// Session is a session that is judged: its turns that have ended.
type Session struct {
	ID    string
	Agent trace.AgentInfo
	Turns []*reader.Turn
	// Open is how many turns have not ended. They are left out.
	Open int
	// Errors are those on record outside turns.
	Errors []*reader.Note
}

// Read reads a session, twice. All of its turns are in memory afterwards.
func Read(records func() iter.Seq2[trace.Record, error]) (*Session, error) {
	o, err := reader.Survey(records())
	if err != nil {
		return nil, err //nolint:wrapcheck // the caller's own error
	}
	s := &Session{Agent: o.Agent, Open: len(o.Open), Errors: o.Errors}
	for t, err := range reader.Turns(records(), o) {
		if err != nil {
			return nil, err //nolint:wrapcheck // the caller's own error
		}
		s.ID = t.Session
		s.Turns = append(s.Turns, t)
	}
	return s, nil
}

// kept are the turns that no edit has removed. What the agent said in the others is gone; what it
// did there has happened.
func (s *Session) kept() (turns []*reader.Turn) {
	for _, t := range s.Turns {
		if !t.Removed {
			turns = append(turns, t)
		}
	}
	return turns
}

// last is the last turn that no edit has removed, or nil.
func (s *Session) last() *reader.Turn {
	kept := s.kept()
	if len(kept) == 0 {
		return nil
	}
	return kept[len(kept)-1]
}

// ends are the ids of the records that end the turns: the evidence for what did not happen.
func (s *Session) ends() (ids []string) {
	for _, t := range s.Turns {
		ids = append(ids, t.StopRecord)
	}
	return ids
}

// seconds is how long the turns took.
func (s *Session) seconds() (sum float64) {
	for _, t := range s.Turns {
		sum += t.End.Sub(t.Start).Seconds()
	}
	return math.Round(sum*1000) / 1000
}

// imported reports whether the turn was read from a trajectory in ATIF. That format does not tell
// who was asked, how a turn ended, what went wrong, nor, of other programs, whether a call failed.
func imported(t *reader.Turn) bool { return t.Agent.Adapter == "atif" }

// anyImported reports whether one of the turns was.
func (s *Session) anyImported() bool {
	return slices.ContainsFunc(s.Turns, imported)
}

const untold = "the session was imported from ATIF, which does not tell "

// gaps says what of the session is not judged, empty for nothing.
func (s *Session) gaps() string {
	var all []string
	switch {
	case s.Open == 1:
		all = append(all, "1 turn that has not ended is left out")
	case s.Open > 1:
		all = append(all, fmt.Sprintf("%d turns that have not ended are left out", s.Open))
	}
	for _, t := range s.Turns {
		for _, n := range t.Notes {
			if e, is := n.Payload.(trace.Error); is && e.Code == reader.Untold && imported(t) && len(all) < 3 {
				all = append(all, quoted(e.Message))
			}
		}
	}
	return strings.Join(all, "; ")
}

// glob reports whether a text is like a pattern, in which * is any text.
func glob(pattern, text string) bool {
	part, pattern, more := strings.Cut(pattern, "*")
	if !more {
		return part == text
	}
	text, found := strings.CutPrefix(text, part)
	for found {
		if part, pattern, more = strings.Cut(pattern, "*"); !more {
			return strings.HasSuffix(text, part)
		}
		_, text, found = strings.Cut(text, part)
	}
	return false
}
