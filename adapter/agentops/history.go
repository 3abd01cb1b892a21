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

// greeting takes the first frame of a connection. Frames may be missing before a later one.
func (d *Decoder) greeting(f wire.Init, t agent.Turns) {
	first := !d.greeted && len(d.prompts) == 0
	d.greeted, d.asleep, d.presence = true, asleep(f.Session.Status), present
	if f.Session.Messages == nil {
		f.Session.Messages = d.backlog
	}
	d.backlog = nil
	if f.Data.RunnerConnected != nil && !*f.Data.RunnerConnected {
		d.runner(left)
	}
	if f.Data.PendingPrompt != nil {
		if p := d.queuedPrompt(*f.Data.PendingPrompt); p != nil {
			p.on(waits)
		}
	}
	if first {
		d.unseen = f.Data.RunnerBusy && len(d.runs) == 0
		return
	}
	d.missed()
	d.history(f.Session.Messages, t)
	at := newSnapshot(f)
	d.compare(at, t)
	if at.busy {
		d.redispatched() // as far as is known: it may have been told before
		return
	}
	for _, r := range slices.Clone(d.runs) {
		// The session agent that was started anew has given the prompt to the runner once
		// more, and takes the runner's word that it is at work for the end. A run goes on
		// while one of its tools has no result, or if more comes within a moment.
		mayGoOn := at.mayWork && r.course != stopping && r.verdict == nil
		switch {
		case at.waits(r.prompt):
			d.goesOn(r) // it lost its runner, and the next one is given it once more
		case r.turn != nil && mayGoOn:
			r.doubts(saidAtRest)
		case r.course != idling && mayGoOn: // its answer is still to come
		case at.known:
			d.cut(r)
		default:
			r.doubts(lostEnd) // its end may still be told
		}
	}
}

// missed holds the texts of runs until the next whole message: no history has the end of the
// text that is being written.
func (d *Decoder) missed() {
	for _, r := range d.runs {
		if r.turn != nil {
			r.turn.away = true
		}
	}
}

// openBeside reports whether a turn is open that is not the prompt's.
func (d *Decoder) openBeside(id string) bool {
	return slices.ContainsFunc(d.runs, func(r *run) bool { return r.prompt == nil || r.prompt.id != id }) ||
		slices.ContainsFunc(d.prompts, func(p *prompt) bool { return p.b != nil && p.id != id })
}

// history compares the open turns with the messages of the session. The server shows a prompt
// when its turn begins, so an answer is that of the prompt before it.
func (d *Decoder) history(messages []wire.Message, t agent.Turns) {
	channel, asked, news := "", "", d.newsIn(messages)
	for i, m := range messages {
		at := channelOf(m.Channel, m.ThreadID)
		switch m.Role {
		case wire.RoleUser:
			if back := d.promptFrom(m); i >= news && len(m.ID) <= longestID {
				d.mine(back)
			}
			channel, asked = at, m.ID
		case wire.RoleAssistant:
			tn, known := d.turns[m.ID]
			var p *prompt
			if at == channel {
				p = d.byID(asked)
			}
			if i := slices.IndexFunc(d.prompts, func(p *prompt) bool { return slices.Contains(p.native, m.ID) }); i >= 0 {
				p = d.prompts[i]
			}
			if !known && p != nil && p.phase <= running {
				tn = d.answer(p, m, at, t)
			}
			if tn != nil {
				away := tn.away
				d.reconcile(tn, m, true)
				tn.away = away // the message may be older than the newest chunks
			}
		}
	}
}

// newsIn is the place in a history behind the last user's message that is known. An earlier
// message is no prompt that was sent since, whatever its text.
func (d *Decoder) newsIn(messages []wire.Message) int {
	for i, m := range slices.Backward(messages) {
		_, past := d.turns[m.ID]
		if m.Role == wire.RoleUser && (past || m.ID == d.before || d.byID(m.ID) != nil) {
			return i + 1
		}
	}
	return 0
}

// answer begins the turn of a message in the run of a prompt.
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

// repeats says which texts of a turn that is taken up again a message repeats: the Builder knows
// them by numbers, in the order in which they began.
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

// snapshot is the state of the session in a greeting.
type snapshot struct {
	busy    bool
	known   bool           // the messages are known
	mayWork bool           // there may be a runner at work that is said to be at rest
	pending string         // the id of the prompt that waits
	order   map[string]int // the users' messages, by id
	newest  int            // the place of the newest, on which a busy agent works
}

func newSnapshot(f wire.Init) snapshot {
	at := snapshot{busy: f.Data.RunnerBusy, known: f.Session.Messages != nil, order: map[string]int{}}
	at.mayWork = len(f.Session.Messages) > 0 && f.Data.RunnerConnected != nil && *f.Data.RunnerConnected
	if f.Data.PendingPrompt != nil {
		at.pending = f.Data.PendingPrompt.MessageID
	}
	for _, m := range f.Session.Messages {
		if m.Role == wire.RoleUser {
			at.order[m.ID] = len(at.order)
		}
	}
	at.newest = len(at.order) - 1
	return at
}

func (s snapshot) waits(p *prompt) bool { return p != nil && p.id != "" && p.id == s.pending }

func (s snapshot) of(p *prompt) (place int, shown bool) {
	if p == nil || p.id == "" {
		return 0, false
	}
	place, shown = s.order[p.id]
	return place, shown
}

// compare brings prompts that have not begun, and runs whose end was missed, to the state of the
// session.
func (d *Decoder) compare(at snapshot, t agent.Turns) {
	for _, r := range slices.Clone(d.runs) {
		if i, shown := at.of(r.prompt); shown && at.busy && i < at.newest {
			d.cut(r) // the agent works on another prompt
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
		case !at.known:
		case !shown && p.left:
			p.on(ends)
			d.drop(p)
			notFound(p.b, "The gateway was restarted while this turn ran, and Agent Ops does not know its prompt: send it again if it still matters.")
		case !shown:
			if p.phase == queued {
				d.withdraw(p)
			}
		case at.busy && i == at.newest:
			d.superseded()
			d.give(p)
		case p.phase == given && i == at.newest && at.mayWork: // its answer is still to come
		default:
			d.failPrompt(p, lost(streamInterrupted), t)
		}
	}
	d.unseen = at.busy && len(d.runs) == 0 && !slices.ContainsFunc(d.prompts, func(p *prompt) bool { return p.phase == given })
}

// rest takes a call by HTTP from a recording: a prompt, a stop, or a history.
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
		if in.Content != "" || len(in.Attachments) > 0 {
			d.sent(in.Prompt, t)
		} else if in.Interrupt {
			d.abort()
		}
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

// failPrompt ends a prompt that has no run.
func (d *Decoder) failPrompt(p *prompt, stop trace.Stop, t agent.Turns) {
	if r := d.begin(p, p.channel, t); r != nil {
		d.end(r, stop)
	}
}
