package natslog

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/trace"
)

// said are marks of messages as they are stored: one string of fields, five for
// each mark. A session of 10,000 turns has 20,000 marks, and as JSON objects they
// would take longer to read than everything else that opening it needs.
type said string

// bar is between the fields. A name that holds one is told by the record only.
const bar = "|"

// saidRoom is how much of the room of a frame its marks may take.
const saidRoom = frameRoom / 2

// kindOf is the kind that a field names.
func kindOf(field string) (trace.Kind, bool) {
	switch k := trace.Kind(field); k { //nolint:exhaustive // the others leave no marks
	case trace.KindPrompt, trace.KindReply, trace.KindRewind:
		return k, true
	default:
		return "", false
	}
}

// fitting writes marks down. Names of messages are the clients' own: where they
// take more than the limit, or hold what cannot be written here, the answer is nil
// and whoever wants to know reads the records.
func fitting(marks []eventlog.MessageMark, limit int) *said {
	var b strings.Builder
	for _, m := range marks {
		if !plain(m.Turn) || !plain(m.Message) || !plain(m.By) {
			return nil
		}
		for _, field := range []string{string(m.Kind), strconv.FormatUint(m.Seq, 10), m.Turn, m.Message, m.By} {
			b.WriteString(field)
			b.WriteString(bar)
		}
	}
	s := said(b.String())
	if body, err := json.Marshal(s); err != nil || len(body) > limit {
		return nil
	}
	return &s
}

// plain reports whether a name comes out as it went in.
func plain(name string) bool { return !strings.Contains(name, bar) && utf8.ValidString(name) }

// none is an empty list where there is a list: a piece that is not the last begins
// no message.
func (s *said) none() *said {
	if s == nil {
		return nil
	}
	return new(said)
}

// marks reads them. It reports false if nothing was written down, or something
// that only a later version knows.
func (s *said) marks() ([]eventlog.MessageMark, bool) {
	if s == nil {
		return nil, false
	}
	const fields = 5
	rest := string(*s)
	marks := make([]eventlog.MessageMark, 0, strings.Count(rest, bar)/fields)
	for rest != "" {
		var field [fields]string
		for i := range field {
			var ok bool
			if field[i], rest, ok = strings.Cut(rest, bar); !ok {
				return nil, false
			}
		}
		kind, ok := kindOf(field[0])
		seq, err := strconv.ParseUint(field[1], 10, 64)
		if !ok || err != nil {
			return nil, false
		}
		marks = append(marks, eventlog.MessageMark{Kind: kind, Seq: seq, Turn: field[2], Message: field[3], By: field[4]})
	}
	return marks, true
}
