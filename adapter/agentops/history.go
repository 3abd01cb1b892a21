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
	if f.Session.Messages == nil {
		f.Session.Messages = d.backlog
	}
	d.backlog = nil
	d.hasRunner(data)
	d.asleep = false
	switch f.Session.Status {
	case wire.SessionInitializing, wire.SessionHibernating, wire.SessionHibernated, wire.SessionRestoring:
		d.asleep = true
	}
	if f.Data.PendingPrompt != nil {
		if p := d.waiting(*f.Data.PendingPrompt); p != nil {
			p.on(waits)
		}
	}
	if first && len(d.prompts) == 0 {
		d.unseen = f.Data.RunnerBusy && len(d.runs) == 0
		return
	}
	for _, r := range d.runs {
		if r.turn != nil {
			r.turn.away = true
		}
	}
	d.history(f.Session.Messages, t)
	d.standing(f, t)
	if f.Data.RunnerBusy {
		d.redispatched() // as far as we know: it may have been told before
		return
	}
	for _, r := range slices.Clone(d.runs) {
		switch {
		case f.Data.PendingPrompt != nil && r.prompt != nil && r.prompt.id == f.Data.PendingPrompt.MessageID:
			d.goesOn(r) // it lost its runner, and the next one is given it once more
		case r.turn != nil && d.inDoubt(r, f):
			r.doubts(saidAtRest)
		case r.course != idling && d.inDoubt(r, f): // nothing was told of its answer, which is still to come
		case len(f.Session.Messages) > 0:
			d.cut(r, t)
		default:
			r.doubts(lostEnd) // how it ended may still be told
		}
	}
}

// inDoubt reports whether a run may go on though the agent is said to be at rest, and no
// end of it was told: today's session agent that was started anew has given the prompt to
// the runner once more, and takes the runner's word that it is at it for the end. While
// one of its tools has no result it goes on; else so does what says more within a moment.
func (d *Decoder) inDoubt(r *run, f wire.Init) bool {
	return d.mayBeAtIt(f) && r.course != stopping && r.verdict == nil
}

// mayBeAtIt reports whether there may be somebody at work who is said to be at rest.
func (d *Decoder) mayBeAtIt(f wire.Init) bool {
	return f.Data.RunnerConnected && len(f.Session.Messages) > 0
}

// hasRunner reads from a first frame whether there is a runner: it may not say.
func (d *Decoder) hasRunner(greeting json.RawMessage) {
	var f struct {
		Data map[string]json.RawMessage `json:"data"`
	}
	if json.Unmarshal(greeting, &f) != nil {
		return
	}
	if d.presence = present; string(f.Data["runnerConnected"]) == "false" {
		d.runner(left)
	}
}

// history compares what is open with the messages of the session. A prompt is shown when
// it is the next, so that an answer is that of the prompt before it.
func (d *Decoder) history(messages []wire.Message, t agent.Turns) {
	asked := map[string]string{} // the last prompt of each channel
	news := d.newsIn(messages)
	for i, m := range messages {
		channel := m.Channel.Name(m.ThreadID)
		switch m.Role {
		case wire.RoleUser:
			if i >= news {
				d.own(m)
			}
			clear(asked)
			asked[channel] = m.ID
		case wire.RoleAssistant:
			tn, known := d.turns[m.ID]
			p := d.asker(m.ID, asked[channel])
			if !known && p != nil && p.phase <= running {
				tn = d.answer(p, m, channel, t)
			}
			if tn != nil {
				away := tn.away
				d.reconcile(tn, m, true)
				tn.away = away // it may be older than what was said since
			}
		}
	}
}

// newsIn is where in a history the users' messages begin that were missed: after the last
// that is known. An earlier one is none that was sent since, whatever it says.
func (d *Decoder) newsIn(messages []wire.Message) int {
	for i, m := range slices.Backward(messages) {
		_, past := d.turns[m.ID]
		if m.Role == wire.RoleUser && (past || m.ID == d.before || d.byID(m.ID) != nil) {
			return i + 1
		}
	}
	return 0
}

