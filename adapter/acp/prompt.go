package acp

import (
	"cmp"
	"encoding/json"
	"net/url"
	"strings"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/internal/jsonrpc"
	"github.com/tributary-dev/tributary/trace"
)

// prompt is a prompt that was sent and has no reply.
type prompt struct {
	id string
	p  trace.Prompt
}

// prompt takes a prompt of ours. A prompt that is sent while another one runs waits in
// the agent.
func (d *Decoder) prompt(m jsonrpc.Message, t agent.Turns) ([]agent.Effect, error) {
	var p struct {
		Prompt []block `json:"prompt"`
	}
	if err := decodeInto(m.Params, &p); err != nil {
		return nil, err
	}
	message := trace.UserMessage{ID: "prompt-" + strings.Trim(string(m.ID), `"`)}
	for _, b := range p.Prompt {
		if part, ok := b.part(); ok {
			message.Parts = append(message.Parts, part)
		}
	}
	if d.current(t) == nil {
		d.prompts = nil // the others have lost their turns
	}
	d.prompts = append(d.prompts, prompt{id: string(m.ID), p: trace.Prompt{Message: message}})
	if len(d.prompts) == 1 {
		d.begin(t)
	}
	if d.session == "" {
		return nil, nil
	}
	return []agent.Effect{agent.Resume{Token: d.session}}, nil
}

// begin begins the turn of the first prompt.
func (d *Decoder) begin(t agent.Turns) {
	d.turn = nil
	if b := t.Prompted(d.prompts[0].p); b != nil {
		d.turn = &turn{b: b, speakers: map[string]*speaker{}, calls: map[string]*call{}, command: isCommand(d.prompts[0].p.Message)}
	}
}

// part makes a part of a message of a block.
func (b block) part() (trace.InputPart, bool) {
	switch {
	case b.Type == "text":
		return trace.InputPart{Type: trace.InputText, Text: string(b.Text)}, b.Text != ""
	case b.Type == "resource" && b.Resource.Text != nil:
		at := "data:text/plain;charset=utf-8," + url.PathEscape(string(*b.Resource.Text))
		return trace.InputPart{Type: trace.InputFile, URL: at, MediaType: cmp.Or(b.Resource.MimeType, "text/plain"), Filename: base(b.Resource.URI)}, true
	default:
		at, media, name := b.file()
		return trace.InputPart{Type: trace.InputFile, URL: at, MediaType: media, Filename: name}, at != ""
	}
}

// file returns where the bytes of a block are, which may be in the address itself.
func (b block) file() (address, mediaType, name string) {
	switch {
	case b.Data != "":
		return "data:" + b.MimeType + ";base64," + b.Data, b.MimeType, base(b.URI)
	case b.Resource.Blob != "":
		return "data:" + b.Resource.MimeType + ";base64," + b.Resource.Blob, b.Resource.MimeType, base(b.Resource.URI)
	default:
		return b.URI, cmp.Or(b.MimeType, "application/octet-stream"), cmp.Or(b.Name, base(b.URI))
	}
}

func base(uri string) string { return uri[strings.LastIndex(uri, "/")+1:] }

// ended takes the reply to a prompt. In this version of the protocol the reply ends
// the turn.
func (d *Decoder) ended(m jsonrpc.Message, t agent.Turns) error {
	first := len(d.prompts) > 0 && d.prompts[0].id == string(m.ID)
	for i, p := range d.prompts {
		if p.id == string(m.ID) {
			d.prompts = append(d.prompts[:i:i], d.prompts[i+1:]...)
			break
		}
	}
	var r promptReply
	err := decodeInto(m.Result, &r)
	c := d.current(t)
	if c == nil || !first {
		return err
	}
	d.usage(c, r)
	end := stopOf(r.StopReason)
	switch {
	case m.Error != nil:
		end = d.failure(c, *m.Error)
	case end.Outcome == trace.OutcomeCompleted:
		end = d.recognize(c, r, end)
	}
	d.endTurn(c, end)
	if len(d.prompts) > 0 {
		d.begin(t)
	}
	return err
}

