package langgraph

import "github.com/tributary-dev/tributary/trace"

// leftTurn is the note of a turn that an earlier process left open.
type leftTurn struct {
	// Name is the agent's newest name on record: what came before is not written again.
	Name string `json:"name"`
	// Parts are the parts on record since then, and Done the calls with a result.
	Parts   []string `json:"parts"`
	Done    []string `json:"done"`
	Waiting []string `json:"waiting"`
	Run     string   `json:"run"`
	// State are the interrupts of a graph that waits, and the messages of its state.
	State *stateForm `json:"state,omitempty"`
}

// stateForm is the state of a thread.
type stateForm struct {
	Values raw      `json:"values"`
	Next   []string `json:"next"`
	Tasks  []struct {
		Interrupts []interrupt `json:"interrupts"`
	} `json:"tasks"`
}

func (s stateForm) interrupts() (all []interrupt) {
	for _, t := range s.Tasks {
		all = append(all, t.Interrupts...)
	}
	return all
}

// reattached takes up a turn that an earlier process left open.
func (d *Decoder) reattached(left leftTurn) {
	b := d.t.Prompted(trace.Prompt{})
	if b == nil {
		return
	}
	d.enter(b, "")
	t := d.turn
	t.skip, t.begun, d.waiting = left.Name, left.Parts, left.Waiting
	for _, id := range left.Done {
		t.finished[id] = true
	}
	if left.State == nil {
		return
	}
	t.skip, t.begun, d.run, d.ended = "", nil, left.Run, true
	t.remember(d.messages(left.State.Values))
	found := left.State.interrupts()
	if found == nil {
		found = []interrupt{}
	}
	d.interrupted(found)
}
