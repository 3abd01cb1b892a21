package sqllog

import (
	"hash/crc32"
	"math"
)

// This file has the checksums of rows, so that a bit that changed on a disk is found when
// the row is read.

//nolint:gochecknoglobals // never written
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// sum is a checksum that grows field by field. Each field counts with its length.
type sum uint32

func (c sum) num(n int64) sum {
	for range 8 {
		c = c.byte(byte(n)) //nolint:gosec // any bits do
		n >>= 8
	}
	return c
}

func (c sum) bytes(b []byte) sum {
	return sum(crc32.Update(uint32(c.num(int64(len(b)))), castagnoli, b))
}

// text is bytes for a string. A short one is not copied.
func (c sum) text(s string) sum {
	const short = 64
	if len(s) > short {
		return c.bytes([]byte(s))
	}
	c = c.num(int64(len(s)))
	for i := range len(s) {
		c = c.byte(s[i])
	}
	return c
}

// byte is what crc32.Update does for one byte, without memory.
func (c sum) byte(b byte) sum { return ^sum(castagnoli[byte(^c&0xff)^b] ^ uint32(^c)>>8) }

// optional is text that may be missing.
func (c sum) optional(s *string) sum {
	if s == nil {
		return c.num(-1)
	}
	return c.text(*s)
}

func (c sum) value() int64 { return int64(c) }

// seqs are numbers of records in a sum.
func (c sum) seqs(all ...uint64) sum {
	for _, n := range all {
		c = c.num(int64(n)) //nolint:gosec // no session has 2^63 records
	}
	return c
}

// bodySum is the checksum of what a record says, and of its place.
func (r row) bodySum() int64 {
	c := sum(0).text(r.session).seqs(r.seq, r.prev).bytes(r.body)
	if r.id != nil {
		c = c.text(*r.id).text(r.parent).text(r.actor).text(r.turn).text(r.kind).num(r.at).num(r.ns)
	}
	return c.value()
}

// sumOfMark is the checksum of the columns by which records are found.
func (r row) sumOfMark() int64 {
	return sum(0).text(r.session).seqs(r.seq).text(r.turn).text(r.kind).optional(r.message).optional(r.person).num(r.at).value()
}

func memberSum(session, person, role string) int64 {
	return sum(0).text(session).text(person).text(role).value()
}

// turnSum is the checksum of an end of a turn: its first record, or its stop.
func turnSum(session, turn string, seq uint64) int64 {
	return sum(0).text(session).text(turn).seqs(seq).value()
}

func (c checkpoint) sum() int64 {
	return sum(0).text(c.session).text(c.key.turn).text(c.key.name).num(c.after).seqs(c.seq).bytes(c.body).value()
}

// str and num are columns as they are read. A column that holds a value of another type
// gets one that fits no checksum.
type (
	str string
	num int64
	opt struct{ text *string }
)

// Scan implements sql.Scanner.
func (s *str) Scan(v any) error {
	switch v := v.(type) {
	case string:
		*s = str(v)
	case []byte:
		*s = str(v)
	default:
		*s = "\xff not a text"
	}
	return nil
}

// Scan implements sql.Scanner.
func (n *num) Scan(v any) error {
	*n = math.MinInt64
	if v, is := v.(int64); is {
		*n = num(v)
	}
	return nil
}

// Scan implements sql.Scanner.
func (o *opt) Scan(v any) error {
	o.text = nil
	if v == nil {
		return nil
	}
	var s str
	err := s.Scan(v)
	text := string(s)
	o.text = &text
	return err
}

func (n num) seq() uint64 { return uint64(max(n, 0)) } //nolint:gosec // not negative
