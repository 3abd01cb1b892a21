package opencode

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/toolkind"
	"github.com/tributary-dev/tributary/trace"
)

// Options of a Decoder.
type Options struct {
	// Tools says what the tools do; toolkind.OpenCode() if zero.
	Tools *toolkind.Table
}

// Decoder reads one session of a server: requests, answers and events.
type Decoder struct {
	tools    toolkind.Table
	session  string
	title    string
	newest   string            // the newest message of the session
	seen     map[string]bool   // messages of earlier turns
	children map[string]string // sub-agents' sessions, and the calls that started them
	foreign  foreign
	prompts  int // so far, for ids
	turn     *turn
	effects  []agent.Effect
}

// foreign is a prompt that another client has sent to the session.
type foreign struct{ id, text string }

var _ agent.Decoder = (*Decoder)(nil)

// NewDecoder returns a Decoder for one session.
func NewDecoder(o Options) *Decoder {
	tools := toolkind.OpenCode()
	if o.Tools != nil {
		tools = *o.Tools
	}
	return &Decoder{tools: tools, seen: map[string]bool{}, children: map[string]string{}}
}

// Decode implements agent.Decoder.
func (d *Decoder) Decode(m agent.Message, t agent.Turns) ([]agent.Effect, error) {
	d.effects = nil
	var err error
	switch {
	case m.Dir == agent.Err:
		return nil, nil
	case m.Dir == agent.In, m.Channel == agentkit.Answers:
		var c agentkit.Call
		if err = json.Unmarshal(m.Data, &c); err == nil && m.Dir == agent.In {
			err = d.sent(c, t)
		} else if err == nil {
			err = d.answered(c, t)
		}
	default:
		var e event
		if err = json.Unmarshal(m.Data, &e); err == nil {
			err = d.event(e, t)
		}
	}
	d.settle()
	if err != nil {
		err = fmt.Errorf("opencode: a message that is not of its protocol was skipped: %w", err)
	}
	return d.effects, err
}

// Running reports whether a turn of this Decoder runs.
func (d *Decoder) Running() bool { return d.turn != nil && !d.turn.b.Over() }

// words splits a path.
func words(path string) []string { return strings.Split(strings.Trim(path, "/"), "/") }

// sent takes a request to the server.
func (d *Decoder) sent(c agentkit.Call, t agent.Turns) error {
	w := words(c.Path)
	if c.Method != "POST" || len(w) < 3 {
		return nil
	}
	switch {
	case w[0] == "session" && (w[2] == "prompt_async" || w[2] == "message"):
		return d.prompt(w[1], c.Body, t)
	case w[0] == "session" && w[1] == d.session && w[2] == "abort" && d.turn != nil:
		d.turn.aborted = true
	case w[0] == "permission":
		var reply permissionReply
		if err := json.Unmarshal(c.Body, &reply); err != nil {
			return err
		}
		d.replied(w[1], reply, "user")
	case w[0] == "question":
		var reply properties
		if w[2] == "reply" {
			if err := json.Unmarshal(c.Body, &reply); err != nil {
				return err
			}
		}
		d.questioned(w[1], reply.Answers, "user")
	}
	return nil
}

// answered takes an answer of the server. Lists are what an event stream may have lost.
func (d *Decoder) answered(c agentkit.Call, t agent.Turns) error {
	w := words(c.Path)
	switch {
	case c.Status >= 300:
		return nil
	case c.Path == "/session/status":
		var all map[string]status
		if err := json.Unmarshal(c.Body, &all); err != nil {
			return err
		}
		if s := all[d.session]; d.turn != nil && (s.Type == "" || s.Type == "idle") {
			d.turn.idle = true
		}
	case c.Path == "/permission", c.Path == "/question":
		var all []request
		if err := json.Unmarshal(c.Body, &all); err != nil {
			return err
		}
		d.pending(all, w[0])
	case len(w) == 3 && w[0] == "session" && w[2] == "message":
		return d.history(w[1], c.Body, t)
	case w[0] == "session" && len(w) < 3:
		var i info
		if err := json.Unmarshal(c.Body, &i); err != nil {
			return err
		}
		d.known(i, t)
	}
	return nil
}

