package main

import (
	"bytes"
	"context"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"time"
)

// lossLimit is how old the text may be that a crash takes from a part that was not
// finished.
const lossLimit = 250 * time.Millisecond

// witness keeps what clients saw of one session, and compares it with what is there
// later. Durable records are all there, once. Of a part that was not finished when
// the gateway was killed, the last 250 ms may be missing. Nothing contradicts what a
// client has seen.
type witness struct {
	session string
	checked uint64          // the last record of an earlier comparison
	known   map[string]bool // messages of turns up to there
	same    bool            // the gateway is still the one that was seen: the ids are the same too
	cut     time.Time       // when the gateway was stopped: what its clients saw later is another one's, or not on record

	mu     sync.Mutex
	sights []*sight
}

func newWitness(session string) *witness {
	return &witness{session: session, known: map[string]bool{}}
}

func (w *witness) add(s *sight) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sights = append(w.sights, s)
}

// since returns the sights that came after the first n.
func (w *witness) since(n int) []*sight {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.sights[n:]
}

// compare compares sights with the trace, the history and the replay. They are
// of turns that began after the record with the number given.
func (w *witness) compare(ctx context.Context, g *gateway, c *tally, after uint64, sights []*sight) (last uint64, err error) {
	if len(sights) == 0 {
		return after, nil
	}
	b, err := g.audit(ctx, c, w.session, after)
	if err != nil {
		if !anyAcked(sights) { // a session that nobody was promised
			return after, nil
		}
		return after, err
	}
	p, err := g.history(ctx, w.session, len(b.order)+1)
	if err != nil {
		return after, err
	}
	for id, turns := range b.prompts {
		if len(turns) > 1 {
			c.doubled("%s: the prompt %s has %d turns", w.session, id, len(turns))
		}
		if n := p.times[id]; n > 1 {
			c.doubled("%s: the prompt %s is in the history %d times", w.session, id, n)
		}
	}
	for id, turns := range b.replies {
		w.known[id] = true
		if n := p.times[id]; len(turns) > 1 || n > 1 {
			c.doubled("%s: the answer %s has %d turns, and is in the history %d times", w.session, id, len(turns), n)
		}
	}
	replays := map[string][]byte{}
	for _, s := range sights {
		turn := w.find(c, b, p, s, after)
		if turn == "" || len(s.raw) == 0 {
			continue
		}
		if replays[turn] == nil {
			if replays[turn], err = g.replay(ctx, w.session, turn); err != nil {
				return after, err
			}
		}
		c.flawed(falls(c, s.until(w.cut), w.same, replays[turn], b.turns[turn].gist, p), w.session+", turn "+turn)
	}
	return b.last, nil
}

func anyAcked(sights []*sight) bool {
	for _, s := range sights {
		if s.acked {
			return true
		}
	}
	return false
}

// find finds the turn of a sight, and counts what is missing of its prompt.
func (w *witness) find(c *tally, b *book, p page, s *sight, after uint64) (turn string) {
	seen := gistOf(s.raw)
	if turns := b.replies[seen.message]; seen.message != "" && len(turns) > 0 {
		turn = turns[0]
	}
	if b.turns[seen.message] != nil { // a prompt that was not run: its message has the name of its turn, and nothing else
		return ""
	}
	switch {
	case turn == "" && s.prompt == "" && after > 0 && w.known[seen.message]:
		return "" // it resumed a turn of an earlier round: the last comparison looks at it
	case seen.message != "" && turn == "":
		c.lost("%s: a client saw the message %s, and the trace has none", w.session, seen.message)
		return ""
	case s.prompt == "" || !s.acked:
		return turn
	case len(b.prompts[s.prompt]) == 0:
		c.lost("%s: the prompt %s was acknowledged, and the trace has none", w.session, s.prompt)
		return ""
	case p.times[s.prompt] == 0:
		c.lost("%s: the prompt %s was acknowledged, and the history has none", w.session, s.prompt)
		return ""
	case turn != "" && turn != b.prompts[s.prompt][0]:
		c.failed("%s: the answer to %s is of turn %s, not %s", w.session, s.prompt, turn, b.prompts[s.prompt][0])
	}
	return turn
}

// flaw is what is wrong with what a client has seen: something else is on record, or
// it is missing there.
type flaw struct {
	what        string
	contradicts bool
	late        bool // the text is of an open part, where the log may be behind, but is too old
}

// falls says in which of the three places something that was seen is missing, or else.
func falls(c *tally, s *sight, same bool, replay []byte, traced gist, p page) flaw {
	if !ended(replay) {
		return flaw{what: fmt.Sprintf("its replay has no end: %q", tail(string(replay)))}
	}
	if !same {
		return fallsAfterCrash(c, s, replay, traced, p)
	}
	was, is := content(s.raw), content(replay)
	switch seen := gistOf(s.raw); {
	case s.whole && was != is:
		return flaw{what: fmt.Sprintf("a client had all of it in %d bytes, the replay has %d: %s", len(was), len(is), parting(was, is)), contradicts: !strings.HasPrefix(was, is)}
	case !strings.HasPrefix(is, was):
		return flaw{what: "a client had seen what the replay does not have: " + parting(was, is), contradicts: !strings.HasPrefix(was, is)}
	default:
		return lacking(seen, traced, p)
	}
}

// lacking says what the trace or the history lacks.
func lacking(seen, traced gist, p page) flaw {
	if what := traced.holds(seen); what != "" {
		return flaw{what: "the trace lacks " + what}
	}
	if what := p.messages[seen.message].holds(seen); what != "" {
		return flaw{what: "the history lacks " + what}
	}
	return flaw{}
}

// logFailed is the sentence at the end of a stream whose turn the log has failed.
const logFailed = "The gateway could not write its log, so the turn was ended."

// fallsAfterCrash is falls where the gateway was killed since: the texts may have
// other deltas, and a part that was not finished may be shorter.
func fallsAfterCrash(c *tally, s *sight, replay []byte, traced gist, p page) flaw {
	seenOfIt, whole := s.raw, s.whole
	if frames, ok := bytes.CutSuffix(seenOfIt, []byte(done)); ok && failureOf(frames) == logFailed {
		seenOfIt, whole = frames[:bytes.LastIndex(frames, []byte(`data: {"type":"error"`))], false // the gateway itself cut the stream
	}
	first, wrong := tellingOf(seenOfIt).within(tellingOf(replay), whole)
	if wrong.what != "" {
		return wrong
	}
	seen := gistOf(s.raw)
	if first >= 0 {
		gap := s.before(first)
		c.gap(gap)
		if gap > lossLimit {
			return flaw{what: fmt.Sprintf("text is missing that a client had seen %s before the end of its stream", gap), late: true}
		}
		seen = gistOf(replay)
	}
	return lacking(seen, traced, p)
}

// parting tells where two texts part.
func parting(was, is string) string {
	i := 0
	for i < len(was) && i < len(is) && was[i] == is[i] {
		i++
	}
	const around = 60
	cut := func(s string) string { return s[max(0, min(i, len(s))-around):min(len(s), i+around)] }
	return fmt.Sprintf("at byte %d it had %q, there is %q", i, cut(was), cut(is))
}

// replay reads the stream of a turn that is over.
func (g *gateway) replay(ctx context.Context, session, turn string) ([]byte, error) {
	return g.read(ctx, "/api/chat/"+url.PathEscape(session)+"/stream?turn="+url.QueryEscape(turn))
}