// answer finds the turn of a message in the run of a prompt, or begins it.
func (d *Decoder) answer(p *prompt, m wire.Message, channel string, t agent.Turns) *turn {
	if len(m.ID) > longestID {
		return nil
	}
	p.channel = channel
	r := d.ofPrompt(p)
	if r == nil {
		p.on(shown)
		r = d.begin(p, channel, t)
	}
	if r == nil {
		return nil
	}
	p.repeats(m)
	return d.add(m.ID, r)
}

// asker finds the prompt that a message is the answer to, or nil: one that is not open here.
func (d *Decoder) asker(id, asked string) *prompt {
	for _, p := range d.prompts {
		if slices.Contains(p.native, id) {
			return p
		}
	}
	return d.byID(asked)
}

// repeats tells a turn that is taken up again which of its texts a message says anew:
// the Builder knows them under numbers, in the order of their beginnings.
func (p *prompt) repeats(m wire.Message) {
	if !slices.Contains(p.native, m.ID) {
		return
	}
	known := len(texts(m.Parts))
	for i := range known + 1 { // one more may have begun that no message has yet
		p.b.MessageRepeats(fmt.Sprintf("%s/%d", m.ID, i), fmt.Sprintf("text-%d", p.texts+i+1))
	}
	p.texts += known
}

// own finds the prompt of ours whose message was missed.
func (d *Decoder) own(m wire.Message) *prompt {
	if len(m.ID) > longestID {
		return nil
	}
	return d.mine(&prompt{id: m.ID, content: string(m.Content), channel: m.Channel.Name(m.ThreadID), author: m.AuthorID})
}

// standing says what became of the prompts that have not begun, and of runs whose end was
// missed, by how the session stands when it is heard of again.
func (d *Decoder) standing(f wire.Init, t agent.Turns) {
	at := snapshot{busy: f.Data.RunnerBusy, pending: f.Data.PendingPrompt, order: map[string]int{}}
	for _, m := range f.Session.Messages {
		if m.Role == wire.RoleUser {
			at.order[m.ID] = len(at.order)
		}
	}
	at.works = len(at.order) - 1
	for _, r := range slices.Clone(d.runs) {
		if i, shown := at.of(r.prompt); shown && at.busy && i < at.works {
			d.cut(r, t) // it has something else to do
		}
	}
	for _, p := range slices.Clone(d.prompts) {
		if p.phase > given {
			continue
		}
		i, shown := at.of(p)
		switch {
		case !p.own && p.b == nil:
			if p.phase == given || !at.busy {
				d.drop(p)
			}
		case at.waits(p):
			p.on(waits)
		case f.Session.Messages == nil:
		case !shown && p.left:
			d.lost(p)
		case !shown:
			if p.phase == queued {
				d.withdraw(p)
			}
		case at.busy && i == at.works:
			d.superseded(t)
			d.give(p)
		case p.phase == given && i == at.works && d.mayBeAtIt(f): // its answer is still to come
		default:
			d.failPrompt(p, interruptedStop(), t)
		}
	}
	d.unseen = at.busy && len(d.runs) == 0 && !slices.ContainsFunc(d.prompts, func(p *prompt) bool { return p.phase == given })
}

// snapshot is how the session stands when it is heard of again.
type snapshot struct {
	busy    bool
	pending *wire.PendingPrompt
	order   map[string]int // the users' messages, by id
	works   int            // the place of the one that the agent works on, if it is busy
}

func (s snapshot) of(p *prompt) (place int, shown bool) {
	if p == nil || p.id == "" {
		return 0, false
	}
	place, shown = s.order[p.id]
	return place, shown
}

// waits reports whether a prompt waits there.
func (s snapshot) waits(p *prompt) bool {
	return s.pending != nil && s.pending.MessageID == p.id && p.id != ""
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
