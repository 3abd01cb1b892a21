package sqllog

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"log/slog"
	"os"
	"time"
)

// This file reads SQLite's journal (-wal) that a killed gateway has left. SQLite ends at the
// first frame whose checksum fails and forgets the commits behind it, without a word. The
// format is at https://sqlite.org/fileformat2.html#the_write_ahead_log.

// Sizes in the journal, and what its head holds in this program's databases.
const (
	journalHead  = 32
	frameHead    = 24
	frameSize    = frameHead + pageSize
	journalMagic = 0x377f0682 // checksums of little-endian words
	bigEndian    = 1          // added to it: of big-endian ones
	journalForm  = 3007000
)

// chain is the checksum of a journal, which goes on from frame to frame.
type chain struct {
	order  binary.ByteOrder
	s0, s1 uint32
}

func (c chain) add(b []byte) chain {
	for ; len(b) >= 8; b = b[8:] {
		c.s0 += c.order.Uint32(b) + c.s1
		c.s1 += c.order.Uint32(b[4:]) + c.s0
	}
	return c
}

// frame is the chain with a frame, of which the checksum and the salt do not count.
func (c chain) frame(b []byte) chain { return c.add(b[:8]).add(b[frameHead:]) }

func (c chain) read(b []byte) chain {
	c.s0, c.s1 = binary.BigEndian.Uint32(b), binary.BigEndian.Uint32(b[4:])
	return c
}

func (c chain) write(b []byte) {
	binary.BigEndian.PutUint32(b, c.s0)
	binary.BigEndian.PutUint32(b[4:], c.s1)
}

func (c chain) is(b []byte) bool { return c.read(b) == c }

// Places in the heads.
const (
	salts     = 16 // of the journal
	headSum   = 24
	frameSalt = 8
	frameSum  = 16
)

// mendJournal looks for a frame that is damaged and was committed: whole frames follow it,
// or SQLite's index of the journal (-shm) counts it. It keeps a copy of such a journal, and
// gives the frames checksums that SQLite accepts. The checksums of rows find the damage
// then. It returns whether frames are missing.
func mendJournal(database string, log *slog.Logger) (missing bool, err error) {
	name := database + "-wal"
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if os.IsNotExist(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close()
	damaged, frames, salt, err := journalDamage(f)
	if err != nil {
		return false, err
	}
	if counted := indexed(database+"-shm", salt); counted > frames {
		info, err := f.Stat()
		if err != nil {
			return false, err
		}
		there := int(max(0, info.Size()-journalHead) / frameSize)
		missing, damaged, frames = there < counted, there > frames, min(there, counted)
	}
	if !damaged {
		return missing, nil
	}
	aside := name + asideSuffix + time.Now().UTC().Format(asideTime)
	if err := copyFile(name, aside); err != nil {
		return false, err
	}
	log.Error("the journal of the database is damaged: the gateway uses its frames all the same, and finds the damaged rows by their checksums", "journal", name, "kept", aside)
	return missing, mend(f, frames)
}

// indexed is how many frames of the journal with these salts are committed, by SQLite's
// index of it. The index does not outlive the machine's end; then it counts none.
func indexed(name string, salt []byte) int {
	const head, isInit, frames, salts = 48, 12, 16, 32
	text, err := os.ReadFile(name)
	if err != nil || len(text) < 2*head || !bytes.Equal(text[:head], text[head:2*head]) || text[isInit] != 1 || !bytes.Equal(text[salts:salts+8], salt) {
		return 0
	}
	return int(binary.NativeEndian.Uint32(text[frames:]))
}

// headOf is a head that fits the frames, for those have the journal's salts: the first one,
// or the second and the third.
func headOf(f io.ReaderAt, head []byte) (whole []byte, start chain, ok bool) {
	start = chain{order: binary.LittleEndian}
	if binary.BigEndian.Uint32(head) == journalMagic+bigEndian {
		start.order = binary.BigEndian
	}
	if sum := start.add(head[:headSum]); sum.is(head[headSum:]) && binary.BigEndian.Uint32(head[4:]) == journalForm {
		return head, sum, true
	}
	whole = make([]byte, journalHead)
	copy(whole, head)
	binary.BigEndian.PutUint32(whole, journalMagic)
	binary.BigEndian.PutUint32(whole[4:], journalForm)
	binary.BigEndian.PutUint32(whole[8:], pageSize)
	var salt [3][8]byte
	for n := range salt {
		_, _ = f.ReadAt(salt[n][:], int64(journalHead+n*frameSize+frameSalt)) // zeros, where there is none
	}
	if salt[1] == salt[2] {
		salt[0] = salt[1]
	}
	copy(whole[salts:headSum], salt[0][:])
	start = chain{order: binary.LittleEndian}.add(whole[:headSum])
	start.write(whole[headSum:])
	return whole, start, false
}

// journalDamage tells whether a frame is damaged, how many frames there are, and the
// journal's salts. The last frame that counts ends a commit and fits its predecessor.
func journalDamage(f *os.File) (damaged bool, frames int, salt []byte, err error) {
	in := bufio.NewReaderSize(f, 1<<20)
	head, frame := make([]byte, journalHead), make([]byte, frameSize)
	var state chain
	bad := false
	for n := 0; ; n++ {
		if n == 0 {
			_, err = io.ReadFull(in, head)
		}
		if err == nil {
			_, err = io.ReadFull(in, frame)
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return damaged, frames, salt, nil
		}
		if err != nil {
			return false, 0, nil, err
		}
		if n == 0 {
			var whole []byte
			var ok bool
			whole, state, ok = headOf(f, head)
			salt, bad = whole[salts:headSum], !ok
		}
		sum := state.frame(frame)
		whole := string(frame[frameSalt:frameSum]) == string(salt) && sum.is(frame[frameSum:])
		bad = bad || !whole
		if whole && binary.BigEndian.Uint32(frame[4:]) != 0 { // it ends a commit
			frames, damaged = n+1, bad
		}
		state = state.read(frame[frameSum:])
	}
}

// mend gives the head and the frames of a journal the checksums that they should have.
func mend(f *os.File, frames int) error {
	head, frame := make([]byte, journalHead), make([]byte, frameSize)
	var state chain
	var salt []byte
	for n := range frames {
		at := int64(journalHead + n*frameSize)
		if _, err := f.ReadAt(frame, at); err != nil {
			return err
		}
		if n == 0 {
			if _, err := f.ReadAt(head, 0); err != nil {
				return err
			}
			var whole []byte
			whole, state, _ = headOf(f, head)
			salt = whole[salts:headSum]
			if _, err := f.WriteAt(whole, 0); err != nil {
				return err
			}
		}
		copy(frame[frameSalt:], salt)
		if binary.BigEndian.Uint32(frame) == 0 { // of no page: it may be of the one that the next frame has anyway
			_, _ = f.ReadAt(frame[:4], at+frameSize)
		}
		state = state.frame(frame)
		state.write(frame[frameSum:])
		if _, err := f.WriteAt(frame[:frameHead], at); err != nil {
			return err
		}
	}
	return f.Sync()
}
