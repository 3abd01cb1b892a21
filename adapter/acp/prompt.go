package acp

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/internal/httpjson"
	"github.com/tributary-dev/tributary/internal/jsonrpc"
	"github.com/tributary-dev/tributary/trace"
)

// prompt is a prompt that was sent and has no reply.
type prompt struct {
	id string
	p  trace.Prompt
}

// prompt takes a prompt of the gateway. A prompt that is sent while another one runs waits in
// the agent.
func (d *Decoder) prompt(m jsonrpc.Message, t agent.Turns) ([]agent.Effect, error) {
	var p struct {
		Prompt []block `json:"prompt"`
	}
	if err := decode(m.Params, &p); err != nil {
		return nil, err
	}
	message := trace.UserMessage{ID: "prompt-" + strings.Trim(string(m.ID), `"`)}
	for _, b := range p.Prompt {
		if part := b.part(); part.Text != "" || part.URL != "" {
			message.Parts = append(message.Parts, part)
		}
	}
	if c := d.current(t); c != nil && c.own {
		d.endTurn(c, stopOf(""))
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
	d.phase = prompted
	if c := d.enter(t.Prompted(d.prompts[0].p), t); c != nil {
		c.command = isCommand(d.prompts[0].p.Message)
	}
}

// enter makes a turn the current one, and puts what came before it at its beginning.
func (d *Decoder) enter(b *trace.Builder, t agent.Turns) *turn {
	d.leave()
	if b == nil {
		return nil
	}
	b.StepAfterResults()
	d.turn = &turn{b: b, speakers: map[string]*speaker{}, calls: map[string]*call{}}
	early := d.early
	d.early, d.earlyBytes = nil, 0
	for _, u := range early {
		_ = d.show(d.turn, u, t) // a chunk of another form holds nothing
	}
	return d.turn
}

// part makes a part of a message of a block. Its bytes may be in the address itself.
func (b block) part() trace.InputPart {
	r := b.Resource
	p := trace.InputPart{Type: trace.InputFile, URL: b.URI, MediaType: b.MimeType, Filename: cmp.Or(b.Name, base(cmp.Or(b.URI, r.URI)))}
	switch {
	case b.Type == "text":
		return trace.InputPart{Type: trace.InputText, Text: string(b.Text)}
	case b.Data != "":
		p.URL = "data:" + b.MimeType + ";base64," + b.Data
	case r.Text != nil:
		p.MediaType = cmp.Or(r.MimeType, "text/plain")
		p.URL = "data:text/plain;charset=utf-8," + url.PathEscape(string(*r.Text))
	case r.Blob != "":
		p.MediaType = r.MimeType
		p.URL = "data:" + r.MimeType + ";base64," + r.Blob
	}
	p.MediaType = cmp.Or(p.MediaType, "application/octet-stream")
	return p
}

func base(uri string) string { return uri[strings.LastIndex(uri, "/")+1:] }

// ended takes the reply to a prompt. In this version of the protocol the reply ends
// the turn.
func (d *Decoder) ended(m jsonrpc.Message, t agent.Turns) error {
	first := len(d.prompts) > 0 && d.prompts[0].id == string(m.ID)
	d.prompts = slices.DeleteFunc(d.prompts, func(p prompt) bool { return p.id == string(m.ID) })
	var r struct {
		StopReason string `json:"stopReason"`
		Usage      usage  `json:"usage"`
		Meta       raw    `json:"_meta"`
		Error      raw    `json:"error"`
		Message    text   `json:"message"`
	}
	err := decode(m.Result, &r)
	c := d.current(t)
	if c == nil || !first {
		return err
	}
	beside := parse[meta](r.Meta)
	d.usage(c, r.Usage, beside, t)
	why := cmp.Or(httpjson.Sentence(r.Error), string(r.Message), httpjson.Sentence(parse[map[string]raw](r.Meta)["error"]))
	end := c.stopFor(r.StopReason, why)
	switch {
	case m.Error != nil:
		end = d.failure(*m.Error)
	case end.Outcome == trace.OutcomeCompleted:
		end = d.recognize(c, beside, end)
	}
	d.endTurn(c, end)
	if len(d.prompts) > 0 {
		d.begin(t)
	}
	d.recordMissed(c, t)
	return err
}

// endTurn ends a turn. The Builder closes what is open.
func (d *Decoder) endTurn(c *turn, end trace.Stop) {
	c.release(end.Error)
	for id, r := range d.theirs {
		if r.ask != nil && r.ask.Turn() == c.b.Turn() {
			d.theirs[id] = their{} // until its reply is sent
		}
	}
	if c.stopped { // whatever an agent makes of it
		end = stopOf("cancelled")
	}
	c.b.End(end)
	d.leave()
}

// stopFor is the end of a turn by the agent's reason. Many agents have reasons that the protocol does not have:
// those that tell of a failure fail the turn, and the others are shown. why is what the agent says beside the reason.
func (c *turn) stopFor(reason, why string) trace.Stop {
	end := stopOf(reason)
	class := trace.ClassOfWord(reason)
	switch word := folded(reason); {
	case end.Outcome == trace.OutcomeFailed:
		if why != "" {
			end.Error = strings.TrimSuffix(end.Error, ".") + ": " + sentence(why)
		}
	case end.Outcome == trace.OutcomeCanceled, slices.Contains([]string{"", "endturn", "maxtokens"}, word):
	case class != "", strings.Contains(word, "error"), strings.Contains(word, "fail"), strings.Contains(word, "exception"):
		if why == "" && c.held != nil {
			why = c.held.text
		}
		end.Outcome, end.Class = trace.OutcomeFailed, cmp.Or(class, classOfText(why))
		end.Error = cmp.Or(sentence(why), fmt.Sprintf("The agent ended its turn with the reason %q, and does not say what went wrong: see its log, or ask again.", short(reason)))
	default:
		c.b.Emit(trace.Notice("stop_reason", strings.TrimSpace(fmt.Sprintf("The agent ended its turn with the reason %q, which the protocol does not have, so its answer may be incomplete. %s", short(reason), sentence(why)))))
	}
	return end
}

// stopOf is the end of a turn by a reason of the protocol.
func stopOf(reason string) trace.Stop {
	switch reason {
	case "cancelled", "canceled":
		return trace.Stop{Reason: reason, Outcome: trace.OutcomeCanceled}
	case "max_turn_requests":
		return trace.Stop{Reason: reason, Outcome: trace.OutcomeFailed, Class: trace.ClassLimit, Error: "The agent stopped because it reached its limit of model calls."}
	case "refusal":
		return trace.Stop{Reason: reason, Outcome: trace.OutcomeFailed, Error: "The model refused to go on."}
	default:
		return trace.Stop{Reason: cmp.Or(reason, "end_turn"), Outcome: trace.OutcomeCompleted}
	}
}
