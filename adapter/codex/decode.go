package codex

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/toolkind"
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
	thread  string            // the conversation
	agents  map[string]string // threads of sub-agents, and the calls that started them
	sent    map[string]string // methods of requests of ours whose reply matters, by id
	prompts int               // prompts so far, for ids
	waiting []trace.Prompt    // prompts whose turn has not begun
	turn    *turn             // the newest
	asks    map[string]*ask   // requests of the agent without an answer, by id
	live    bool              // this is a session, not a recording
	effects []agent.Effect
}

var _ agent.Decoder = (*Decoder)(nil)

// NewDecoder returns a Decoder for one session.
func NewDecoder(o Options) *Decoder {
	tools := toolkind.Codex()
	if o.Tools != nil {
		tools = *o.Tools
	}
	return &Decoder{tools: tools, agents: map[string]string{}, sent: map[string]string{}, asks: map[string]*ask{}}
}

// Decode implements agent.Decoder.
func (d *Decoder) Decode(m agent.Message, t agent.Turns) ([]agent.Effect, error) {
	if m.Dir == agent.Err {
		return nil, nil
	}
	d.effects = nil
	var l message
	err := json.Unmarshal(m.Data, &l)
	switch {
	case err != nil:
	case l.Method == "" && l.Type != "":
		err = d.exec(l.Type, m.Data, t)
	case m.Dir == agent.In:
		err = d.told(l, t)
	case l.Method == "":
		err = d.replied(l, t)
	default:
		err = d.said(l, t)
	}
	if err != nil {
		err = fmt.Errorf("codex: a message was skipped: %w", err)
	}
	return d.effects, err
}

// told takes what the app-server is told.
func (d *Decoder) told(l message, t agent.Turns) error {
	switch l.Method {
	case "":
		if a := d.asks[string(l.ID)]; a != nil {
			delete(d.asks, string(l.ID))
			a.answered(l.Result)
		}
	case "thread/start", "thread/resume", "thread/fork":
		d.sent[string(l.ID)] = l.Method
	case "turn/start":
		var p params
		if err := json.Unmarshal(l.Params, &p); err != nil {
			return err
		}
		d.sent[string(l.ID)] = l.Method
		d.prompts++
		d.waiting = append(d.waiting, prompt(fmt.Sprintf("prompt-%d", d.prompts), p.Input))
		if d.current(t) == nil {
			d.begin(t)
		}
	case "turn/steer", "turn/interrupt":
		var p params
		err := json.Unmarshal(l.Params, &p)
		c := d.current(t)
		switch {
		case err != nil || c == nil:
		case l.Method == "turn/steer" && d.live: // the session writes the message
		case l.Method == "turn/steer":
			c.b.Emit(trace.Data{Name: "steer", Value: encode(object{"text": agent.Prompt{Message: prompt("", p.Input).Message}.Text()})})
		default:
			c.stop = p.TurnID == ""
		}
		return err
	}
	return nil
}

// replied takes a reply to a request of the gateway.
func (d *Decoder) replied(l message, t agent.Turns) error {
	method := d.sent[string(l.ID)]
	delete(d.sent, string(l.ID))
	var p params
	if err := json.Unmarshal(orNull(l.Result), &p); err != nil {
		return err
	}
	switch {
	case method == "turn/start":
		d.accepted(l, p.Turn.ID, t)
	case method != "" && p.Thread.ID != "":
		d.thread = p.Thread.ID
	}
	return nil
}

// accepted takes the reply to a prompt. Codex takes a prompt into a turn that runs, which
// becomes the turn of the prompt.
func (d *Decoder) accepted(l message, id string, t agent.Turns) {
	c := d.current(t)
	if len(d.waiting) > 0 && c != nil && (l.Error != nil || c.id == id) {
		d.end(c, turnWire{Status: "completed"})
		c = d.begin(t)
	}
	switch {
	case c == nil || c.id != "":
	case l.Error != nil:
		d.end(c, turnWire{Status: "failed", Error: &turnError{Message: l.Error.Message}})
	default:
		c.id = id
	}
}

