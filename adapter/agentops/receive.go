package agentops

import (
	"bytes"
	"time"

	wire "github.com/tributary-dev/tributary/agentops"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agentkit"
)

// receive takes a frame. The caller holds s.mu.
func (s *session) receive(data []byte) {
	defer func() {
		close(s.changed)
		s.changed = make(chan struct{})
	}()
	if s.recall(data) {
		return
	}
	moves := s.dec.moves
	s.decode(agent.Out, data)
	s.heardOfRunner(moves)
	s.locate(data)
	s.deliverStops()
	s.expectLastWord()
}

// decode hands a frame to the decoder and does what follows from it. The caller
// holds s.mu.
func (s *session) decode(dir agent.Dir, data []byte) {
	_, err := agentkit.Decode(s.dec, agent.Message{Dir: dir, Data: data}, turns{s})
	if err != nil {
		s.cfg.Meter.Decoded(err)
		if s.skipped++; s.skipped&(s.skipped-1) == 0 { // a server that only sends such does not fill the log
			s.cfg.Logger.Warn(err.Error(), "skipped", s.skipped)
		}
	}
	s.apply(s.dec.take())
}

// expectLastWord sees to it that a turn which has ended is not held up for good.
// The caller holds s.mu.
func (s *session) expectLastWord() {
	switch waits := s.dec.unsettled() && s.link != shut; {
	case !waits && s.settler != nil:
		s.settler.Stop()
		s.settler = nil
	case waits && s.settler == nil: // whatever else comes does not put it off
		s.settler = time.AfterFunc(lastTime, s.settle)
	}
}

func (s *session) settle() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settler = nil
	if s.link == shut {
		return
	}
	s.dec.settle(turns{s})
	s.apply(s.dec.take())
}

// locate notes where the newest prompt of ours stands upstream, so that its turn can
// be found again after a restart. The caller holds s.mu.
func (s *session) locate(data []byte) {
	if s.active == nil {
		return
	}
	p := s.dec.promptOf(s.active.b)
	if p == nil || p.id == "" || p.id == s.at.Prompt && (s.at.Since != 0 || !bytes.Contains(data, []byte(p.id))) {
		return
	}
	was := s.at
	s.at.Turn, s.at.Prompt, s.at.Channel, s.at.Since = s.active.b.Turn(), p.id, p.channel, 0
	if f, err := wire.Decode(wire.ToBrowser, data); err == nil {
		if m, ok := f.(wire.MessageAdded); ok && m.Data.ID == p.id { // before that it waited
			s.at.Since = m.Data.CreatedAt
		}
	}
	if s.at == was {
		return
	}
	token := s.at.token()
	s.host.Resume(token)
}

// unsettled reports whether a turn has ended but for a last word, or may have ended unseen
// or be told to have ended for a second time, or something is asked that only waits for a
// word of what it is about.
func (d *Decoder) unsettled() bool {
	for _, r := range d.runs {
		if r.verdict != nil || r.course == stopping || r.doubt >= maybeOver || len(r.waits) > 0 {
			return true
		}
	}
	return d.twice
}

// promptOf finds the prompt that opened a turn, or nil.
func (d *Decoder) promptOf(b interface{ Turn() string }) *prompt {
	for _, p := range d.prompts {
		if p.b != nil && p.b.Turn() == b.Turn() {
			return p
		}
	}
	return nil
}

// unsend forgets a prompt that was refused.
func (d *Decoder) unsend(b interface{ Turn() string }) {
	for i, p := range d.prompts {
		if p.b != nil && p.b.Turn() == b.Turn() && p.phase <= queued {
			d.prompts = append(d.prompts[:i], d.prompts[i+1:]...)
			return
		}
	}
}
