package natslog

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/tributary-dev/tributary/trace"
)

// frame is the first line of a message.
type frame struct {
	// Prev is the place of the session's previous message, 0 for the first.
	Prev uint64 `json:"prev"`
	// First and Last are the numbers of the records that follow. First is
	// greater than Last when there are none.
	First uint64 `json:"first"`
	Last  uint64 `json:"last"`
	// Piece counts from 1 to Of when the records were too large for one message.
	Piece int `json:"piece,omitempty"`
	Of    int `json:"of,omitempty"`
	// Begin and End name the turns that begin and end with these records. They
	// stand on the last piece, for only then everything is there.
	Begin []mark `json:"begin,omitempty"`
	End   []mark `json:"end,omitempty"`
	// Said are the marks of messages among these records, on the last piece too.
	// Nil means that nobody wrote them down, not that there are none.
	Said *said `json:"said,omitempty"`
}

// mark is a turn and the number of its first or last record.
type mark struct {
	Turn string `json:"turn"`
	Seq  uint64 `json:"seq"`
}

// frameRoom is what a message needs besides its records: the frame, whose turn
// names are short, and the headers.
const frameRoom = 4 << 10

// packed is how large a message grows by gathering records. A larger record has
// messages of its own.
const packed = 256 << 10

// appendTo appends the message, with the records that it holds.
func (f frame) appendTo(dst, records []byte) ([]byte, error) {
	dst = slices.Grow(dst, plainRoom+len(records))
	if f.Begin == nil && f.End == nil && f.Of == 0 && f.Said == nil {
		return append(f.appendPlain(dst), records...), nil
	}
	head, err := json.Marshal(f)
	if err != nil {
		return nil, err
	}
	return append(append(append(dst, head...), '\n'), records...), nil
}

// plainRoom is what a plain frame takes at most: three numbers of 20 digits and
// their names.
const plainRoom = 96

// appendPlain writes the first line of nearly all messages: of the deltas amid a
// turn, and whole.
func (f frame) appendPlain(dst []byte) []byte {
	dst = strconv.AppendUint(append(dst, `{"prev":`...), f.Prev, 10)
	dst = strconv.AppendUint(append(dst, `,"first":`...), f.First, 10)
	dst = strconv.AppendUint(append(dst, `,"last":`...), f.Last, 10)
	return append(dst, "}\n"...)
}

func decodeFrame(body []byte) (f frame, records []byte, err error) {
	head, records, ok := bytes.Cut(body, []byte("\n"))
	if !ok {
		return frame{}, nil, errors.New("a message of the log has no first line")
	}
	if err := json.Unmarshal(head, &f); err != nil {
		return frame{}, nil, fmt.Errorf("read the first line of a message of the log: %w", err)
	}
	if f.First == 0 || f.Last+1 < f.First || f.Piece > f.Of || f.Piece < 0 || (f.Of > 0 && f.Piece == 0) {
		return frame{}, nil, fmt.Errorf("the first line of a message of the log makes no sense: %s", head)
	}
	return f, records, nil
}

// told reports whether the message says which messages of people and agents begin
// with it.
func (f frame) told() bool {
	_, ok := f.Said.marks()
	return ok
}

// complete reports whether the message completes its records.
func (f frame) complete() bool { return f.Piece == f.Of }

// split cuts records that are too large for one message into several, which say
// which piece they are. The marks go on the last one.
func (f frame) split(records []byte, limit int) (frames []frame, pieces [][]byte) {
	limit = max(1, limit-frameRoom)
	if len(records) <= limit {
		return []frame{f}, [][]byte{records}
	}
	for len(records) > 0 {
		n := min(limit, len(records))
		pieces = append(pieces, records[:n])
		records = records[n:]
	}
	for i := range pieces {
		frames = append(frames, frame{First: f.First, Last: f.Last, Piece: i + 1, Of: len(pieces), Said: f.Said.none()})
	}
	last := &frames[len(frames)-1]
	last.Begin, last.End, last.Said = f.Begin, f.End, f.Said
	return frames, pieces
}

// decodeRecords reads the records behind a frame and checks that they are the
// ones that it announced.
func decodeRecords(session string, f frame, text []byte) ([]trace.Record, error) {
	records := make([]trace.Record, 0, min(f.Last+1-f.First, uint64(len(text))))
	r := trace.Record{Session: session} // what it holds already is not made anew
	for seq := f.First; seq <= f.Last; seq++ {
		line, rest, ok := bytes.Cut(text, []byte("\n"))
		if !ok {
			return nil, fmt.Errorf("record %d is missing from its message", seq)
		}
		text = rest
		if err := r.UnmarshalJSON(line); err != nil {
			return nil, fmt.Errorf("read record %d: %w", seq, err)
		}
		if r.Seq != seq || r.Session != session {
			return nil, fmt.Errorf("in place of record %d there is record %d of session %q", seq, r.Seq, r.Session)
		}
		records = append(records, r)
	}
	if len(text) > 0 {
		return nil, fmt.Errorf("a message holds more than its records %d to %d", f.First, f.Last)
	}
	return records, nil
}
