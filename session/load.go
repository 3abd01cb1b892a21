package session

import "sync"

// load counts, for everybody who prompts, the prompts that run or wait. It holds
// nobody who has none.
type load struct {
	mu sync.Mutex
	of map[string]int
}

// take counts one more, unless that would be more than most beside those that are
// about to end; no bound if most is negative.
func (l *load) take(by string, most, ending int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if most >= 0 && l.of[by] >= most+ending {
		return false
	}
	if l.of == nil {
		l.of = map[string]int{}
	}
	l.of[by]++
	return true
}

// leave counts a turn no more that has ended. One that an agent began by itself
// was nobody's.
func (l *load) leave(t *turn) {
	if t.prompt.Message.ID == "" {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.of[t.by]--; l.of[t.by] <= 0 {
		delete(l.of, t.by)
	}
}
