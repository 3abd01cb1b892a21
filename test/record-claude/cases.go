//go:build unix

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/tributary-dev/tributary/internal/testkit/scriptedmodel"
)

// A scenario is one case to record.
type scenario struct {
	name string
	play func(ctx context.Context, r *room) error
}

// single is a case of one session; the session is ended for it.
func single(name string, do func(s *session) error) scenario {
	return scenario{name, func(ctx context.Context, r *room) error { return r.session(ctx, name, do) }}
}

func (r *room) session(ctx context.Context, name string, do func(*session) error, args ...string) error {
	s, err := r.open(ctx, name, args...)
	if s == nil {
		return err
	}
	if err == nil {
		err = do(s)
	}
	if err != nil {
		s.tape.fail(err)
		return errors.Join(err, s.kill())
	}
	return s.end()
}

// prompt sends what a user types.
func (s *session) prompt(text string) error {
	d, _ := scriptedmodel.ParseDirective(text)
	s.next(d)
	return s.send(map[string]any{
		"type":               "user",
		"message":            map[string]any{"role": "user", "content": text},
		"parent_tool_use_id": nil,
		"session_id":         "",
	})
}

func isResult(m message) bool { return m.Type == "result" }

// ask prompts, waits for the end of the turn and says what it amounts to.
func (s *session) ask(text string, adjust ...adjustment) error {
	if err := s.prompt(text); err != nil {
		return err
	}
	if err := s.await("the result", isResult); err != nil {
		return err
	}
	s.expect(adjust...)
	return nil
}

// one is a case of one turn; format may hold one %s for the workspace.
func one(name, format string, adjust ...adjustment) scenario {
	return single(name, func(s *session) error { return s.ask(s.fill(format), adjust...) })
}

// decided is one with an answer to what the agent asks.
func decided(name, format string, decide func(permission) map[string]any, adjust ...adjustment) scenario {
	return single(name, func(s *session) error {
		s.decide = decide
		return s.ask(s.fill(format), adjust...)
	})
}

// fill replaces %s by the workspace.
func (s *session) fill(format string) string {
	return strings.ReplaceAll(format, "%s", s.workspace())
}

func cases() []scenario {
	const plain = "[[script:plain]]"
	failed, canceled := outcome("failed"), outcome("canceled")
	return []scenario{
		one("plain", plain),
		one("think", "[[script:think]]"),
		one("empty", "[[script:empty]]"),
		one("unicode", `[[script:say Grüße aus Zürich! 👩‍🚀🏳️‍🌈 `+"e\u0301"+` – 日本語, עברית, "quotes" \\ and\n\n**two** lines 🙂🙃]]`),
		one("big", "[[script:big 160]]"),
		one("tool", "[[script:read %s/hello.txt]]"),
		one("parallel", "[[script:both %s/hello.txt]]"),
		one("chain", "[[script:chain %s/hello.txt]]"),
		one("tool-error", "[[script:read %s/does-not-exist.txt]]", state("failed")),
		one("slow-tool", "[[script:slow-tool 5]]"),
		one("permission-allow", "[[script:write %s/allowed.txt]]"),
		decided("permission-deny", "[[script:shell touch %s/denied.txt]]", func(permission) map[string]any {
			return map[string]any{"behavior": "deny", "message": "The user said no."}
		}, state("denied")),
		decided("permission-deny-interrupt", "[[script:shell touch %s/denied.txt]]", func(permission) map[string]any {
			return map[string]any{"behavior": "deny", "message": "Stop here.", "interrupt": true}
		}, state("denied"), canceled),
		decided("permission-allow-edited", "[[script:shell touch %s/x && echo original]]", func(permission) map[string]any {
			return map[string]any{"behavior": "allow", "updatedInput": map[string]any{"command": "echo edited by the host"}}
		}),
		single("permission-always", permissionAlways),
		decided("ask-user", questionScript, allow),
		decided("ask-user-answered", questionScript, answerBlue, question("Which colour?", "Blue")),
		single("interrupt", interruptInText),
		single("interrupt-tool", interruptInTool),
		single("interrupt-permission", interruptAtPermission),
		one("error-400", "[[script:error 400]]", failed),
		one("error-500", "[[script:error 500]]", failed),
		one("error-once", "[[script:error-once 529 first]]"),
		one("error-event", "[[script:error-event]]", failed),
		one("error-cut", "[[script:error-cut]]", failed),
		one("error-event-once", "[[script:error-event-once first]]", healed),
		single("two-turns", twoTurns),
		single("queued", queued),
		single("subagent", subagent),
		{"resume", resume},
		{"resume-missing", resumeMissing},
	}
}

const questionScript = `[[script:call AskUserQuestion {"questions":[{"question":"Which colour?","header":"Colour","multiSelect":false,` +
	`"options":[{"label":"Red","description":"as a rose"},{"label":"Blue","description":"as the sea"}]}]}]]`

func answerBlue(p permission) map[string]any {
	var input map[string]any
	if err := json.Unmarshal(p.Input, &input); err != nil {
		return map[string]any{"behavior": "deny", "message": err.Error()}
	}
	input["answers"] = map[string]string{"Which colour?": "Blue"}
	return map[string]any{"behavior": "allow", "updatedInput": input}
}

