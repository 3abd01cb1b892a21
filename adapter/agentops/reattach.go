package agentops

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	wire "github.com/tributary-dev/tributary/agentops"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/trace"
)

// Reattach implements agent.Reattacher: the turn went on there, and what happened
// meanwhile is in the history.
func (r Runtime) Reattach(ctx context.Context, opened agent.Session, waiting []string, b *trace.Builder) error {
	s, ok := opened.(*session)
	if !ok {
		return errors.New("agentops: this is a session of another agent")
	}
	if r.PerTurn {
		defer s.hangUp()
	}
	caller, err := s.api.as(agent.Caller{})
	if err != nil {
		notFound(b, "The gateway was restarted while this turn ran. It follows turns over a restart only with a service token; the turn goes on in Agent Ops.")
		return nil //nolint:nilerr // the turn says so
	}
	if s.another(b) {
		notFound(b, "The gateway was restarted while this turn ran, which somebody began in Agent Ops: it goes on there.")
		return nil
	}
	o := &ours{b: b, caller: caller}
	alive, err := s.keepAlive(ctx, o)
	if err != nil {
		return err
	}
	defer alive()
	open, leave := s.whileOpen(ctx)
	defer leave()
	if err := s.resume(open, o, waiting); err != nil {
		return s.notHad(ctx, b, connectionFailed, err)
	}
	return s.await(ctx, o)
}

// another reports whether a turn is not that of the newest prompt of ours, which is
// the one that can be found again.
func (s *session) another(b *trace.Builder) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.at.Turn != "" && s.at.Turn != b.Turn()
}

// notFound ends a turn that cannot be followed any more.
func notFound(b *trace.Builder, sentence string) {
	b.End(trace.Stop{Reason: "restart", Outcome: trace.OutcomeFailed, Error: sentence})
}

// resume connects, as often as it takes within bounds, and brings what was missed.
func (s *session) resume(ctx context.Context, o *ours, waiting []string) error {
	pause := againFirst
	for try := 1; ; try++ {
		err := s.retake(ctx, o, waiting)
		if err == nil || isFinal(err) || ctx.Err() != nil || s.rt.Strict || try == againTimes {
			return err
		}
		select {
		case <-time.After(jitter(pause)):
		case <-ctx.Done():
			return ctx.Err()
		case <-s.life.Done():
			return errClosed
		}
		pause = min(2*pause, againAtMost)
	}
}

func (s *session) retake(ctx context.Context, o *ours, waiting []string) error {
	if err := s.connecting.enter(ctx); err != nil {
		return err
	}
	defer s.connecting.leave()
	l, in, data, err := s.open(ctx, o.caller)
	if err != nil {
		return err
	}
	fail := func(err error) error {
		l.hangUp()
		l.close()
		close(l.done)
		return err
	}
	filled, messages, err := s.filled(ctx, o.caller, in, data)
	if err != nil {
		return fail(err)
	}
	s.mu.Lock()
	mine := s.at
	s.mu.Unlock()
	at := slices.IndexFunc(messages, func(m wire.Message) bool { return m.ID == mine.Prompt && m.Role == wire.RoleUser })
	if p := in.Data.PendingPrompt; at < 0 && p != nil && p.MessageID == mine.Prompt { // it still waits, and is in no history
		messages, at = []wire.Message{mine.waits(*p)}, 0
	}
	if at < 0 {
		notFound(o.b, "The gateway was restarted while this turn ran, and Agent Ops does not know its prompt: send it again if it still matters.")
		return fail(nil)
	}
	if filled, err = withMessages(filled, messages[at:]); err != nil {
		return fail(err)
	}
	frame, err := wire.Encode(wire.Prompt{Content: string(messages[at].Content), Channel: messages[at].Channel, ThreadID: messages[at].ThreadID})
	if err != nil {
		return fail(err)
	}
	s.mu.Lock()
	s.ours, s.waiting = o, waiting
	s.decode(agent.Out, data)
	s.decode(agent.In, frame)
	repeats(o.b, messages[at:])
	s.mu.Unlock()
	return s.lift(l, in, filled, func() {
		s.mu.Lock()
		s.dec.missed()
		s.mu.Unlock()
		s.follow(l)
	})
}

// repeats tells a turn that is taken up again which of its texts the messages say
// anew: the Builder knows them under numbers, in the order of their beginnings.
func repeats(b *trace.Builder, messages []wire.Message) {
	n := 0
	for _, m := range messages[1:] {
		if m.Role == wire.RoleUser {
			return
		}
		if m.Role != wire.RoleAssistant {
			continue
		}
		known := len(texts(m.Parts))
		for i := range known + 1 { // one more may have begun that no message has yet
			b.MessageRepeats(fmt.Sprintf("%s/%d", m.ID, i), fmt.Sprintf("text-%d", n+i+1))
		}
		n += known
	}
}

