package natslog

import (
	"encoding/json"
	"fmt"
	"slices"
	"sort"

	"github.com/tributary-dev/tributary/eventlog"
)

// lane is one session's messages in one of the two streams: where they are.
// Segments are complete and have an index message; the tail has none yet.
type lane struct {
	stream  string
	subject string // of the messages; with ".x", of the index
	kept    bool   // nothing here is ever dropped

	prev  uint64 // place of the last message, 0 when there is none
	count uint64 // how many messages there are or were

	index    uint64 // place of the newest index message
	segments []segment
	older    uint64 // place of the index message before segments[0], 0: none
	tail     []place
	begin    []mark // turns that began and ended in the tail
	end      []mark
	said     []eventlog.MessageMark // messages that began in the tail
}

// segment is a run of messages that an index message lists.
type segment struct {
	index       uint64
	first, last uint64 // record numbers
	// entry is the mark from which on it is read without the one before. A
	// message of several records may be split too, and where the segment begins
	// amid its pieces, none of those records can be read from here.
	entry uint64
}

func newSegment(index uint64, places []place) segment {
	head := places[0]
	g := segment{index: index, first: head.first, last: places[len(places)-1].last, entry: head.first}
	if head.piece > 1 {
		g.entry = max(head.first, head.last)
	}
	return g
}

// place is where a message is and what it holds.
type place struct {
	at          uint64 // in the stream
	first, last uint64 // record numbers
	size        int
	piece, of   int
	count       uint64 // how many messages there were with it; known in a tail only
	told        bool   // it says which messages begin with it; known in a tail only
}

// segmentSize is how many messages an index message lists. Opening a session
// looks at that many messages one after another, at some 40 µs each.
const segmentSize = 128

// placeRoom is what a place, with a turn that begins and one that ends there,
// takes in an index message.
const placeRoom = 256

// segmentLimit is how many messages an index message can list.
func segmentLimit(maxPayload int) int {
	return max(1, min(segmentSize, (maxPayload-frameRoom)/placeRoom))
}

// indexMessage is the body of an index message, all of it JSON.
type indexMessage struct {
	// Before is the place of the index message before, 0 for the first.
	Before uint64 `json:"before"`
	// Prev is the place of the last message that it covers, Count how many there
	// were until then.
	Prev  uint64 `json:"prev"`
	Count uint64 `json:"count"`
	// Last is the highest number so far. After a deletion that is all there is.
	Last    uint64 `json:"last"`
	Deleted bool   `json:"deleted,omitempty"`
	// Places are the messages: place, first, last, size and, for a piece, which
	// and of how many.
	Places [][]uint64 `json:"places,omitempty"`
	Begin  []mark     `json:"begin,omitempty"`
	End    []mark     `json:"end,omitempty"`
	// Open are the turns that had not ended, with their first records.
	Open []mark `json:"open,omitempty"`
	// Said are the marks of messages among all these records. Nil means that they
	// have to be read from the records.
	Said *said `json:"said,omitempty"`
}

func (m indexMessage) encode() ([]byte, error) { return json.Marshal(m) }

func decodeIndex(body []byte) (m indexMessage, places []place, err error) {
	if err := json.Unmarshal(body, &m); err != nil {
		return indexMessage{}, nil, fmt.Errorf("read an index message of the log: %w", err)
	}
	for _, row := range m.Places {
		const plain, pieced = 4, 6
		if len(row) != plain && len(row) != pieced {
			return indexMessage{}, nil, fmt.Errorf("read an index message of the log: a place has %d numbers", len(row))
		}
		p := place{at: row[0], first: row[1], last: row[2], size: int(row[3])} //nolint:gosec // a size is under 64 MB
		if len(row) == pieced {
			p.piece, p.of = int(row[4]), int(row[5]) //nolint:gosec // as above
		}
		places = append(places, p)
	}
	return m, places, nil
}

func (p place) row() []uint64 {
	row := []uint64{p.at, p.first, p.last, uint64(p.size)} //nolint:gosec // never negative
	if p.of > 0 {
		row = append(row, uint64(p.piece), uint64(p.of)) //nolint:gosec // never negative
	}
	return row
}

// add notes an acknowledged message.
func (l *lane) add(p place, f frame) {
	l.prev = p.at
	l.count++
	p.count = l.count
	l.tail = append(l.tail, p)
	l.begin = append(l.begin, f.Begin...)
	l.end = append(l.end, f.End...)
	l.say(f)
}

// say takes over which messages begin with a message of the log.
func (l *lane) say(f frame) {
	marks, _ := f.Said.marks()
	l.said = append(l.said, marks...)
}

// indexed makes the first n places of the tail a segment, listed by the message
// at the given place. Readers may hold both slices, so neither is written to.
func (l *lane) indexed(n int, at uint64) {
	run := l.tail[:n]
	l.segments = append(slices.Clip(l.segments), newSegment(at, run))
	l.index = at
	if l.tail = l.tail[n:]; len(l.tail) == 0 {
		l.tail = nil
	}
}

// keepSegments is how many segments of a lane stay in memory: those of the newest
// pages of history. Older ones are looked up when they are read.
const keepSegments = 64

// trim drops the older half of too many segments and returns the number of the
// last record that it dropped, or 0.
func (l *lane) trim() uint64 {
	if len(l.segments) <= keepSegments {
		return 0
	}
	n := len(l.segments) - keepSegments/2
	dropped := l.segments[n-1]
	l.segments = append([]segment(nil), l.segments[n:]...)
	l.older = dropped.index
	return dropped.last
}

// prepend puts an older segment before the others.
func (l *lane) prepend(at uint64, m indexMessage, places []place) {
	if len(places) > 0 {
		l.segments = append([]segment{newSegment(at, places)}, l.segments...)
	}
	l.older = m.Before
}

// needsOlder reports whether records after the mark may be in segments that have
// not been looked up.
func (l *lane) needsOlder(after uint64) bool {
	if l.older == 0 {
		return false
	}
	return len(l.segments) == 0 || l.segments[0].entry > after
}

// after returns the segments and the places of the tail that can hold records
// with a number greater than after.
func (l *lane) after(after uint64) ([]segment, []place) {
	s := sort.Search(len(l.segments), func(i int) bool { return l.segments[i].last > after })
	p := sort.Search(len(l.tail), func(i int) bool { return l.tail[i].last > after })
	return l.segments[s:], l.tail[p:]
}
