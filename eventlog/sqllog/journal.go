package sqllog

import (
	"bytes"
	"encoding/binary"
	"io"
	"os"
)

// This file looks at SQLite's journal (-wal) that a killed gateway has left. SQLite ends at the
// first frame whose checksum fails and forgets the commits behind it, without a word. The format
// is at https://sqlite.org/fileformat2.html#the_write_ahead_log.

// Sizes in the journal.
const (
	journalHead = 32
	frameHead   = 24
)

// lacksCommits reports whether the journal of a database has fewer whole frames than SQLite's
// index of it (-shm) counts as committed. Only the index of a process that was killed since the
// machine started is evidence: both files are in the system's memory then.
func lacksCommits(database string) bool {
	const head, isInit, frames = 48, 12, 16
	index, err := os.ReadFile(database + "-shm")
	if err != nil || len(index) < 2*head || !bytes.Equal(index[:head], index[head:2*head]) || index[isInit] != 1 {
		return false
	}
	counted := binary.NativeEndian.Uint32(index[frames:])
	return counted > 0 && wholeFrames(database+"-wal", counted) < counted
}

// wholeFrames counts the frames of a journal that SQLite would use, up to enough.
func wholeFrames(journal string, enough uint32) (n uint32) {
	f, err := os.Open(journal)
	if err != nil {
		return 0
	}
	defer f.Close()
	head := make([]byte, journalHead)
	if _, err := io.ReadFull(f, head); err != nil {
		return 0
	}
	const bigEndian, size, salts, sum = 0x377f0683, 8, 16, 24
	sums := checksum{order: binary.LittleEndian}
	if binary.BigEndian.Uint32(head) == bigEndian {
		sums.order = binary.BigEndian
	}
	if sums.add(head[:sum]); !sums.is(head[sum:]) {
		return 0
	}
	const frameSalt, frameSum, largest = 8, 16, 64 << 10
	frame := make([]byte, frameHead+min(binary.BigEndian.Uint32(head[size:]), largest))
	for ; n < enough; n++ {
		if _, err := io.ReadFull(f, frame); err != nil || !bytes.Equal(frame[frameSalt:frameSum], head[salts:sum]) {
			return n
		}
		sums.add(frame[:frameSalt])
		if sums.add(frame[frameHead:]); !sums.is(frame[frameSum:]) {
			return n
		}
	}
	return n
}

// checksum is the checksum of a journal, which goes on from frame to frame.
type checksum struct {
	order  binary.ByteOrder
	s0, s1 uint32
}

func (c *checksum) add(b []byte) {
	for ; len(b) >= 8; b = b[8:] {
		c.s0 += c.order.Uint32(b) + c.s1
		c.s1 += c.order.Uint32(b[4:]) + c.s0
	}
}

func (c *checksum) is(b []byte) bool {
	return c.s0 == binary.BigEndian.Uint32(b) && c.s1 == binary.BigEndian.Uint32(b[4:])
}
