package langgraph

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/remote"
	"github.com/tributary-dev/tributary/trace"
)

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
	State object `json:"state,omitempty"`
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
	t.skip, t.begun, d.at.run, d.ended = "", nil, left.Run, true
	t.remember(d.messages(left.State["values"]))
	var found []interrupt
	for _, task := range list[object](left.State["tasks"]) {
		found = append(found, list[interrupt](task["interrupts"])...)
	}
	switch {
	case found != nil:
		d.interrupted(found)
	case len(list[raw](left.State["next"])) > 0:
		d.interrupted([]interrupt{})
	default:
		d.end("failed", "The graph does not wait any more: it was answered on the server while the gateway was away.")
	}
}

// Reattach implements remote.Reattacher. The last run is read again from its beginning, and
// what is on record is dropped. A graph that waits for a person is asked for its state.
func (p *protocol) Reattach(ctx context.Context, left agent.Left) (*remote.Call, error) {
	if p.s.Config().Resume == "" {
		return nil, errors.New("the gateway was restarted before the run had begun: send the prompt again")
	}
	note := leftTurn{Parts: left.Parts, Done: left.Done, Waiting: left.Waiting}
	for _, name := range left.Native {
		note.Name = name
		if run, ok := strings.CutPrefix(name, runName); ok {
			note.Run = run
		}
	}
	by := ""
	p.from = "" // the thread is where the turn is
	if left.Prompt != nil {
		by = left.Prompt.By
		p.s.Do(func() { p.at.prompt = left.Prompt.Message.ID })
	}
	at := p.status(p.s).at
	newest, err := p.newest(ctx, at, by)
	switch {
	case err != nil && note.Run == "":
		return nil, err
	case err == nil && newest != note.Run: // of which nothing is on record
		note.Run, note.Name, note.Parts = newest, "", nil
	}
	at.run = note.Run
	var run object
	err = p.s.Fetch(ctx, at.get(by, "runs", at.run), &run)
	if remote.Refused(err, http.StatusNotFound) {
		return nil, fmt.Errorf("the server does not know the run %s any more: send the prompt again", at.run)
	}
	if err != nil {
		return nil, err
	}
	if status := run.text("status"); len(left.Waiting) > 0 && status != "pending" && status != "running" {
		if err := p.s.Fetch(ctx, at.get(by, "state"), &note.State); err != nil {
			return nil, err
		}
	}
	if err := p.s.Sent(agent.Message{Dir: agent.In, Data: remote.Note(map[string]any{"left": note})}); err != nil { //nolint:contextcheck // effects end with the session
		return nil, err
	}
	if note.State != nil {
		return nil, nil //nolint:nilnil // the turn waits
	}
	return at.join(by, ""), nil
}
