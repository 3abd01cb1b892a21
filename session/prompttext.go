package session

import (
	"context"

	"github.com/tributary-dev/tributary/trace"
)

// This file shows queued prompts with the text that their users gave them last.

// promptTexts are the newest versions of prompts whose users changed the text while they
// waited.
type promptTexts struct {
	newest map[uint64]trace.Payload // by the number of the first version
	shown  map[[2]string]bool       // the messages of turns
}

// newestTexts reads the newest versions of the prompts after a number.
func (l *activeSession) newestTexts(ctx context.Context, after uint64) (promptTexts, error) {
	l.mu.Lock()
	rewritten := l.thread.Rewritten()
	l.mu.Unlock()
	texts := promptTexts{map[uint64]trace.Payload{}, map[[2]string]bool{}}
	for first, newest := range rewritten {
		if first <= after {
			continue
		}
		r, err := l.recordAt(ctx, newest)
		if err != nil {
			return texts, err
		}
		texts.newest[first] = r.Payload
	}
	return texts, nil
}

// of gives a prompt its newest text. A later version of a prompt loses its payload.
func (p promptTexts) of(r *trace.Record) {
	prompt, is := r.Payload.(trace.Prompt)
	if !is {
		return
	}
	key := [2]string{r.Turn, prompt.Message.ID}
	if p.shown[key] {
		r.Payload = nil
		return
	}
	p.shown[key] = true
	if newest, rewritten := p.newest[r.Seq]; rewritten {
		r.Payload = newest
	}
}
