package agentops

import (
	"slices"

	wire "github.com/tributary-dev/tributary/agentops"
)

// askers says of the messages of a history whose prompt they are the answer to. Today a
// prompt is shown when it is the next, so that it is the one before. In February it is
// shown at once: the answers come in the order of the prompts.
type askers struct {
	d     *Decoder
	asked []asker         // those whose answer may come, in order
	waits map[string]bool // prompts that were not given to the agent yet
}

type asker struct {
	id, channel string
	answered    bool // a message of its answer has come
}

// waitingOf are the last prompts of a history, of which so many wait.
func waitingOf(messages []wire.Message, waiting int) map[string]bool {
	waits := map[string]bool{}
	for _, m := range slices.Backward(messages) {
		if m.Role == wire.RoleUser && len(waits) < waiting {
			waits[m.ID] = true
		}
	}
	return waits
}

// asks takes a prompt.
func (a *askers) asks(id, channel string) {
	if a.waits[id] {
		return
	}
	if a.d.era == wire.Head {
		a.asked = a.asked[:0]
	}
	a.asked = append(a.asked, asker{id: id, channel: channel})
}

// of finds the prompt that a message is the answer to, or nil: nobody's that is open here.
func (a *askers) of(m wire.Message, channel string) *prompt {
	for _, p := range a.d.prompts {
		if slices.Contains(p.native, m.ID) {
			return p
		}
	}
	i := slices.IndexFunc(a.asked, func(w asker) bool { return w.channel == channel })
	if i < 0 {
		return nil
	}
	// One whose answer has no end may have another: another model took over. But if
	// somebody asked after it, it was stopped.
	if next := slices.IndexFunc(a.asked[i+1:], func(w asker) bool { return w.channel == channel }); a.asked[i].answered && next >= 0 {
		i += 1 + next
	}
	a.asked = a.asked[i:]
	a.asked[0].answered = true
	id := a.asked[0].id
	if slices.ContainsFunc(m.Parts, func(p wire.Part) bool { return p.Type == wire.PartFinish }) {
		a.asked = a.asked[1:]
	}
	return a.d.byID(id)
}
