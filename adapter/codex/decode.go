package codex

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/policy/toolkind"
	"github.com/tributary-dev/tributary/trace"
)

// Options of a Decoder.
type Options struct {
	// Tools says what the tools do; toolkind.Codex() if nil.
	Tools *toolkind.Table
}

// Decoder reads the protocol of one session.
type Decoder struct {
	tools   toolkind.Table
	thread  string // the conversation
	about   about
	agents  agentkit.BoundedMap // threads of sub-agents, and the calls that started them
	sent    map[string]string   // methods of requests of ours whose reply matters, by id
	prompts int                 // prompts so far, for ids
	waiting []trace.Prompt      // prompts whose turn has not begun
	turn    *turn               // the newest
	past    string              // the agent's id of the turn before it
	open    map[string]string   // calls that earlier turns left without a result, and the first turn of each
	asks    map[string]ask      // requests of the agent without an answer, by id
	live    bool                // this is a session, not a recording
	refused bool                // the newest message of the agent is a request that was refused
	effects []agent.Effect
}

var _ agent.Decoder = (*Decoder)(nil)

// NewDecoder returns a Decoder for one session.
func NewDecoder(o Options) *Decoder {
	tools := toolkind.Codex()
	if o.Tools != nil {
		tools = *o.Tools
	}
	return &Decoder{tools: tools, sent: map[string]string{}, open: map[string]string{}, asks: map[string]ask{}}
}

// Decode implements agent.Decoder.
func (d *Decoder) Decode(m agent.Message, t agent.Turns) ([]agent.Effect, error) {
	if m.Dir == agent.Err {
		return nil, nil
	}
	d.effects = nil
	d.refused = d.refused && m.Dir == agent.In
	var l message
	err := json.Unmarshal(m.Data, &l)
	switch {
	case err != nil:
	case l.Method == "" && l.Type != "":
		err = d.exec(l.Type, m.Data, t)
	case m.Dir == agent.In && l.IsSameID():
	case m.Dir == agent.In && l.Method == "":
		d.answered(string(l.ID), l.Result)
	case m.Dir == agent.Out && passedOver(l.Method):
		agentkit.Touch(t)
	default:
		err = d.take(m.Dir, l, t)
	}
	if err != nil {
		err = fmt.Errorf("codex: a message was skipped: %w", err)
	}
	return d.effects, err
}

func (d *Decoder) do(effects ...agent.Effect) { d.effects = append(d.effects, effects...) }

// parse reads JSON; nothing at all leaves the value as it is.
func parse(data raw, v any) error {
	if len(data) == 0 {
		return nil
	}
	return json.Unmarshal(data, v)
}

// take takes a message of the app-server, or to it.
func (d *Decoder) take(dir agent.Dir, l message, t agent.Turns) error {
	var p params
	if err := errors.Join(parse(l.Params, &p), parse(l.Result, &p)); err != nil {
		return fmt.Errorf("%s: %w", l.Method, err)
	}
	switch {
	case dir == agent.In:
		d.fromGateway(l, p, t)
	case l.Method == "":
		d.replied(l, p, t)
	default:
		if d.thread == "" {
			d.thread = p.ThreadID // the recording begins later
		}
		if l.ID != nil {
			return d.request(l, p, t)
		}
		return d.said(l.Method, p, t)
	}
	return nil
}

// fromGateway takes a request to the app-server.
func (d *Decoder) fromGateway(l message, p params, t agent.Turns) {
	c := d.current()
	switch l.Method {
	case "thread/start", "thread/resume", "thread/fork":
		d.sent[string(l.ID)] = l.Method
	case "initialize", "thread/read":
		d.sent[string(l.ID)] = l.Method
	case "turn/start":
		d.about.choose(p.Model)
		d.sent[string(l.ID)] = l.Method
		d.prompts++
		d.waiting = append(d.waiting, prompt(fmt.Sprintf("prompt-%d", d.prompts), p.Input))
		if c == nil {
			d.next(t)
		}
	case "turn/steer":
		if c != nil && !d.live { // the session writes the message
			text := agent.Prompt{Message: prompt("", p.Input).Message}.Text()
			c.b.EmitOwn(trace.Data{Name: "steer", Value: agentkit.Encode(object{"text": text})})
		}
	case "turn/interrupt":
		if c != nil {
			c.stop = p.TurnID == ""
		}
	}
}

// replied takes a reply to a request of the gateway.
func (d *Decoder) replied(l message, p params, t agent.Turns) {
	method := d.sent[string(l.ID)]
	delete(d.sent, string(l.ID))
	switch {
	case method == "turn/start":
		d.accepted(l, p.Turn.ID, t)
	case method == "thread/read":
		d.read(p.Thread)
	case p.UserAgent != "":
		d.about.version = versionIn(p.UserAgent)
	case p.Thread.ID != "" && (method != "" || d.thread == ""):
		d.thread = p.Thread.ID
		d.opened(p, t)
	}
}