// said takes a notification or a request of the app-server.
func (d *Decoder) said(l message, t agent.Turns) error {
	if passedOver(l.Method) {
		d.touch(t)
		return nil
	}
	var p params
	if err := json.Unmarshal(orNull(l.Params), &p); err != nil {
		return fmt.Errorf("%s: %w", l.Method, err)
	}
	if d.thread == "" {
		d.thread = p.ThreadID // the recording begins later
	}
	if l.ID != nil {
		return d.request(l, p, t)
	}
	switch l.Method {
	case "thread/started":
		d.newThread(p.Thread, t)
	case "thread/name/updated":
		d.title(p, t)
	case "turn/started":
		d.started(p, t)
	case "turn/completed":
		d.completed(p, t)
	case "serverRequest/resolved":
		d.resolved(string(p.RequestID))
	case "error":
		d.fault(p, t)
	case "warning", "guardianWarning":
		d.emit(p, t, trace.Notice("warning", p.Message))
	case "model/rerouted":
		d.emit(p, t, trace.Notice("model", fmt.Sprintf("Codex has changed the model from %s to %s.", p.FromModel, p.ToModel)))
	default:
		return d.within(l.Method, p, t)
	}
	return nil
}

// within takes a notification about a turn.
func (d *Decoder) within(method string, p params, t agent.Turns) error {
	if method == "item/started" && p.Item.Type == "userMessage" {
		d.userMessage(p, t)
		return nil
	}
	c := d.current(t)
	if c == nil && method != "thread/tokenUsage/updated" { // which also comes when a conversation is resumed
		c = d.need(p, t)
	}
	if c == nil {
		return nil
	}
	b := d.voice(c, p.ThreadID)
	b.Touch()
	switch method {
	case "item/started":
		return d.item(c, b, p.Item, false)
	case "item/completed":
		return d.item(c, b, p.Item, true)
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
		d.patch(c, b, p.ItemID, p.Changes)
	case "item/mcpToolCall/progress":
		b.Emit(trace.Status{State: trace.StateToolCalling, Detail: p.Message})
	case "turn/plan/updated":
		b.Emit(plan(p.Plan))
	case "thread/tokenUsage/updated":
		c.used(b, p.TokenUsage, p.ThreadID == d.thread)
	default:
		return fmt.Errorf("%s: %w", method, agent.ErrUnknownEvent)
	}
	return nil
}

// passedOver says which notifications tell nothing that a turn shows. The diff of a
// whole turn is the sum of its patches, which are on record one by one.
func passedOver(method string) bool {
	for _, family := range []string{
		"account/", "app/", "autoApprovalReview/", "command/exec/", "externalAgentConfig/", "fs/", "fuzzyFileSearch/", "hook/", "item/autoApprovalReview/",
		"mcpServer/oauthLogin/", "mcpServer/startupStatus/", "mcpServer/event/", "modelProvider/", "process/", "project/", "remoteControl/", "skills/",
		"thread/attachment/", "thread/environment/", "thread/goal/", "thread/prediction/", "thread/project/", "thread/queue/", "thread/readState/",
		"thread/realtime/", "thread/section/", "thread/settings/", "thread/status/", "windows/", "windowsSandbox/",
	} {
		if strings.HasPrefix(method, family) {
			return true
		}
	}
	return slices.Contains([]string{
		"configWarning", "deprecationNotice", "item/fileChange/outputDelta", "item/reasoning/summaryPartAdded", "model/safetyBuffering/updated",
		"model/verification", "thread/archived", "thread/closed", "thread/compacted", "thread/deleted", "thread/reverted", "thread/unarchived",
		"turn/diff/updated", "turn/moderationMetadata",
	}, method)
}

func orNull(data raw) raw {
	if len(data) == 0 {
		return raw("null")
	}
	return data
}
