package session

// This file counts the prompts of each principal.

// promptQuota counts the prompts of each principal that run or wait, and what they weigh. It
// holds no principal without prompts.
type promptQuota struct {
	mu mutex
	of map[string]prompts
}

// prompts are some prompts of one principal.
type prompts struct {
	count int
	bytes int64 // of their messages
}

// take counts one more prompt, unless that would be too much beside the prompts that are
// about to end. A negative bound is none.
func (q *promptQuota) take(by string, bytes int64, o Options, ending prompts) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	has := q.of[by]
	if o.MaxPrompts >= 0 && has.count >= o.MaxPrompts+ending.count {
		return ErrTooManyPrompts
	}
	if o.MaxPromptBytes >= 0 && has.bytes+bytes > o.MaxPromptBytes+ending.bytes {
		return ErrLargePrompts
	}
	q.add(by, prompts{1, bytes})
	return nil
}

// change counts that a prompt weighs more, or less, unless that would be too much.
func (q *promptQuota) change(by string, bytes int64, o Options) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if o.MaxPromptBytes >= 0 && bytes > 0 && q.of[by].bytes+bytes > o.MaxPromptBytes {
		return ErrLargePrompts
	}
	q.add(by, prompts{bytes: bytes})
	return nil
}

// leave counts a prompt no more whose turn has ended.
func (q *promptQuota) leave(by string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.add(by, prompts{count: -1})
}

// free counts the message of a prompt no more that its agent has let go.
func (q *promptQuota) free(by string, bytes int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.add(by, prompts{bytes: -bytes})
}

// add changes what a principal has. The caller holds q.mu.
func (q *promptQuota) add(by string, more prompts) {
	has := prompts{q.of[by].count + more.count, q.of[by].bytes + more.bytes}
	if has == (prompts{}) {
		delete(q.of, by)
		return
	}
	if q.of == nil {
		q.of = map[string]prompts{}
	}
	q.of[by] = has
}
