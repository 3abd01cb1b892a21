package uistream

// shelf is what some records of a turn have become, side by side. A turn has
// thousands of them, and an object for each would slow the garbage collector, for
// which words wait. So one object holds their frames, and one without pointers holds
// all else.
type shelf struct {
	first   uint64 // the place of its first record
	message string // the assistant message in which all of them end
	text    string // as in entry, of all of them
	frames  []byte // never changed up to its length
	marks   []mark
}

// mark is what is known of a record on a shelf.
type mark struct {
	seq    uint64
	offset int64 // bytes of the turn up to and with this record
	end    int   // of its frames
	tail   int   // as in entry
	fresh  bool
	park   bool
	over   bool
	failed bool
	lost   bool
}

// markCost is what a record costs besides its bytes.
const markCost = 64

// The room of a shelf is small beside what is kept of a turn, and large beside a
// frame. The first shelves are smaller, for turns that say little.
const (
	leastRoom = 512
	mostRoom  = 8 << 10
	ofWindow  = 8 // shelves that fill a window, at least
)

// newShelf makes the shelf that begins with the entry at a place.
func newShelf(first uint64, e entry, window int) *shelf {
	room := min(mostRoom, window/ofWindow)
	if first == 0 {
		room = min(leastRoom, room)
	}
	s := &shelf{first: first, message: e.message, text: e.text, frames: make([]byte, 0, max(room, len(e.bytes)))}
	s.put(e)
	return s
}

// put puts the entry beside the others, if there is room for it and it ends in the
// same message and begins in the same text.
func (s *shelf) put(e entry) bool {
	if e.message != s.message || e.text != s.text || len(e.bytes) > cap(s.frames)-len(s.frames) {
		return false
	}
	s.frames = append(s.frames, e.bytes...)
	s.marks = append(s.marks, mark{seq: e.seq, offset: e.offset, end: len(s.frames), tail: e.tail, fresh: e.fresh, park: e.park, over: e.end, failed: e.failed, lost: e.lost})
	return true
}

// next is the place behind its last record.
func (s *shelf) next() uint64 { return s.first + uint64(len(s.marks)) }

func (s *shelf) last() mark { return s.marks[len(s.marks)-1] }

// entry is the record at a place. Its bytes may be read for as long as one likes.
func (s *shelf) entry(at uint64) entry {
	m, from := s.marks[at-s.first], 0
	if at > s.first {
		from = s.marks[at-s.first-1].end
	}
	return entry{
		seq: m.seq, offset: m.offset, bytes: s.frames[from:m.end:m.end], message: s.message, text: s.text,
		fresh: m.fresh, tail: m.tail, park: m.park, end: m.over, failed: m.failed, lost: m.lost,
	}
}
