package session

import (
	"context"

	"github.com/tributary-dev/tributary/trace"
)

// This file shows queued prompts with the text that their users gave them last.

// newestTexts reads the newest versions of the prompts after a number whose users changed the text
// while they waited. What it returns gives a prompt its newest text. A later version of a prompt loses
// its payload.
func (l *activeSession) newestTexts(ctx context.Context, after uint64) (func(*trace.Record), error) {
	l.mu.Lock()
	rewritten := l.thread.Rewritten()
	l.mu.Unlock()
	newest := map[uint64]trace.Payload{} // by the number of the first version
	for first, last := range rewritten {
		if first <= after {
			continue
		}
		r, err := l.recordAt(ctx, last)
		if err != nil {
			return nil, err
		}
		newest[first] = r.Payload
	}
	shown := map[[2]string]bool{} // the messages of turns
	return func(r *trace.Record) {
		prompt, is := r.Payload.(trace.Prompt)
		if !is {
			return
		}
		key := [2]string{r.Turn, prompt.Message.ID}
		if shown[key] {
			r.Payload = nil
			return
		}
		shown[key] = true
		if text, rewritten := newest[r.Seq]; rewritten {
			r.Payload = text
		}
	}, nil
}