func permissionAlways(s *session) error {
	s.decide = func(p permission) map[string]any {
		return map[string]any{"behavior": "allow", "updatedInput": p.Input, "updatedPermissions": p.Suggestions}
	}
	return errors.Join(s.ask(s.fill("[[script:write %s/a1.txt]]")), s.ask(s.fill("[[script:write %s/a2.txt]]")))
}

func twoTurns(s *session) error {
	return errors.Join(
		s.ask("[[script:plain]]"),
		s.control(map[string]any{"subtype": "set_model", "model": "claude-sonnet-4-5"}),
		s.control(map[string]any{"subtype": "set_permission_mode", "mode": "acceptEdits"}),
		s.ask(s.fill("[[script:write %s/mode.txt]]")),
	)
}

// queued prompts again while a turn runs; the agent begins a turn of its own
// for that once the first is over.
func queued(s *session) error {
	if err := s.prompt("[[script:slow 10]]"); err != nil {
		return err
	}
	first := s.turn
	err := s.await("some text", func(m message) bool { return m.Event.Delta.Type == "text_delta" })
	if err := errors.Join(err, s.prompt("[[script:plain]]")); err != nil {
		return err
	}
	second := s.turn
	for _, t := range []turn{first, second} {
		if err := s.await("the result", isResult); err != nil {
			return err
		}
		s.turn = t
		s.expect()
	}
	return nil
}

func interruptInText(s *session) error {
	if err := s.prompt("[[script:slow 100]]"); err != nil {
		return err
	}
	deltas := 0
	err := s.await("some text", func(m message) bool {
		if m.Event.Delta.Type == "text_delta" {
			deltas++
		}
		return deltas == 5
	})
	if err := errors.Join(err, s.interrupt()); err != nil {
		return err
	}
	s.expect(streamedOnly, outcome("canceled"))
	return s.ask("[[script:plain]]")
}

func interruptInTool(s *session) error {
	if err := s.prompt(s.fill("[[script:shell touch %s/started; sleep 30]]")); err != nil {
		return err
	}
	err := s.await("a question", func(m message) bool { return m.Type == "control_request" })
	err = errors.Join(err, s.until(func() bool { _, err := os.Stat(s.path("started")); return err == nil }))
	if err := errors.Join(err, s.interrupt()); err != nil {
		return err
	}
	s.expect(state("canceled"), outcome("canceled"))
	return nil
}

func interruptAtPermission(s *session) error {
	s.decide = nil
	if err := s.prompt(s.fill("[[script:shell touch %s/never]]")); err != nil {
		return err
	}
	err := s.await("a question", func(m message) bool { return m.Type == "control_request" })
	if err := errors.Join(err, s.interrupt()); err != nil {
		return err
	}
	s.expect(state("canceled"), outcome("canceled"))
	return nil
}

// interrupt stops the turn and waits for its end; the result may come before
// the answer to the request does.
func (s *session) interrupt() error {
	s.asked++
	id := fmt.Sprintf("host_%d", s.asked)
	err := s.send(map[string]any{"type": "control_request", "request_id": id, "request": map[string]any{"subtype": "interrupt"}})
	if err != nil {
		return err
	}
	answered, ended := false, false
	return s.await("the end after an interrupt", func(m message) bool {
		answered = answered || m.Type == "control_response" && m.Response.RequestID == id
		ended = ended || isResult(m)
		return answered && ended
	})
}

// subagent waits for the second turn too, which the agent begins by itself.
func subagent(s *session) error {
	inner := s.fill("[[script:read %s/hello.txt]]")
	sub, _ := scriptedmodel.ParseDirective(inner)
	input, err := encode(map[string]any{"description": "sub task", "subagent_type": "general-purpose", "prompt": inner})
	if err != nil {
		return err
	}
	withSub := func(e *Expectation, calls []string, t *turn) {
		all := *t
		all.after = 0
		inner, _ := all.said(s.model.Requests(), sub)
		e.Subagents = map[string]Expectation{calls[0]: inner}
	}
	var first []string
	if err := s.ask("[[script:call Task "+string(input)+"]]", func(_ *Expectation, calls []string, _ *turn) { first = calls }); err != nil {
		return err
	}
	if err := s.await("the result of the turn after the task", isResult); err != nil {
		return err
	}
	s.expect(func(e *Expectation, _ []string, t *turn) { withSub(e, first, t) })
	return nil
}

func resume(ctx context.Context, r *room) error {
	const id = "11111111-2222-4333-8444-555555555555"
	begin := func(s *session) error { return s.ask("My name is Ada. [[script:plain]]") }
	recall := func(s *session) error { return s.ask("What do you know? [[script:recall]]") }
	return errors.Join(
		r.session(ctx, "resume-1", begin, "--session-id", id),
		r.session(ctx, "resume-2", recall, "--resume", id),
		r.session(ctx, "resume-fork", recall, "--resume", id, "--fork-session"),
	)
}

// resumeMissing sends nothing: the agent ends by itself.
func resumeMissing(ctx context.Context, r *room) error {
	s, err := r.start(ctx, "resume-missing", []string{"--resume", "99999999-2222-4333-8444-555555555555"})
	if err != nil {
		return err
	}
	if err := s.await("the result", isResult); err != nil {
		s.tape.fail(err)
		return errors.Join(err, s.kill())
	}
	s.expect(outcome("failed"))
	return s.end()
}
