package session

import "sync"

// load counts the prompts of each principal that run or wait. It holds no principal
// without prompts.
type load struct {
	mu sync.Mutex
	of map[string]int
}

// take counts one more prompt, and reports false if that would be more than most beside
// those that are about to end. A negative number is no bound.
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

// leave counts a prompt no more whose turn has ended.
func (l *load) leave(by string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.of[by]--; l.of[by] <= 0 {
		delete(l.of, by)
	}
}
