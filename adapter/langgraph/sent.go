package langgraph

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/agent/remote"
	"github.com/tributary-dev/tributary/trace"
)

// sent takes a request to the server, or a note.
func (d *Decoder) sent(data raw) {
	c, err := remote.ParseCall(data)
	if err != nil {
		d.err = err
		return
	}
	var about struct {
		note
		Left *leftTurn `json:"left"`
	}
	if c.Method == "" {
		_ = json.Unmarshal(c.Body, &about) // written by this package
	}
	switch {
	case about.Left != nil:
		d.reattached(*about.Left)
	case c.Method == "":
		d.noted(about.note)
	case strings.HasSuffix(c.Path, "/cancel"):
		if d.waitsFor() && d.ended { // no run is there that would end
			d.end("stopped", "")
		}
	case !c.Stream || c.Method == http.MethodGet && !d.ends: // a stream that goes on
	case d.waitsFor():
		d.resumed()
	default:
		d.prompted(c.Body)
	}
}

// prompted begins the turn of a prompt.
func (d *Decoder) prompted(body raw) {
	prompt := ""
	for _, m := range d.messages(objectOf(body)["input"]) {
		prompt = m.said(words)
	}
	if prompt == "" {
		prompt = string(trace.Opaque(body))
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
	d.turn.asks, d.waiting, d.at.run = nil, nil, ""
	d.interrupts, d.ended, d.closed = map[string]string{}, false, false
	d.server.values, d.events = false, newEvents()
}

// answered takes the answer to a request that is no stream: a thread, its state, or a run.
func (d *Decoder) answered(data raw) {
	o := objectOf(data)
	thread, run := o.text("thread_id"), o.text("run_id")
	if thread != "" && run == "" && thread != d.at.thread {
		d.at.thread = thread
		d.do(agent.Resume{Token: thread})
	}
	if point := o.in("checkpoint").text("checkpoint_id"); point != "" {
		d.do(agent.Resume{Token: agentkit.Bookmark{Conversation: d.at.thread, Moment: point}.Token()})
	}
	if run == "" || run != d.at.run || d.turn == nil || d.waitsFor() {
		return
	}
	if how, ok := map[string][2]string{
		"success": {}, "interrupted": {"stopped"},
		"error":   {"failed", "The graph failed, and the server does not say why."},
		"timeout": {"failed", "The run took longer than the server allows."},
	}[o.text("status")]; ok {
		d.end(how[0], how[1])
	}
}
