package agentops

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/tributary-dev/tributary/adapter/agentops/wire"
	"github.com/tributary-dev/tributary/trace"
)

// turn is an open turn.
type turn struct {
	id      string
	prompt  *wire.Message // nil for a turn of the agent's own
	files   []wire.Attachment
	queued  bool
	message *message // nil before the reply
	status  wire.AgentStatus
	calls   map[string]trace.ToolCall // running ones, for the requests about them
	asks    []wire.Ask
	changes []changedFile
	channel wire.Channel
	thread  string
}

// reply begins an assistant's message. A second message of a turn stands below an answer
// in words.
func (t *Translator) reply(r trace.Record, p trace.Reply) {
	u := t.turn(r.Turn)
	dequeued := u.queued
	u.queued = false
	u.message = newMessage(p.MessageID, wire.Stamp(r.Time.Unix()), t.MaxMessage)
	if dequeued {
		t.show(u)
		t.send(wire.QueueState{Data: wire.QueueData{Pending: t.next()}})
		t.send(wire.Status{Data: wire.StatusData{PromptDequeued: true, Remaining: new(len(t.waiting()))}})
	}
	t.setStatus(u, wire.StatusThinking, "")
	t.know(p.MessageID)
	t.begin(u)
}

// begin sends the beginning of an assistant's message.
func (t *Translator) begin(u *turn) {
	m := u.message.frame(u)
	m.Content, m.Parts, m.CreatedAt = "", wire.Parts{}, u.message.created
	t.send(wire.MessageAdded{Data: m})
}

// update sends the whole message so far.
func (t *Translator) update(u *turn) {
	if !t.quiet {
		t.send(wire.MessageUpdated{Data: u.message.frame(u)})
	}
}

// setStatus sends the state of the agent if it is new.
func (t *Translator) setStatus(u *turn, status, detail string) {
	now := wire.AgentStatus{Status: status, Detail: detail, Channel: u.channel}
	if now != u.status {
		u.status = now
		t.send(now)
	}
}

// running shows a record of a running turn. Records of sub-agents are not shown.
func (t *Translator) running(u *turn, r trace.Record) {
	if c, is := r.Payload.(trace.ToolCall); is {
		u.calls[c.ToolCallID] = c
	}
	if c, is := r.Payload.(trace.ToolResult); is {
		delete(u.calls, c.ToolCallID)
	}
	if c, is := r.Payload.(trace.FileChange); is {
		u.change(c)
	}
	if _, aside := r.Actor.SubagentCall(); aside {
		return
	}
	switch p := r.Payload.(type) { //nolint:gochecksumtype // Next lists the kinds
	case trace.MessageDelta:
		t.chunk(u, u.message.delta(p.Part, p.Delta))
	case trace.Message:
		t.chunk(u, u.message.full(p.Part, p.Text))
	case trace.ThoughtStart:
		t.setStatus(u, wire.StatusThinking, "")
	case trace.ToolCallStart:
		t.setStatus(u, wire.StatusToolCalling, p.RawName)
		u.message.call(p.ToolCallID, p.RawName, wire.ToolPending, json.RawMessage("{}"))
		t.update(u)
	case trace.ToolCall:
		t.setStatus(u, wire.StatusToolCalling, p.RawName)
		u.message.call(p.ToolCallID, p.RawName, wire.ToolRunning, p.Input)
		t.update(u)
	case trace.ToolResult:
		u.message.result(p)
		t.update(u)
	case trace.Status:
		if p.State != trace.StateIdle || p.Detail != "" {
			t.setStatus(u, string(p.State), p.Detail)
		}
	case trace.Error:
		t.send(wire.Toast{Title: "The agent met an error", Description: p.Message, Variant: "error"})
	}
}

func (t *Translator) chunk(u *turn, text string) {
	if text == "" {
		return
	}
	t.setStatus(u, wire.StatusStreaming, "")
	t.send(wire.Chunk{Content: trace.JSONText(text), MessageID: u.message.id, Channel: u.channel})
}

// stop ends a turn. Its requests have ended, unless the log was cut.
func (t *Translator) stop(r trace.Record, p trace.Stop) {
	u := t.find(r.Turn)
	if u == nil {
		return
	}
	for _, a := range u.asks {
		t.expire(a)
	}
	t.turns = slices.DeleteFunc(t.turns, func(o *turn) bool { return o == u })
	if u.message == nil {
		t.dropPrompt(u, p)
	} else {
		t.finish(u, p)
	}
	if len(t.turns) == 0 {
		t.send(wire.Status{Data: wire.StatusData{RunnerBusy: new(bool)}})
	}
}

// finish ends the turn's message. The frame idle comes first after an abort.
func (t *Translator) finish(u *turn, p trace.Stop) {
	reason, fault := wire.ReasonEndTurn, ""
	switch p.Outcome {
	case trace.OutcomeFailed:
		reason, fault = wire.ReasonError, cmp.Or(p.Error, "Turn failed")
	case trace.OutcomeCanceled:
		reason = wire.ReasonCanceled
		t.setStatus(u, wire.StatusIdle, "")
	case trace.OutcomeCompleted:
	}
	u.message.finish(reason, fault)
	t.update(u)
	t.setStatus(u, wire.StatusIdle, "")
	if len(u.changes) > 0 {
		t.send(filesChanged{Files: u.changes})
	}
}