// endTurn ends a turn. The Builder closes what is open.
func (d *Decoder) endTurn(c *turn, end trace.Stop) {
	c.release(end.Error)
	for id, r := range d.theirs {
		if r.ask != nil && r.ask.Turn() == c.b.Turn() {
			delete(d.theirs, id)
		}
	}
	if c.stopped { // whatever an agent makes of it
		end = stopOf("cancelled")
	}
	c.b.End(end)
	d.turn = nil
}

// stopOf says how a turn ended.
func stopOf(reason string) trace.Stop {
	switch reason {
	case "cancelled":
		return trace.Stop{Reason: reason, Outcome: trace.OutcomeCanceled}
	case "max_turn_requests":
		return trace.Stop{Reason: reason, Outcome: trace.OutcomeFailed, Error: "The agent stopped because it reached its limit of model calls."}
	case "refusal":
		return trace.Stop{Reason: reason, Outcome: trace.OutcomeFailed, Error: "The model refused to go on."}
	default:
		return trace.Stop{Reason: cmp.Or(reason, "end_turn"), Outcome: trace.OutcomeCompleted}
	}
}

// codeAuth is the error code of an agent that wants its user to log in.
const codeAuth = -32000

// failure is the end of a turn that the agent answered with an error.
func (d *Decoder) failure(c *turn, e jsonrpc.Error) trace.Stop {
	switch {
	case c.stopped && e.Code == jsonrpc.CodeRequestCancelled:
		return stopOf("cancelled")
	case e.Code == codeAuth:
		return trace.Stop{Reason: "auth_required", Outcome: trace.OutcomeFailed, Error: d.agent.login(sentence(explain(e)))}
	}
	return trace.Stop{Reason: "error", Outcome: trace.OutcomeFailed, Error: sentence(explain(e))}
}

// explain finds the words in an error that say what happened.
func explain(e jsonrpc.Error) string {
	message := e.Message
	var nested struct {
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	if json.Unmarshal([]byte(message), &nested) == nil && nested.Error.Message != "" {
		message = nested.Error.Message
	}
	message = strings.TrimPrefix(message, "Internal error: ")
	if message != "" && message != "Internal error" {
		return message
	}
	var data struct {
		Details string `json:"details"`
		Message string `json:"message"`
	}
	var plain string
	switch {
	case json.Unmarshal(e.Data, &plain) == nil && plain != "":
		return plain
	case json.Unmarshal(e.Data, &data) == nil && data.Details+data.Message != "":
		return cmp.Or(data.Details, data.Message)
	}
	return e.Error()
}

// usage records what the turn has used, as far as the agent says.
func (d *Decoder) usage(c *turn, r promptReply) {
	u := trace.Usage{Scope: trace.UsageTurn}
	if strings.Contains(strings.ToLower(d.agent.Info.Name), "opencode") || strings.Contains(strings.ToLower(d.agent.Info.Name), "kilo") {
		u.Scope = trace.UsageStep // they count the last step only
	}
	switch q := r.Meta.Quota.Count; {
	case r.Usage != nil:
		r.Usage.count(&u)
	default:
		u.InputTokens, u.OutputTokens = q.Input, q.Output
	}
	if u.InputTokens+u.OutputTokens > 0 {
		c.b.Emit(u)
	}
	if c.context != nil {
		c.context.CostUSD = c.cost
		c.b.Emit(*c.context)
	}
}

// count adds the counts in the gateway's meaning: cached input is input, and reasoning
// is output. Agents count either way; their total says which.
func (u usage) count(into *trace.Usage) {
	input, output, cached := u.Input, u.Output, u.CacheRead+u.CacheWrite
	if u.Total >= input+output+cached {
		input += cached
	}
	if u.Thought > 0 && u.Total == input+output+u.Thought {
		output += u.Thought
	}
	into.InputTokens, into.OutputTokens, into.ReasoningTokens = input, output, u.Thought
	into.CacheReadTokens, into.CacheWriteTokens = u.CacheRead, u.CacheWrite
}
