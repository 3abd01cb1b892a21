package agentops

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	wire "github.com/tributary-dev/tributary/agentops"

	"github.com/tributary-dev/tributary/agent"
)

// missed holds what runs until the next whole message: the end of the text that is
// being written is in no history.
func (d *Decoder) missed() {
	for _, r := range d.runs {
		if r.turn != nil {
			r.turn.away = true
		}
	}
}

// filled puts the history into the first frame of a server that leaves it out.
func (s *session) filled(ctx context.Context, c agent.Caller, in wire.Init, data []byte) ([]byte, error) {
	if in.Session.Messages != nil {
		return data, nil
	}
	raw, err := s.api.messages(ctx, c, s.cfg.SessionID, s.since())
	if isElsewhere(err) {
		raw, err = s.greeted(ctx, c)
	}
	if err != nil {
		return nil, err
	}
	all, err := encode(raw)
	if err != nil {
		return nil, err
	}
	if len(raw) == 0 {
		all = []byte("[]")
	}
	return with(data, all)
}

// since is from when on the history is wanted: all of it, if anything is open that may be
// older than the newest prompt of ours.
func (s *session) since() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.at.Since == 0 || s.dec.openBeside(s.at.Prompt) {
		return time.Time{}
	}
	return time.Unix(int64(s.at.Since)-1, 0)
}

// openBeside reports whether a turn is open that is not the prompt's.
func (d *Decoder) openBeside(id string) bool {
	return slices.ContainsFunc(d.runs, func(r *run) bool { return r.prompt == nil || r.prompt.id != id }) ||
		slices.ContainsFunc(d.prompts, func(p *prompt) bool { return p.b != nil && p.id != id })
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
			Messages told `json:"messages"`
		} `json:"session"`
	}
	err = json.Unmarshal(data, &in)
	if errors.Is(err, errTooMany) {
		return nil, errTooMany
	}
	if err != nil || in.Session.Messages == nil {
		return nil, &failure{sentence: "Agent Ops does not tell what was said in the session, so the turn cannot be followed any more.", final: true}
	}
	return in.Session.Messages, nil
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
