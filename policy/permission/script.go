package permission

import "sync"

// Script is how far one session is in a policy's script. The zero value is at the
// beginning. A Script is safe for concurrent use.
type Script struct {
	mu   sync.Mutex
	used map[int]bool
}

// take uses up the first rule that matches and is not used yet, and returns its place.
func (s *Script) take(rules []Rule, matches func(Rule) bool) (at int, ok bool) {
	for i, r := range rules {
		if s.spent(i) || !matches(r) { // a match may read the file system: no lock is held
			continue
		}
		if s.spend(i) {
			return i, true
		}
	}
	return 0, false
}

func (s *Script) spent(i int) bool {
	if s == nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.used[i]
}

func (s *Script) spend(i int) bool {
	if s == nil {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.used == nil {
		s.used = map[int]bool{}
	}
	if s.used[i] {
		return false
	}
	s.used[i] = true
	return true
}
