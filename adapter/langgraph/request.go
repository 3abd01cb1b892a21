package langgraph

import (
	"net/http"
	"slices"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/agent/remote"
	"github.com/tributary-dev/tributary/trace"
)

// Request implements remote.Asker. The only note is that a turn is taken up.
func (d *Decoder) Request(c remote.Call, t agent.Turns) ([]agent.Effect, error) {
	d.t, d.effects = t, nil
	d.settle()
	switch {
	case c.Method == "":
		d.reattached()
	case !c.Stream || c.Method == http.MethodGet && !d.ends: // a stream that goes on
	case d.Continues():
		d.resumed()
	default:
		d.prompted(c.Body)
	}
	return d.effects, nil
}

// prompted begins the turn of a prompt.
func (d *Decoder) prompted(body raw) {
	prompt := ""
	for _, m := range d.messages(objectOf(body)["input"]) {
		prompt = m.full(words)
	}
	if prompt == "" {
		prompt = string(trace.CompactJSON(body))
	}
	b := d.t.Prompted(trace.Prompt{Message: trace.UserMessage{ID: "prompt", Parts: []trace.InputPart{{Type: trace.InputText, Text: prompt}}}})
	if b == nil {
		d.turn, d.over = nil, true
		return
	}
	d.enter(b, prompt)
	if d.notice != nil {
		b.Emit(*d.notice)
		d.notice = nil
	}
}

// resumed begins the next run of an interrupted turn.
func (d *Decoder) resumed() {
	d.turn.requests, d.at.run, d.interrupts = nil, "", map[string]string{}
	d.server.values, d.server.status, d.events = false, "", newEvents()
}

// outcomes are the ends of a run, by its status: the reason of the turn's end, and the sentence
// of a failure.
var outcomes = map[string][2]string{ //nolint:gochecknoglobals // never written
	"success": {}, "interrupted": {"stopped"}, "rollback": {"stopped"},
	"error":   {"failed", "The graph failed, and the server does not say why."},
	"timeout": {"failed", "The run took longer than the server allows."},
}

// answered takes the answer to a request that is no stream: a run, a thread, or the state behind
// the end of a run.
func (d *Decoder) answered(data raw) {
	o := objectOf(data)
	switch thread, run := o.text("thread_id"), o.text("run_id"); {
	case run != "":
		if run == d.at.run {
			d.server.status = o.text("status")
		}
	case thread != "":
		if thread != d.at.thread {
			d.at.thread = thread
			d.do(agent.Resume{Token: thread})
		}
	default:
		d.settled(o)
	}
}

// settled takes the state of the thread. Behind the end of the run, the state ends the turn.
func (d *Decoder) settled(state object) {
	if point := state.in("checkpoint").text("checkpoint_id"); point != "" {
		d.do(agent.Resume{Token: agentkit.Bookmark{Conversation: d.at.thread, Moment: point}.Token()})
	}
	if how, over := outcomes[d.server.status]; over && d.turn != nil && !d.waitsFor() {
		d.turn.complete(d.messages(state["values"]), d.server.status == "success")
		d.end(how[0], how[1])
	}
}

// complete takes the messages of the state at the end of the run: a stream may have ended before
// its last events. Behind the prompt, the state of a run that went well has the messages of the
// turn. Their places are not in the state, so the user sees no unknown message if places are hidden.
func (t *turn) complete(state []message, well bool) {
	from := source{known: true}
	for i, m := range slices.Backward(state) {
		if well && m.role == human && t.prompt != "" && m.full(words) == t.prompt {
			state, from.known = state[i+1:], len(t.o.Hide) > 0 || t.o.Subgraphs == "hide"
			break
		}
	}
	t.wholes(state, from)
}
