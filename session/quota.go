package session

// promptQuota counts the prompts of each principal that run or wait. It holds no principal
// without prompts.
type promptQuota struct {
	mu mutex
	of map[string]int
}

// take counts one more prompt, and reports false if that would be more than most beside
// those that are about to end. A negative number is no bound.
func (q *promptQuota) take(by string, most, ending int) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if most >= 0 && q.of[by] >= most+ending {
		return false
	}
	if q.of == nil {
		q.of = map[string]int{}
	}
	q.of[by]++
	return true
}

// leave counts a prompt no more whose turn has ended.
func (q *promptQuota) leave(by string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.of[by]--; q.of[by] <= 0 {
		delete(q.of, by)
	}
}
