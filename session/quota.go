package session

import "github.com/tributary-dev/tributary/session/lockorder"

// This file counts the prompts of each principal.

// promptQuota counts the prompts of each principal that run or wait, and what they weigh. It
// holds no principal without prompts.
type promptQuota struct {
	mu lockorder.Mutex
	of map[string]prompts
}

// prompts are some prompts of one principal.
type prompts struct {
	count int
	bytes int64 // of their messages
}

// take counts more prompts, unless that would be too much beside the prompts that are about to
// end. A negative bound is none.
func (q *promptQuota) take(by string, more prompts, o Options, ending prompts) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	has := q.of[by]
	if o.MaxPrompts >= 0 && more.count > 0 && has.count >= o.MaxPrompts+ending.count {
		return ErrTooManyPrompts
	}
	if o.MaxPromptBytes >= 0 && more.bytes > 0 && has.bytes+more.bytes > o.MaxPromptBytes+ending.bytes {
		return ErrLargePrompts
	}
	q.add(by, more)
	return nil
}

// count counts more prompts that were let in before, or fewer.
func (q *promptQuota) count(by string, more prompts) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.add(by, more)
}

// add changes what a principal has. The caller holds q.mu.
func (q *promptQuota) add(by string, more prompts) {
	has := prompts{q.of[by].count + more.count, q.of[by].bytes + more.bytes}
	if has == (prompts{}) {
		delete(q.of, by)
		return
	}
	q.of[by] = has
}
