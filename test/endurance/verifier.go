package main

import (
	"bytes"
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

// lossLimit is the largest age of text that a crash may remove from an open part.
const lossLimit = 250 * time.Millisecond

// verifier keeps the clients' observations of one session, and compares them with the gateway's data
// later. Each durable record exists once. After a kill, an open part may lack its last 250 ms. No
// record contradicts an observation.
type verifier struct {
	session string
	checked uint64          // the last record of an earlier comparison
	known   map[string]bool // messages of turns up to there
	same    bool            // the gateway was not restarted, so the ids of frames are the same too
	cut     time.Time       // when the gateway was stopped; later observations do not count

	mu           sync.Mutex
	observations []*observation
}

func newVerifier(session string) *verifier {
	return &verifier{session: session, known: map[string]bool{}}
}

func (w *verifier) add(s *observation) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.observations = append(w.observations, s)
}

// since returns the observations after the first n.
func (w *verifier) since(n int) []*observation {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.observations[n:]
}

// compare compares observations with the trace, the history and the replay. The turns of these
// observations began after the record with the given number.
func (w *verifier) compare(ctx context.Context, g *gateway, c *results, after uint64, observations []*observation) (last uint64, err error) {
	if len(observations) == 0 {
		return after, nil
	}
	b, err := g.audit(ctx, c, w.session, after)
	if err != nil {
		if !anyTold(observations) {
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
	for _, s := range observations {
		turn := w.find(c, b, p, s, after)
		if turn == "" || len(s.raw) == 0 {
			continue
		}
		if replays[turn] == nil {
			if replays[turn], err = g.replay(ctx, w.session, turn); err != nil {
				return after, err
			}
		}
		c.flawed(findFlaw(c, s.until(w.cut), w.same, replays[turn], b.turns[turn].summary, p), w.session+", turn "+turn)
	}
	return b.last, nil
}

// anyTold reports whether the gateway told a client that the session is on record. It accepted a
// prompt, or it sent a chunk. The 200 of a resume alone tells nothing: the gateway opens that stream
// while the first prompt is still being written.
func anyTold(observations []*observation) bool {
	return slices.ContainsFunc(observations, func(s *observation) bool {
		return s.acked && (s.prompt != "" || len(chunks(s.raw)) > 0)
	})
}

// find finds the turn of an observation, and counts a missing prompt.
func (w *verifier) find(c *results, b *traceIndex, p historyPage, s *observation, after uint64) (turn string) {
	seen := summaryOf(s.raw)
	if turns := b.replies[seen.message]; seen.message != "" && len(turns) > 0 {
		turn = turns[0]
	}
	if b.turns[seen.message] != nil { // the prompt did not run: its empty message has the turn's id
		return ""
	}
	switch {
	case turn == "" && s.prompt == "" && after > 0 && w.known[seen.message]:
		return "" // a turn of an earlier round, which the last comparison checks
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

// flaw is a difference between an observation and the record: the record lacks something, or
// contradicts it.
type flaw struct {
	what        string
	contradicts bool
	late        bool // the missing text is of an open part, and older than lossLimit
}

// findFlaw returns the first difference between an observation and the replay, the trace or the history.
func findFlaw(c *results, s *observation, same bool, replay []byte, traced summary, p historyPage) flaw {
	if !ended(replay) {
		return flaw{what: fmt.Sprintf("its replay has no end: %q", tail(string(replay)))}
	}
	if !same {
		return findFlawAfterCrash(c, s, replay, traced, p)
	}
	was, is := content(s.raw), content(replay)
	switch seen := summaryOf(s.raw); {
	case s.complete && was != is:
		return flaw{what: fmt.Sprintf("a client had the complete stream in %d bytes, the replay has %d: %s", len(was), len(is), diff(was, is)), contradicts: !strings.HasPrefix(was, is)}
	case !strings.HasPrefix(is, was):
		return flaw{what: "the replay lacks what a client had seen: " + diff(was, is), contradicts: !strings.HasPrefix(was, is)}
	default:
		return missing(seen, traced, p)
	}
}

// missing returns what the trace or the history lacks.
func missing(seen, traced summary, p historyPage) flaw {
	if what := traced.holds(seen); what != "" {
		return flaw{what: "the trace lacks " + what}
	}
	if what := p.messages[seen.message].holds(seen); what != "" {
		return flaw{what: "the history lacks " + what}
	}
	return flaw{}
}

// logFailed is the error of a turn whose log has failed.
const logFailed = "The gateway could not write its log, so the turn was ended."

// findFlawAfterCrash does the same after a kill of the gateway: texts may have other deltas, and an open
// part may be shorter.
func findFlawAfterCrash(c *results, s *observation, replay []byte, traced summary, p historyPage) flaw {
	seenOfIt, whole := s.raw, s.complete
	if frames, ok := bytes.CutSuffix(seenOfIt, []byte(done)); ok && failureOf(frames) == logFailed {
		seenOfIt, whole = frames[:bytes.LastIndex(frames, []byte(`data: {"type":"error"`))], false // the gateway itself cut the stream
	}
	first, wrong := transcriptOf(seenOfIt).within(transcriptOf(replay), whole)
	if wrong.what != "" {
		return wrong
	}
	seen := summaryOf(s.raw)
	if first >= 0 {
		gap := s.before(first)
		c.gap(gap)
		if gap > lossLimit {
			return flaw{what: fmt.Sprintf("text is missing that a client had seen %s before the end of its stream", gap), late: true}
		}
		seen = summaryOf(replay)
	}
	return missing(seen, traced, p)
}

// diff describes the first place where two texts differ.
func diff(was, is string) string {
	i := 0
	for i < len(was) && i < len(is) && was[i] == is[i] {
		i++
	}
	const around = 60
	cut := func(s string) string { return s[max(0, min(i, len(s))-around):min(len(s), i+around)] }
	return fmt.Sprintf("at byte %d the client had %q, the record has %q", i, cut(was), cut(is))
}

// replay reads the stream of a turn that is over.
func (g *gateway) replay(ctx context.Context, session, turn string) ([]byte, error) {
	return g.read(ctx, "/api/chat/"+url.PathEscape(session)+"/stream?turn="+url.QueryEscape(turn))
}
