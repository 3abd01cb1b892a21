package demo

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/trace"
)

// This file offers modes, models and commands as a real agent does. They change nothing
// but the answer of the script about.

func modes() []trace.Mode {
	return []trace.Mode{
		{ID: "ask", Name: "Ask", Description: "Asks before each command"},
		{ID: "plan", Name: "Plan", Description: "Makes a plan and changes nothing"},
		{ID: "auto", Name: "Auto", Description: "Accepts edits; asks before commands"},
	}
}

func models() []trace.Model {
	return []trace.Model{
		{ID: "demo", Name: "Demo", Description: "Plays scripts"},
		{ID: "demo-mini", Name: "Demo mini", Description: "Plays the same scripts"},
	}
}

func commands() []trace.Command {
	return []trace.Command{
		{Name: "help", Description: "List all scripts"},
		{Name: "about", Description: "Tell the mode and the model"},
		{Name: "review", Description: "Change several files"},
		{Name: "long", Description: "Write a long text", Hint: "number of words"},
		{Name: "huge", Description: "Read a huge file", Hint: "number of MB"},
	}
}

// Controls implements agent.Controllable.
func (s *session) Controls() agent.Controls {
	return agent.Controls{
		Steer:    func(_ context.Context, p agent.Prompt) error { return s.steer(p) },
		SetMode:  func(_ context.Context, id string) error { return s.setMode(id) },
		SetModel: func(_ context.Context, id string) error { return s.setModel(id) },
	}
}

func (s *session) setMode(id string) error {
	all := modes()
	if !slices.ContainsFunc(all, func(m trace.Mode) bool { return m.ID == id }) {
		return fmt.Errorf("the demo has no mode %q: use ask, plan or auto", id)
	}
	s.mu.Lock()
	s.mode = id
	s.mu.Unlock()
	s.host.Note(trace.Modes(id, all))
	return nil
}

func (s *session) setModel(id string) error {
	all := models()
	if !slices.ContainsFunc(all, func(m trace.Model) bool { return m.ID == id }) {
		return fmt.Errorf("the demo has no model %q: use demo or demo-mini", id)
	}
	s.mu.Lock()
	s.model = id
	s.mu.Unlock()
	s.host.Note(trace.Models(id, all))
	s.host.Note(trace.AgentInfo{Product: "demo", Model: id}.Payload())
	return nil
}

// steer takes a message in the middle of a turn. The demo answers at the end of the script.
func (s *session) steer(p agent.Prompt) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.playing {
		return errors.New("the demo plays no script that could take the message: send it as a prompt")
	}
	s.steered = append(s.steered, shorten(p))
	return nil
}

// heard answers the messages that came while the script played, until there are no more.
func (s *stage) heard() {
	for {
		s.mu.Lock()
		texts := s.steered
		s.steered, s.playing = nil, len(texts) > 0
		s.mu.Unlock()
		for _, text := range texts {
			s.next("Meanwhile you said: " + text)
		}
		if len(texts) == 0 {
			return
		}
	}
}

func about(s *stage) {
	s.say(fmt.Sprintf("I work in the mode %s with the model %s.", s.mode, s.model))
}
