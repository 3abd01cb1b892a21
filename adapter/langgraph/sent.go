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

// order is the body of a request to a server, or of a note.
type order struct {
	Input   raw      `json:"input"`
	Command raw      `json:"command"`
	Modes   []string `json:"stream_mode"`
	note
	Left *leftTurn `json:"left"`
}

// sent takes a request to the server, or a note.
func (d *Decoder) sent(data raw) {
	c, err := remote.ParseCall(data)
	if err != nil {
		d.err = err
		return
	}
	var o order
	read(c.Body, &o)
	switch {
	case o.Left != nil:
		d.reattached(*o.Left)
	case c.Method == "" && o.Interrupt != "":
		d.noted(o.note)
	case strings.HasSuffix(c.Path, "/cancel"):
		if d.waitsFor() && d.ended { // no run is there that would end
			d.end("stopped", "")
		}
	case !c.Stream || c.Method == http.MethodGet && !d.ends: // a stream that goes on
	case d.waitsFor():
		d.resumed()
	default:
		d.prompted(o, c.Body)
	}
}

// prompted begins the turn of a prompt.
func (d *Decoder) prompted(o order, body raw) {
	prompt := ""
	for _, m := range d.messages(o.Input) {
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
	d.interrupts, d.ended = map[string]string{}, false
	d.server.values, d.events = false, newEvents()
}

// answered takes the answer to a request that is no stream: a thread, its state, or a run.
func (d *Decoder) answered(data raw) {
	var f struct {
		Thread string `json:"thread_id"`
		Run    string `json:"run_id"`
		Status string `json:"status"`
		Point  struct {
			ID string `json:"checkpoint_id"`
		} `json:"checkpoint"`
	}
	if err := json.Unmarshal(data, &f); err != nil {
		d.strange(remote.Answer, data)
	}
	if f.Thread != "" && f.Run == "" && f.Thread != d.at.thread {
		d.at.thread = f.Thread
		d.do(agent.Resume{Token: f.Thread})
	}
	if f.Point.ID != "" {
		d.do(agent.Resume{Token: agentkit.Bookmark{Conversation: d.at.thread, Moment: f.Point.ID}.Token()})
	}
	if f.Run == "" || f.Run != d.at.run || d.turn == nil || d.over || d.waitsFor() {
		return
	}
	if how, ok := map[string][2]string{
		"success": {}, "interrupted": {"stopped"},
		"error":   {"failed", "The graph failed, and the server does not say why."},
		"timeout": {"failed", "The run took longer than the server allows."},
	}[f.Status]; ok {
		d.end(how[0], how[1])
	}
}
