package agentops

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/tributary-dev/tributary/agent"
	wire "github.com/tributary-dev/tributary/agentops"
	"github.com/tributary-dev/tributary/trace"
)

// greeting takes the first frame of a socket. If it is not the first socket, some of
// what was said may be missing.
func (d *Decoder) greeting(f wire.Init, data json.RawMessage, t agent.Turns) {
	first := !d.greeted
	d.greeted = true
	d.guess(data)
	switch f.Session.Status {
	case wire.SessionInitializing, wire.SessionHibernating, wire.SessionHibernated, wire.SessionRestoring:
		d.asleep = true
	default:
		d.asleep = false
	}
	if f.Data.PendingPrompt != nil {
		if p := d.waiting(*f.Data.PendingPrompt); p != nil && p.phase == sent {
			p.phase = queued
		}
	}
	if first {
		d.unseen = f.Data.RunnerBusy && len(d.runs) == 0
		return
	}
	for _, r := range d.runs {
		if r.turn != nil && r.turn.text != runner {
			r.turn.away = true
		}
	}
	d.history(f.Session.Messages, t)
	d.standing(f, t)
	if f.Data.RunnerBusy {
		d.onceMore() // as far as we know: it may have been told before
		return
	}
	for _, r := range slices.Clone(d.runs) {
		if len(f.Session.Messages) > 0 {
			d.cut(r, t)
		} else {
			r.gone = true // how it ended may still be told
		}
	}
}

// guess tells the era by what only one of the two has.
func (d *Decoder) guess(greeting json.RawMessage) {
	var f struct {
		Data map[string]json.RawMessage `json:"data"`
	}
	if json.Unmarshal(greeting, &f) != nil {
		return
	}
	if _, ok := f.Data["auditLog"]; ok {
		d.era = wire.Feb
	} else if _, ok := f.Data["pendingPrompt"]; ok {
		d.era = wire.Head
	}
}

// history compares what is open with the messages of the session.
func (d *Decoder) history(messages []wire.Message, t agent.Turns) {
	var mine *prompt
	for _, m := range messages {
		channel := channelOf(m.Channel, m.ThreadID)
		switch m.Role {
		case wire.RoleUser:
			mine = d.byID(m.ID)
			if mine == nil {
				mine = d.own(m)
			}
		case wire.RoleAssistant:
			tn, known := d.turns[m.ID]
			if !known && mine != nil && mine.channel == channel && mine.phase <= running {
				mine.phase = max(mine.phase, given)
				tn = d.create(m.ID, channel, t)
			}
			if tn != nil {
				away := tn.away
				d.heal(tn, m, true)
				tn.away = away // it may be older than what was said since
			}
		}
	}
}

// own finds the prompt of ours whose message was missed.
func (d *Decoder) own(m wire.Message) *prompt {
	if len(m.ID) > longestID {
		return nil
	}
	return d.mine(&prompt{id: m.ID, content: string(m.Content), channel: channelOf(m.Channel, m.ThreadID), author: m.AuthorID})
}

// standing says what became of the prompts that have not begun, by how the session
// stands when it is heard of again.
func (d *Decoder) standing(f wire.Init, t agent.Turns) {
	busy := f.Data.RunnerBusy
	for _, p := range slices.Clone(d.prompts) {
		waits := f.Data.PendingPrompt != nil && f.Data.PendingPrompt.MessageID == p.id || d.era != wire.Head && f.Data.PromptsQueued > 0
		shown := p.id != "" && slices.ContainsFunc(f.Session.Messages, func(m wire.Message) bool { return m.ID == p.id })
		switch {
		case p.phase > given:
		case !p.own:
			if p.phase == given || !busy {
				d.drop(p)
			}
		case waits, f.Session.Messages == nil:
		case !shown:
			if p.phase == queued {
				d.withdraw(p)
			}
		case busy && d.era == wire.Head:
			d.superseded(t)
			d.give(p)
		case busy && len(d.runs) == 0:
			d.give(p)
		case !busy && p.phase == queued && d.era != wire.Head: // February shows them when they are sent
			d.withdraw(p)
		case !busy:
			d.failPrompt(p, interruptedStop(), t)
		}
	}
	d.unseen = busy && len(d.runs) == 0 && !slices.ContainsFunc(d.prompts, func(p *prompt) bool { return p.phase == given })
}

// interruptedStop is the end of a turn whose end nobody saw.
func interruptedStop() trace.Stop {
	return trace.Stop{Reason: "agent_lost", Outcome: trace.OutcomeFailed, Error: streamInterrupted}
}

// rest takes a REST call of a recording: prompts are sent that way too, and what was
// missed is fetched.
func (d *Decoder) rest(data json.RawMessage, t agent.Turns) error {
	var call struct {
		Method   string          `json:"method"`
		Path     string          `json:"path"`
		Status   int             `json:"status"`
		Request  json.RawMessage `json:"request"`
		Response json.RawMessage `json:"response"`
	}
	if err := json.Unmarshal(data, &call); err != nil {
		return fmt.Errorf("agentops: a REST call was skipped: %w", err)
	}
	path, _, _ := strings.Cut(call.Path, "?")
	switch {
	case call.Status >= 300:
	case call.Method == "POST" && (strings.HasSuffix(path, "/prompt") || strings.HasSuffix(path, "/messages")):
		var in struct {
			wire.Prompt
			Interrupt bool `json:"interrupt"`
		}
		if err := json.Unmarshal(call.Request, &in); err != nil {
			return fmt.Errorf("agentops: a prompt by REST was skipped: %w", err)
		}
		d.posted(in.Prompt, in.Interrupt, t)
	case call.Method == "GET" && strings.HasSuffix(path, "/messages") && len(d.runs)+len(d.prompts) > 0:
		var out struct {
			Messages []wire.Message `json:"messages"`
		}
		if json.Unmarshal(call.Response, &out) == nil {
			d.history(out.Messages, t)
		}
	}
	return nil
}

// posted takes a prompt that was sent by REST. One that holds nothing may be a wish to
// stop.
func (d *Decoder) posted(f wire.Prompt, interrupt bool, t agent.Turns) {
	switch {
	case f.Content != "" || len(f.Attachments) > 0:
		d.sent(f, t)
	case interrupt:
		d.abort()
	}
}
