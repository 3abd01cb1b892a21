package langgraph

import (
	"context"
	"errors"
	"strings"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/remote"
	"github.com/tributary-dev/tributary/trace"
)

// earlier is a turn of an earlier process.
type earlier struct {
	agent.OpenTurn
	name  string // the agent's newest name on record: what came before is not written again
	run   string
	state object // of a graph that waits for a person; nil if the run is read again
}

// reattached takes up a turn of an earlier process.
func (d *Decoder) reattached() {
	b := d.t.Prompted(trace.Prompt{})
	if b == nil || d.earlier == nil {
		return
	}
	on := *d.earlier
	d.earlier = nil
	d.enter(b, "")
	t := d.turn
	for _, id := range on.Done {
		t.finished[id] = true
	}
	if on.state == nil {
		if t.skip, t.begun = on.name, on.Parts; on.name != "" {
			t.out = t.nowhere
		}
		return
	}
	d.at.run = on.run
	t.remember(d.messages(on.state["values"]))
	var found []interrupt
	for _, task := range list[object](on.state["tasks"]) {
		found = append(found, list[interrupt](task["interrupts"])...)
	}
	if found == nil && len(list[raw](on.state["next"])) == 0 {
		d.end("failed", "The graph does not wait any more: it was answered on the server while the gateway was away.")
		return
	}
	d.interrupted(found)
}

// Reattach implements remote.Reattacher. The last run is read again from its beginning, and
// what is on record is dropped. A graph that waits for a person is asked for its state.
func (p *protocol) Reattach(ctx context.Context, was agent.OpenTurn) (*remote.Call, error) {
	if p.s.Config().Resume == "" {
		return nil, errors.New("the gateway was restarted before the run had begun: send the prompt again")
	}
	on := earlier{OpenTurn: was}
	for _, name := range was.Native {
		on.name = name
		if run, ok := strings.CutPrefix(name, runName); ok {
			on.run = run
		}
	}
	by := ""
	p.from = "" // the thread is where the turn is
	if was.Prompt != nil {
		by = was.Prompt.By
		p.s.Do(func() { p.at.prompt = was.Prompt.Message.ID })
	}
	at, _ := p.status(p.s)
	run, err := p.newest(ctx, at, by)
	if err != nil {
		return nil, err
	}
	if at.run = run.ID; on.run != run.ID { // of which nothing is on record
		on.run, on.name, on.Parts = run.ID, "", nil
	}
	if len(was.Waiting) > 0 && run.Status != "pending" && run.Status != "running" {
		if err := p.s.Fetch(ctx, at.get(by, "state"), &on.state); err != nil {
			return nil, err
		}
	}
	p.s.Do(func() { p.earlier = &on })
	if err := p.s.Sent(agent.Message{Dir: agent.In, Data: remote.Note("earlier")}); err != nil { //nolint:contextcheck // effects end with the session
		return nil, err
	}
	if on.state != nil {
		return nil, nil //nolint:nilnil // the turn waits
	}
	return at.join(by, ""), nil
}