// history takes the messages of the session, or the one that answers a prompt.
func (d *Decoder) history(session string, body raw, t agent.Turns) error {
	var all []entry
	if err := json.Unmarshal(body, &all); err != nil {
		var one entry
		if json.Unmarshal(body, &one) != nil {
			return err
		}
		all = []entry{one}
		defer func() { // the answer to a prompt: the server has done its work
			if d.turn != nil {
				d.turn.idle = true
			}
		}()
	}
	if session != d.session && d.session != "" {
		return nil
	}
	for _, e := range all {
		if d.turn == nil || d.turn.b.Over() {
			d.seen[e.Info.ID] = true // it was said before our time
			d.newest = e.Info.ID
			continue
		}
		e.Info.SessionID = d.session
		begun := e.Info
		begun.Time.Completed, begun.Error = 0, nil
		d.message(begun, t)
		for _, p := range e.Parts {
			m := d.turn.messages[p.MessageID]
			missed := m != nil && m.types[p.ID] == ""
			if d.part(p); missed {
				m.deaf[p.ID] = true
			}
		}
		d.message(e.Info, t)
	}
	return nil
}

// event takes an event of the stream, if it is of this session or a sub-agent's.
func (d *Decoder) event(e event, t agent.Turns) error {
	kind, name, _ := strings.Cut(e.Type, ".")
	if e.Type == "server.connected" {
		d.gap()
	}
	if kind == "server" || kind == "file" || len(e.Properties) == 0 {
		return nil
	}
	var p properties
	if e.Type != "permission.asked" && e.Type != "question.asked" {
		if err := json.Unmarshal(e.Properties, &p); err != nil {
			return err
		}
	}
	if kind == "session" && (name == "created" || name == "updated") {
		d.known(p.Info, t)
		return nil
	}
	if name == "asked" {
		var r request
		if err := json.Unmarshal(e.Properties, &r); err != nil {
			return err
		}
		d.asked(r)
		return nil
	}
	if p.SessionID == "" {
		p.SessionID = p.Info.SessionID + p.Part.SessionID // older servers name the session there only
	}
	if d.session == "" && kind == "message" && p.Info.Role == "user" {
		d.session = p.SessionID // a stream without requests
	}
	if _, child := d.children[p.SessionID]; p.SessionID != d.session && !child {
		return nil
	}
	switch e.Type {
	case "message.updated":
		p.Info.SessionID = p.SessionID
		d.message(p.Info, t)
	case "message.part.updated":
		d.part(p.Part)
	case "message.part.delta":
		d.delta(p)
	case "permission.replied":
		d.replied(p.RequestID, permissionReply{Reply: p.Reply}, "opencode")
	case "question.replied", "question.rejected":
		d.questioned(p.RequestID, p.Answers, "opencode")
	case "todo.updated":
		d.plan(p)
	case "session.compacted":
		d.emit(trace.Error{Code: "compacted", Message: "OpenCode has summed up the conversation to make room."})
	case "session.diff":
		d.diff(p)
	case "session.status", "session.idle", "session.error":
		d.status(name, p)
	}
	return nil
}

// known takes what is said of a session.
func (d *Decoder) known(i info, t agent.Turns) {
	switch {
	case i.ID == "":
		return
	case i.ParentID != "":
		_, child := d.children[i.ParentID]
		if _, known := d.children[i.ID]; !known && (child || i.ParentID == d.session) {
			d.children[i.ID] = "" // the task's part will name the call
		}
		return
	case d.session == "":
		d.session = i.ID
	}
	if i.ID != d.session || i.Title == "" || i.Title == d.title {
		return
	}
	d.title = i.Title
	if !strings.HasPrefix(i.Title, "New session - ") {
		t.Note(trace.Title(i.Title))
	}
}
