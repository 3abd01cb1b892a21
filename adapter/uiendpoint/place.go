package uiendpoint

import (
	"maps"
	"strconv"
)

// place tells how far a message is on record, so that a stream that begins a run from its
// start once more adds only what is new. Whatever repeats is counted: bytes of texts and of
// inputs, and the other chunks by type and call.
type place struct {
	had   map[string]int    // is on record
	now   map[string]int    // the stream has said so far
	run   map[string]int    // was said before this run
	names map[string]string // the ids of parts of an earlier process
}

func newPlace() place {
	return place{had: map[string]int{}, now: map[string]int{}, run: map[string]int{}, names: map[string]string{}}
}

// advance counts n more of something and returns how many of them are new.
func (p *place) advance(what string, n int) int {
	p.now[what] += n
	fresh := min(n, max(0, p.now[what]-p.had[what]))
	p.had[what] += fresh
	return fresh
}

// fresh counts one more.
func (p *place) fresh(what string) bool { return p.advance(what, 1) > 0 }

// next names the next part of a sort.
func (p *place) next(sort string) (key string, fresh bool) {
	fresh = p.fresh(sort)
	return sort + "-" + strconv.Itoa(p.now[sort]), fresh
}

// begins notes that a run begins, and again that its stream begins once more.
func (p *place) begins() { p.run = maps.Clone(p.now) }
func (p *place) again()  { p.now = maps.Clone(p.run) }
