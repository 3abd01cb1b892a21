package opencode

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/agent/remote"
	"github.com/tributary-dev/tributary/policy/toolkind"
	"github.com/tributary-dev/tributary/trace"
)

// Options of a Decoder.
type Options struct {
	// Tools says what the tools do; toolkind.OpenCode() if zero.
	Tools *toolkind.Table
	// Product is what readers of a trace know the agent by; "opencode" if empty.
	Product string
}

// Decoder reads one session of a server: requests, answers and events.
type Decoder struct {
	tools     toolkind.Table
	product   string
	model     trace.AgentInfo // the provider and the model that answer
	session   string
	title     string
	seen      agentkit.BoundedMap       // messages of earlier turns
	foreign   struct{ id, text string } // a prompt that another client has sent to the session
	prompts   int                       // so far, for ids
	early     []early
	earlyLost bool // there were too many early texts
	turn      *turn
	effects   []agent.Effect
	inTurn    map[string]func(properties) // what to do with the events that count while a turn runs
}

var _ agent.Decoder = (*Decoder)(nil)

// NewDecoder returns a Decoder for one session.
func NewDecoder(o Options) *Decoder {
	d := &Decoder{tools: toolkind.OpenCode(), product: cmp.Or(o.Product, "opencode")}
	if o.Tools != nil {
		d.tools = *o.Tools
	}
	d.inTurn = map[string]func(properties){
		"message.part.delta": d.delta,
		"permission.asked":   func(p properties) { d.asked(p.request) },
		"question.asked":     func(p properties) { d.asked(p.request) },
		"permission.replied": func(p properties) { d.allowed(p.RequestID, permissionReply{Reply: p.Reply}, "opencode") },
		"question.replied":   func(p properties) { d.answered(p.RequestID, p.Answers, "opencode") },
		"question.rejected":  func(p properties) { d.answered(p.RequestID, nil, "opencode") },
		"todo.updated":       d.plan,
		"session.diff":       d.diff,
		"session.status":     d.status,
		"session.idle":       func(p properties) { p.Status.Type = "idle"; d.status(p) },
		"session.error":      d.failed,
		"session.compacted": func(properties) {
			d.turn.b.Emit(trace.Notice("compacted", "OpenCode has summed up the conversation to make room."))
		},
	}
	return d
}

// Decode implements agent.Decoder.
func (d *Decoder) Decode(m agent.Message, t agent.Turns) ([]agent.Effect, error) {
	d.effects = nil
	var err error
	switch {
	case m.Dir == agent.In, m.Channel == remote.Answer, m.Channel == "http-res": // the latter in recordings
		var c call
		if err = json.Unmarshal(m.Data, &c); err == nil {
			err = d.call(c, m.Dir == agent.In, t)
		}
	case m.Dir == agent.Out:
		var e event
		if err = json.Unmarshal(m.Data, &e); err == nil && d.wanted(e.Type) {
			err = read(e.Properties, func(p properties) { d.event(e.Type, p, t) })
		}
	}
	d.settle()
	if err != nil {
		err = fmt.Errorf("opencode: a message that is not of its protocol was skipped: %w", err)
	}
	return d.effects, err
}

func (d *Decoder) do(effects ...agent.Effect) { d.effects = append(d.effects, effects...) }

// call takes a request to the server, or an answer. Lists are what an event stream may have
// lost.
func (d *Decoder) call(c call, sent bool, t agent.Turns) error {
	kind, id, what := words(c.Path)
	switch {
	case sent && c.Method != "POST", c.Status >= 300:
	case sent && kind == "session" && (what == "prompt_async" || what == "message"):
		return read(c.Body, func(prompt entry) { d.prompt(id, prompt.Parts, t) })
	case sent && kind == "session":
		if id == d.session && what == "abort" && d.turn != nil {
			d.turn.aborted = true
		}
	case sent && kind == "permission":
		return read(c.Body, func(r permissionReply) { d.allowed(id, r, "user") })
	case sent && kind == "question" && what == "reject":
		d.answered(id, nil, "user")
	case sent && kind == "question":
		return read(c.Body, func(p properties) { d.answered(id, p.Answers, "user") })
	case c.Path == "/session/status":
		return read(c.Body, func(all map[string]status) {
			if s := all[d.session]; d.turn != nil && (s.Type == "" || s.Type == "idle") {
				d.turn.idle = true
			}
		})
	case id == "" && (kind == "permission" || kind == "question"):
		return read(c.Body, func(all []request) { d.pending(all, kind == "question") })
	case kind == "session" && what == "message" && id == d.session:
		return d.history(c.Body, t)
	case c.Path == "/global/health", c.Path == "/session":
		return read(c.Body, func(i info) {
			d.version(i, t)
			d.known(i, t)
		})
	case kind == "session" && what == "":
		return read(c.Body, func(i info) { d.known(i, t) })
	}
	return nil
}

// read hands on what is in JSON.
func read[T any](data raw, take func(T)) error {
	var v T
	if err := json.Unmarshal(data, &v); err != nil {
		return err
	}
	take(v)
	return nil
}

// words splits a path such as /session/ID/abort.
func words(path string) (kind, id, what string) {
	kind, path, _ = strings.Cut(strings.Trim(path, "/"), "/")
	id, what, _ = strings.Cut(path, "/")
	return kind, id, what
}

// history takes the messages of the session, or the one that answers a prompt.
func (d *Decoder) history(body raw, t agent.Turns) error {
	var all []entry
	if err := json.Unmarshal(body, &all); err != nil {
		var one entry
		if json.Unmarshal(body, &one) != nil {
			return err
		}
		all = []entry{one}
		defer func() { // the server has done its work
			if d.turn != nil {
				d.turn.idle = true
			}
		}()
	}
	for _, e := range all {
		turn := d.running()
		if turn == nil {
			d.seen.Put(e.Info.ID, past)
			continue
		}
		e.Info.SessionID = d.session
		d.message(e.Info, t)
		for _, p := range e.Parts {
			d.takeEarly(p.ID) // deltas before them may be lost
			if m := turn.messages[p.MessageID]; d.part(p) {
				m.parts[p.ID] = deaf
			}
		}
	}
	return nil
}

// wanted reports whether the Decoder reads events of a type.
func (d *Decoder) wanted(kind string) bool {
	return d.inTurn[kind] != nil || slices.Contains([]string{"server.connected", "session.created", "session.updated", "message.updated", "message.part.updated"}, kind)
}

// event takes an event of the stream, if it is of this session or a sub-agent's.
func (d *Decoder) event(kind string, p properties, t agent.Turns) {
	if d.session == "" && p.Info.Role == "user" {
		d.session = p.SessionID // a stream without requests
	}
	turn := d.running()
	switch {
	case kind == "server.connected":
		d.gap()
	case kind == "session.created", kind == "session.updated":
		if kind == "session.created" && d.session == "" {
			d.version(p.Info, t)
		}
		d.known(p.Info, t)
	case p.SessionID != d.session && !turn.child(p.SessionID):
	case kind == "message.updated":
		p.Info.SessionID = p.SessionID
		d.message(p.Info, t)
	case kind == "message.part.updated":
		d.part(p.Part)
	case turn != nil, kind == "message.part.delta":
		d.inTurn[kind](p)
	}
}

// known takes the state of a session.
func (d *Decoder) known(i info, t agent.Turns) {
	if i.ParentID != "" {
		turn := d.running()
		if turn != nil && !turn.child(i.ID) && (i.ParentID == d.session || turn.child(i.ParentID)) {
			turn.adopt(i.ID, "") // the task's part will name the call
		}
		return
	}
	if d.session == "" {
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
