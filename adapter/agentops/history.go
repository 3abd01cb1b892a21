package agentops

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/tributary-dev/tributary/adapter/agentops/wire"
	"github.com/tributary-dev/tributary/agent"
)

// greeting takes the first frame of a connection. Frames may be missing before a later one.
func (d *Decoder) greeting(f wire.Init, to agent.Turns) {
	first := !d.greeted && len(d.turns) == 0
	d.greeted, d.asleep, d.runnerState = true, asleep(f.Session.Status), present
	if f.Session.Messages == nil {
		f.Session.Messages = d.backlog
	}
	d.backlog = nil
	if f.Data.RunnerConnected != nil && !*f.Data.RunnerConnected {
		d.runner(left)
	}
	if f.Data.PendingPrompt != nil {
		if t := d.queuedPrompt(*f.Data.PendingPrompt); t != nil {
			t.on(waits)
		}
	}
	if first {
		d.unseen = f.Data.RunnerBusy && d.idle()
		return
	}
	d.missed()
	d.history(f.Session.Messages, to)
	at := newSnapshot(f)
	d.compare(at, to)
	if at.busy {
		d.redispatched() // as far as is known: it may have been told before
		return
	}
	for _, t := range slices.Collect(d.running()) {
		// After a restart, the session agent gives the runner its prompt again, and mistakes
		// the runner's receipt for the end. A turn goes on while one of its tools has no
		// result, or if more comes within a moment.
		mayGoOn := at.mayWork && t.course != stopping && t.verdict == nil
		switch {
		case at.waits(t):
			t.markResumed() // it lost its runner, and the next one is given it once more
		case t.message != nil && mayGoOn:
			t.endingOn(saidAtRest)
		case t.course != idling && mayGoOn: // its answer is still to come
		case at.known:
			d.cut(t)
		default:
			t.endingOn(lostEnd) // its end may still be told
		}
	}
}

// history compares the open turns with the messages of the session. The server shows a prompt
// when its turn begins, so an answer is that of the prompt before it.
func (d *Decoder) history(messages []wire.Message, to agent.Turns) {
	channel, asked, news := "", "", d.newsIn(messages)
	for i, m := range messages {
		at := m.Channel.Name(m.ThreadID)
		switch m.Role {
		case wire.RoleUser:
			if back := d.promptFrom(m); i >= news && len(m.ID) <= longestID {
				d.claim(back)
			}
			channel, asked = at, m.ID
		case wire.RoleAssistant:
			mine, known := d.messages[m.ID]
			t := d.first(func(t *turn) bool { return slices.Contains(t.native, m.ID) })
			if t == nil && at == channel {
				t = d.byID(asked)
			}
			if !known && t != nil {
				mine = d.answer(t, m, at, to)
			}
			if mine != nil {
				away := mine.away
				d.reconcile(mine, m, true)
				mine.away = away // the message may be older than the newest chunks
			}
		}
	}
}

// newsIn is the place in a history behind the last user's message that is known. An earlier
// message is no prompt that was sent since, whatever its text.
func (d *Decoder) newsIn(messages []wire.Message) int {
	for i, m := range slices.Backward(messages) {
		_, past := d.messages[m.ID]
		if m.Role == wire.RoleUser && (past || m.ID == d.before || d.byID(m.ID) != nil) {
			return i + 1
		}
	}
	return 0
}

// answer begins a message in the turn of its prompt.
func (d *Decoder) answer(t *turn, m wire.Message, channel string, to agent.Turns) *message {
	if len(m.ID) > longestID {
		return nil
	}
	if !t.runs() {
		t.on(shown)
		t = d.begin(t, channel, to)
	}
	if t == nil {
		return nil
	}
	t.repeats(m)
	return d.add(m.ID, t)
}

// repeats says which texts of a turn that is taken up again a message repeats: the Builder knows
// them by numbers, in the order in which they began.
func (t *turn) repeats(m wire.Message) {
	if !slices.Contains(t.native, m.ID) {
		return
	}
	known := len(texts(m.Parts))
	for i := range known + 1 { // one more may have begun that no message has yet
		t.b.MessageRepeats(fmt.Sprintf("%s/%d", m.ID, i), fmt.Sprintf("text-%d", t.texts+i+1))
	}
	t.texts += known
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

func (s snapshot) waits(t *turn) bool { return t.id != "" && t.id == s.pending }

func (s snapshot) of(t *turn) (place int, shown bool) {
	place, shown = s.order[t.id]
	return place, shown && t.id != ""
}

// compare brings turns that have not begun, and those whose end was missed, to the state of the
// session.
func (d *Decoder) compare(at snapshot, to agent.Turns) {
	for _, t := range slices.Collect(d.running()) {
		if i, shown := at.of(t); shown && at.busy && i < at.newest {
			d.cut(t) // the agent works on another prompt
		}
	}
	for _, t := range slices.Clone(d.turns) {
		i, shown := at.of(t)
		switch {
		case t.phase > given:
		case !t.own && t.b == nil:
			if t.phase == given || !at.busy {
				d.drop(t)
			}
		case at.waits(t):
			t.on(waits)
		case !at.known:
		case !shown && t.left:
			t.on(ends)
			d.drop(t)
			notFound(t.b, "The gateway was restarted while this turn ran, and Agent Ops does not know its prompt: send it again if it still matters.")
		case !shown:
			if t.inQueue() {
				d.withdraw(t)
			}
		case at.busy && i == at.newest:
			d.cutAll(nil)
			d.give(t)
		case t.phase == given && i == at.newest && at.mayWork: // its answer is still to come
		default:
			d.fail(t, lost(streamInterrupted), to)
		}
	}
	d.unseen = at.busy && d.idle() && len(d.in(given)) == 0
}

// recordedCall takes a call by HTTP from a recording: a prompt, a stop, or a history.
func (d *Decoder) recordedCall(data json.RawMessage, to agent.Turns) error {
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
			d.sent(in.Prompt, to)
		} else if in.Interrupt {
			d.abort()
		}
	case call.Method == "GET" && strings.HasSuffix(path, "/messages") && len(d.turns) > 0:
		var out struct {
			Messages []wire.Message `json:"messages"`
		}
		if json.Unmarshal(call.Response, &out) == nil {
			d.history(out.Messages, to)
		}
	}
	return nil
}