// missed holds what runs until the next whole message: the end of the text that is
// being written is in no history.
func (d *Decoder) missed() {
	for _, r := range d.runs {
		if r.turn != nil && r.turn.text != runner {
			r.turn.away = true
		}
	}
}

// filled puts the history into the first frame of a server that leaves it out.
func (s *session) filled(ctx context.Context, c agent.Caller, in wire.Init, data []byte) ([]byte, []wire.Message, error) {
	if in.Session.Messages != nil {
		return data, in.Session.Messages, nil
	}
	s.mu.Lock()
	var since time.Time
	if s.at.Since > 0 {
		since = time.Unix(int64(s.at.Since)-1, 0)
	}
	s.mu.Unlock()
	raw, err := s.api.messages(ctx, c, s.cfg.SessionID, since)
	if isElsewhere(err) {
		raw, err = s.greeted(ctx, c)
	}
	if err != nil {
		return nil, nil, err
	}
	all, err := encode(raw)
	if err != nil {
		return nil, nil, err
	}
	if len(raw) == 0 {
		all = []byte("[]")
	}
	data, err = with(data, all)
	if err != nil {
		return nil, nil, err
	}
	f, err := wire.Decode(wire.ToBrowser, data)
	if err != nil {
		return nil, nil, fmt.Errorf("agentops: the history cannot be read: %w", err)
	}
	whole, _ := f.(wire.Init)
	return data, whole.Session.Messages, nil
}

// greeted reads the history of a server that has no address for it: whoever asks by
// the older name of the protocol has it in the first frame.
func (s *session) greeted(ctx context.Context, c agent.Caller) ([]json.RawMessage, error) {
	sock, err := s.api.dial(ctx, s.cfg.SessionID, c, olderProtocol)
	if err != nil {
		return nil, err
	}
	defer sock.close()
	_, data, err := s.greeting(ctx, sock)
	if err != nil {
		return nil, err
	}
	var in struct {
		Session struct {
			Messages []json.RawMessage `json:"messages"`
		} `json:"session"`
	}
	if json.Unmarshal(data, &in) != nil || in.Session.Messages == nil {
		return nil, &failure{sentence: "Agent Ops does not tell what was said in the session, so the turn cannot be followed any more.", final: true}
	}
	return in.Session.Messages, nil
}

func withMessages(greeting []byte, messages []wire.Message) ([]byte, error) {
	all, err := encode(messages)
	if err != nil {
		return nil, err
	}
	return with(greeting, all)
}

// with sets the messages of a first frame.
func with(greeting, messages []byte) ([]byte, error) {
	var frame, session map[string]json.RawMessage
	err := json.Unmarshal(greeting, &frame)
	if err == nil {
		err = json.Unmarshal(frame["session"], &session)
	}
	if err != nil {
		return nil, fmt.Errorf("agentops: the first frame cannot be read: %w", err)
	}
	if session == nil {
		session = map[string]json.RawMessage{}
	}
	session["messages"] = messages
	if frame["session"], err = encode(session); err != nil {
		return nil, err
	}
	return encode(frame)
}

// asks reports whether a request or question of a turn is that of the upstream's id:
// the gateway's ends with a word of its own.
func asks(id, native string) bool {
	rest, ok := strings.CutPrefix(id, native)
	return ok && native != "" && (rest == "" || rest[0] == '-' && !strings.Contains(rest[1:], "-"))
}

// recall takes a question or an approval that is told again, and is on record since
// before a restart. It reports false for any other frame. The caller holds s.mu.
func (s *session) recall(data []byte) bool {
	if len(s.waiting) == 0 || !bytes.Contains(data, []byte(`"expiresAt"`)) && !bytes.Contains(data, []byte(`"questionId"`)) {
		return false
	}
	f, err := wire.Decode(wire.ToBrowser, data)
	if err != nil {
		return false
	}
	q := readAsk(f)
	i := slices.IndexFunc(s.waiting, func(id string) bool { return asks(id, q.native) })
	if i < 0 || s.ours == nil || s.dec.asks[q.native] != nil {
		return false
	}
	r := s.dec.active(q.channel)
	if r == nil {
		if r = s.dec.begin(s.dec.next(q.channel, true), q.channel, turns{s}); r == nil {
			return false
		}
	}
	a := &ask{native: q.native, id: s.waiting[i], question: q.question, run: r, b: r.b, choices: q.choices, call: &call{id: q.native, key: q.native, name: q.title}}
	s.waiting = slices.Delete(s.waiting, i, i+1)
	s.dec.asks[q.native] = a
	s.put(a)
	return true
}
