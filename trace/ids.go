package trace

import "strconv"

// This file makes the ids of a turn unique.

// idAllocator makes ids unique. It remembers for every id the last suffix it gave, so
// that an agent which uses one id for everything costs no more than one that
// doesn't.
type idAllocator map[string]int

// unique returns id, or id with a suffix when it was taken before.
func (n idAllocator) unique(id string) (unique string, renamed bool) {
	last, taken := n[id]
	if !taken {
		n[id] = 1
		return id, false
	}
	for {
		last++
		unique = id + "~" + strconv.Itoa(last)
		if _, taken := n[unique]; !taken {
			n[id], n[unique] = last, 1
			return unique, true
		}
	}
}
