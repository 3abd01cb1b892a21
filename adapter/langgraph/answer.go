package langgraph

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/agent/remote"
	"github.com/tributary-dev/tributary/trace"
)

// The choices at a pause.
const (
	goOn = "Continue"
	quit = "Stop"
)

// question asks what has no form of its own. The question is the text of the value, or the
// value itself.
func (d *Decoder) question(a *ask, value raw) {
	q := trace.Question{QuestionID: d.item(a, 0), Text: questionText(value), Choices: choices(value)}
	if a.form == pause {
		q.Text, q.Choices = "The graph has paused. Shall it go on?", []trace.Choice{{Label: goOn}, {Label: quit}}
	}
	if c := d.turn.calls[d.interrupts[a.id]]; c != nil && c.begun {
		q.ToolCallID = c.id
	}
	ids := []string{d.waits(a, 0)}
	if ids[0] == "" {
		ids = d.turn.b.Questions(q)
	}
	d.do(agent.Ask{Native: q.QuestionID, QuestionIDs: ids, Reply: func(all []trace.Answer) raw {
		n := note{Interrupt: a.id, Answer: raw("null")}
		for _, answer := range all {
			n.Answer, n.Refused, n.By = freeAnswer(answer.Values), answer.Outcome != trace.Selected, answer.By
		}
		return remote.Note(n)
	}})
}

// questionForm is the value of an interrupt, in the words that people use.
type questionForm struct {
	Question, Ask, Message, Prompt, Text, Title, Instruction, Description string
	Options, Choices                                                      []string
}

func questionText(value raw) string {
	var f questionForm
	if s := text(value); s != "" {
		return s
	}
	read(value, &f)
	return cmp.Or(f.Question, f.Ask, f.Message, f.Prompt, f.Text, f.Title, f.Instruction, f.Description, string(trace.Opaque(value)))
}

func choices(value raw) (all []trace.Choice) {
	var f questionForm
	read(value, &f)
	for _, label := range append(f.Options, f.Choices...) {
		all = append(all, trace.Choice{Label: label})
	}
	return all
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

// noted takes an answer.
func (d *Decoder) noted(n note) {
	t := d.turn
	if t == nil {
		return
	}
	i := slices.IndexFunc(t.asks, func(a *ask) bool { return a.id == n.Interrupt })
	if i < 0 || n.Item >= len(t.asks[i].answers) || n.Item < 0 {
		return
	}
	a := t.asks[i]
	a.answers[n.Item] = n.Answer
	if c := a.items[n.Item].call; c != nil {
		c.refused = n.Refused
	}
	d.by = cmp.Or(n.By, d.by)
	if quits := text(n.Answer) == quit; a.form == pause && (quits || n.Refused) {
		t.stop("stopped", "")
		d.over = true
		return
	}
	d.answer()
}

// answer goes on with the graph once every answer is there and the interrupted run is over:
// a thread has one run at a time.
func (d *Decoder) answer() {
	t := d.turn
	if !d.ended || len(t.asks) == 0 || d.goOn == nil {
		return
	}
	all := map[string]raw{}
	for _, a := range t.asks {
		if slices.ContainsFunc(a.answers, func(r raw) bool { return r == nil }) {
			return
		}
		all[a.id] = a.value()
	}
	var command raw
	switch first := t.asks[0]; {
	case first.form == pause:
	case len(t.asks) == 1:
		command = agentkit.Encode(map[string]raw{"resume": first.value()})
	default:
		command = agentkit.Encode(map[string]any{"resume": all})
	}
	call := d.goOn(command)
	call.By = d.by
	d.do(agent.Send{Data: call.JSON()})
}

// value is the answer to an interrupt.
func (a *ask) value() raw {
	switch a.form {
	case decisions:
		return agentkit.Encode(map[string]any{"decisions": a.answers})
	case inbox:
		return agentkit.Encode(a.answers)
	case freeForm, pause:
	}
	return a.answers[0]
}
