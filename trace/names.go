package trace

import "strconv"

// Names makes ids unique. It remembers for every id the last suffix it gave, so
// that an agent which uses one id for everything costs no more than one that
// doesn't.
type Names map[string]int

// Note remembers an id that is in use.
func (n Names) Note(id string) {
	if n[id] == 0 {
		n[id] = 1
	}
}

// Take returns id, or id with a suffix when it was taken before.
func (n Names) Take(id string) (unique string, renamed bool) {
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