// accepted takes the reply to a prompt. Codex takes a prompt into a turn that runs, which
// becomes the turn of the prompt.
func (d *Decoder) accepted(l message, id string, t agent.Turns) {
	c := d.current()
	if len(d.waiting) > 0 && c != nil && (l.Error != nil || c.id == id) {
		d.end(c, turnWire{Status: "completed"})
		c = d.next(t)
	}
	switch {
	case c == nil || c.id != "":
	case l.Error != nil:
		d.end(c, turnWire{Status: "failed", Error: &turnError{Message: l.Error.Message}})
	default:
		c.id = id
	}
}

// said takes a notification of the app-server.
func (d *Decoder) said(method string, p params, t agent.Turns) error {
	if d.tooLate(method, p) {
		return nil
	}
	switch method {
	case "thread/started":
		if d.thread == "" && p.Thread.ParentThreadID == "" {
			d.thread = p.Thread.ID
			d.opened(p, t)
		} else if p.Thread.ID != d.thread {
			d.about.models.Put(p.Thread.ID, p.Thread.Model)
		}
		agentkit.Touch(t)
	case "thread/name/updated":
		if p.ThreadID == d.thread && p.ThreadName != "" {
			t.Note(trace.Title(p.ThreadName))
		}
	case "turn/started":
		d.started(p, t)
	case "turn/completed":
		d.completed(p)
	case "thread/status/changed":
		d.status(p)
		agentkit.Touch(t)
	case "serverRequest/resolved":
		d.resolved(string(p.RequestID))
	case "error":
		d.fault(p, t)
	case "warning", "guardianWarning":
		d.emit(p, t, trace.Notice("warning", p.Message))
	case "thread/settings/updated":
		if p.ThreadID == d.thread {
			d.about.choose(p.ThreadSettings.Model)
			agentkit.Touch(t)
		}
	case "model/rerouted":
		d.uses(p.ThreadID, p.ToModel, t)
		d.emit(p, t, trace.Notice("model", fmt.Sprintf("Codex has changed the model from %s to %s.", p.FromModel, p.ToModel)))
	default:
		return d.within(method, p, t)
	}
	return nil
}

// within takes a notification about a turn.
func (d *Decoder) within(method string, p params, t agent.Turns) error {
	c := d.current()
	if c == nil && method != "thread/tokenUsage/updated" { // which also comes when a conversation is resumed
		c = d.need(p, t)
	}
	if c == nil {
		return nil
	}
	b := d.voice(c, p.ThreadID)
	b.Touch()
	switch method {
	case "item/started", "item/completed":
		return d.item(c, b, p, method == "item/completed")
	case "item/agentMessage/delta", "item/plan/delta":
		c.step(b, true)
		b.MessageDelta(p.ItemID, p.Delta)
	case "item/reasoning/summaryTextDelta":
		c.step(b, true)
		b.ThoughtDelta(thoughtKey(p.ItemID, "summary", p.SummaryIndex), p.Delta)
	case "item/reasoning/textDelta":
		c.step(b, true)
		b.ThoughtDelta(thoughtKey(p.ItemID, "content", p.ContentIndex), p.Delta)
	case "item/commandExecution/outputDelta":
		b.ToolResultDelta(p.ItemID, p.Delta)
	case "item/commandExecution/terminalInteraction":
		d.stdin(c, b, p)
	case "item/fileChange/patchUpdated":
		if _, runs := c.running[p.ItemID]; runs {
			c.running[p.ItemID] = item{Type: "fileChange", ID: p.ItemID, Changes: p.Changes}
		}
		b.ToolCallUpdate(d.patchCall(p.ItemID, p.Changes, ""))
	case "item/mcpToolCall/progress":
		b.Emit(trace.Status{State: trace.StateToolCalling, Detail: p.Message})
	case "turn/plan/updated":
		b.Emit(plan(p.Plan))
	case "thread/tokenUsage/updated":
		d.used(c, b, p)
	default:
		return fmt.Errorf("%s: %w", method, agent.ErrUnknownEvent)
	}
	return nil
}

// passedOver says which notifications tell nothing that a turn shows. The diff of a
// whole turn is the sum of its patches, which are on record one by one.
func passedOver(method string) bool {
	return slices.ContainsFunc([]string{
		"account/", "app/", "autoApprovalReview/", "command/exec/", "configWarning", "deprecationNotice", "externalAgentConfig/", "fs/",
		"fuzzyFileSearch/", "hook/", "item/autoApprovalReview/", "item/fileChange/outputDelta", "item/reasoning/summaryPartAdded",
		"mcpServer/event/", "mcpServer/oauthLogin/", "mcpServer/startupStatus/", "model/safetyBuffering/updated", "model/verification",
		"modelProvider/", "process/", "project/", "remoteControl/", "skills/", "thread/archived", "thread/attachment/", "thread/closed",
		"thread/compacted", "thread/deleted", "thread/environment/", "thread/goal/", "thread/prediction/", "thread/project/", "thread/queue/",
		"thread/readState/", "thread/realtime/", "thread/reverted", "thread/section/",
		"thread/unarchived", "turn/diff/updated", "turn/moderationMetadata", "windows/", "windowsSandbox/",
	}, func(known string) bool {
		return method == known || strings.HasSuffix(known, "/") && strings.HasPrefix(method, known)
	})
}
