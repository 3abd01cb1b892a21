package langgraph

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/agent/remote"
	"github.com/tributary-dev/tributary/trace"
)

// The choices at a pause.
const (
	goOn = "Continue"
	quit = "Stop"
)

// Next implements remote.Asker. A graph with several interrupts takes the answers by their ids. Of several
// interrupts of one id the graph takes one answer, and then asks the others again.
func (d *Decoder) Next(_ *trace.Builder, replies remote.Replies) *remote.Call {
	all := map[string]any{}
	var last any
	for _, r := range d.turn.requests {
		r.given = r.answer(replies)
		if _, taken := all[r.id]; taken {
			d.turn.early = append(d.turn.early, r)
			continue
		}
		last, all[r.id] = r.given, r.given
	}
	if len(all) > 1 || d.at.strict && slices.IndexFunc(d.turn.requests, func(r *request) bool { return !isHash(r.id) }) < 0 {
		last = all
	}
	command := agentkit.Encode(map[string]any{"resume": last})
	if choice, pauses := all[static]; pauses {
		command = nil
		if s := text(choice.(raw)); s == "" || s == quit { //nolint:forcetypeassert // a question's
			d.end("stopped", "")
			return nil
		}
	}
	if d.goOn == nil { // a recording
		return nil
	}
	c := d.goOn(command)
	return &c
}

// isHash reports whether a graph takes an answer by that id of an interrupt, as isXXH3 of LangGraph 1.7.3 tells.
func isHash(id string) bool { return len(id) == 32 && strings.Trim(id, "0123456789abcdef") == "" }

// answer is the answer in the form that the graph expects.
func (r *request) answer(replies remote.Replies) any {
	if r.given != nil {
		return r.given
	}
	if len(r.review.Actions) == 0 {
		return freeAnswer(replies.Answers[r.question()].Values)
	}
	return r.review.Decisions(replies.Permissions)
}

// freeAnswer is what a person wrote: an object, a list, true or false as JSON, else text.
func freeAnswer(values []string) raw {
	if len(values) != 1 {
		return agentkit.Encode(append([]string{}, values...))
	}
	if s := strings.TrimSpace(values[0]); (s == "true" || s == "false" || strings.HasPrefix(s, "{") || strings.HasPrefix(s, "[")) && json.Valid([]byte(s)) {
		return raw(s)
	}
	return agentkit.Encode(values[0])
}
