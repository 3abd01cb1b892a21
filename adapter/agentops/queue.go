package agentops

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tributary-dev/tributary/agent"
	wire "github.com/tributary-dev/tributary/agentops"
	"github.com/tributary-dev/tributary/trace"
)

// prompt is somebody's prompt, from when it is known until its turn is over.
type prompt struct {
	id      string // the upstream's; "" until it is known
	own     bool   // it was sent from here
	content string
	channel string
	author  string
	sender  string // of one that was sent from here: the server's id of its user
	parts   []trace.InputPart
	phase   phase
	abort   bool           // it was stopped before it had begun
	stopped bool           // it was withdrawn from here
	renamed bool           // it was taken out of the queue to run now, and comes back with another id
	b       *trace.Builder // the turn that it opened here, if any
	number  int
	answers bool // it may be taken for the answer to a question of its channel

	// Of a prompt whose turn was open before a restart:
	left   bool
	native []string // the upstream's turns that are on record, in order
	texts  int      // how many texts of these were found again
}

// joiner stands between prompts that the session agent collected.
const joiner = "\n\n---\n\n"

// sent takes a prompt of ours. No frame names it until its message comes back.
func (d *Decoder) sent(f wire.Prompt, t agent.Turns) {
	p := &prompt{own: true, content: f.Content, channel: channelOf(f.Channel, f.ThreadID), sender: d.user, phase: sent, b: d.free(t.Current())}
	p.answers = f.ChannelType != "" && f.ChannelType != defaultType && d.asked(p.channel)
	p.parts = inputOf(f.Content, nil)
	for _, a := range f.Attachments {
		p.parts = append(p.parts, trace.InputPart{Type: trace.InputFile, MediaType: a.MIME, URL: a.URL, Filename: a.Filename})
	}
	if e := d.newest; e != nil && !e.own && p.b == nil && e.phase <= running && d.isBack(e, p) {
		e.own = true // in a recording by HTTP its message came first
		return
	}
	d.keep(p)
}

// asked reports whether a question is open in a channel.
func (d *Decoder) asked(channel string) bool {
	for _, a := range d.asks {
		if a.question && a.run.channel == channel {
			return true
		}
	}
	return false
}

// free returns a turn that no prompt has, or nil.
func (d *Decoder) free(b *trace.Builder) *trace.Builder {
	if b == nil || b.Over() || d.fate(b) != 0 {
		return nil
	}
	return b
}

// The bounds of the prompts that are kept.
const (
	mostPrompt = 256
	mostWords  = 16 << 20 // of others' prompts
)

// keep remembers a prompt. If there are too many, or those of others are too large, the oldest
// of another user goes that never ran.
func (d *Decoder) keep(p *prompt) {
	d.prompts = append(d.prompts, p)
	d.count++
	p.number = d.count
	for {
		size, oldest := 0, -1
		for i, o := range d.prompts[:len(d.prompts)-1] {
			if !o.own {
				size += o.size()
			}
			if oldest < 0 && !o.own && o.phase <= given {
				oldest = i
			}
		}
		many, large := len(d.prompts) > mostPrompt, !p.own && size+p.size() > mostWords
		if !many && (!large || oldest < 0) {
			return
		}
		oldest = max(oldest, 0)
		d.prompts = slices.Delete(d.prompts, oldest, oldest+1)
	}
}

// size is about the memory that a prompt takes up.
func (p *prompt) size() int {
	n := len(p.content)
	for _, part := range p.parts {
		n += len(part.URL)
	}
	return n
}

// isBack reports whether a message is that of a prompt of ours. A prompt that was sent to no
// channel may have got one.
func (d *Decoder) isBack(back, p *prompt) bool {
	who := cmp.Or(p.sender, d.user)
	return (back.author == "" || who == "" || back.author == who) && (back.channel == p.channel || p.channel == "") &&
		(strings.TrimSpace(back.content) == strings.TrimSpace(p.content) || strings.HasPrefix(back.content, p.content+joiner))
}

// promptFrom makes a prompt of a user's message.
func (d *Decoder) promptFrom(m wire.Message) *prompt {
	return &prompt{
		id: m.ID, content: string(m.Content), channel: channelOf(m.Channel, m.ThreadID), author: m.AuthorID,
		parts: inputOf(string(m.Content), m.Parts), phase: sent,
	}
}

// userMessage takes a user's message, which the server shows when it gives the prompt to the
// agent. The message is the end of nothing: promptDequeued is.
func (d *Decoder) userMessage(m wire.Message) {
	p := d.byID(m.ID)
	_, past := d.turns[m.ID]
	if past || len(m.ID) > longestID || p != nil && p.phase >= given {
		return
	}
	if p != nil {
		p.author = m.AuthorID
	} else if back := d.promptFrom(m); !d.mine(back) { // somebody else's
		d.keep(back)
	}
	p = d.byID(m.ID)
	d.give(p)
	d.prompts = append(slices.DeleteFunc(d.prompts, func(o *prompt) bool { return o == p }), p)
	d.newest = p
}

// give notes that the agent has a prompt. An error that comes later is that of the prompt.
func (d *Decoder) give(p *prompt) {
	p.on(shown)
	d.lastErr = ""
}

// mine finds the prompt of ours that came back, which has its id from now on. Of equal ones the
// first that was sent is meant.
func (d *Decoder) mine(back *prompt) bool {
	for _, p := range d.prompts {
		if p.own && p.nameless() && d.isBack(back, p) {
			p.id, p.author, p.channel, p.renamed = back.id, back.author, back.channel, false
			return true
		}
	}
	return false
}

// nameless reports whether the id by which a prompt comes back is not known.
func (p *prompt) nameless() bool { return (p.id == "" || p.renamed) && p.phase <= queued }

// drop forgets a prompt.
func (d *Decoder) drop(p *prompt) {
	d.prompts = slices.DeleteFunc(d.prompts, func(o *prompt) bool { return o == p })
	if p.id != "" {
		d.forget(p.id)
	}
}

func (d *Decoder) byID(id string) *prompt {
	if i := slices.IndexFunc(d.prompts, func(p *prompt) bool { return p.id == id }); i >= 0 && id != "" {
		return d.prompts[i]
	}
	return nil
}

// queueState takes which prompt waits. A prompt that waits no more, and was neither given to the
// agent nor withdrawn, is to run now: the server makes a new prompt of it.
func (d *Decoder) queueState(pending *wire.PendingPrompt) {
	d.theirs = false
	if pending == nil {
		for _, p := range d.prompts {
			p.renamed = p.renamed || p.own && p.id != "" && p.phase == queued
		}
		return
	}
	p := d.queuedPrompt(*pending)
	if d.theirs = p == nil || !p.own; !d.theirs {
		p.on(waits)
	}
}

// queuedPrompt finds the prompt that waits. Its id is known from now on.
func (d *Decoder) queuedPrompt(f wire.PendingPrompt) *prompt {
	if p := d.byID(f.MessageID); p != nil || len(f.MessageID) > longestID {
		return p
	}
	for _, p := range d.prompts {
		if p.own && p.nameless() && strings.TrimSpace(p.content) == strings.TrimSpace(f.Content) {
			p.id, p.renamed = f.MessageID, false
			return p
		}
	}
	return nil
}

// queued notes that the newest prompt of ours waits.
func (d *Decoder) queued(reason string) {
	d.asleep = d.asleep || reason == wire.QueueWaking
	if d.theirs {
		return
	}
	for _, p := range slices.Backward(d.prompts) {
		if p.own && p.phase == sent {
			p.on(waits)
			return
		}
	}
}

// dequeued notes that the agent was given a prompt. What it was given before is over, unless it
// was given the same once more.
func (d *Decoder) dequeued(t agent.Turns) {
	d.unseen, d.asleep = false, false
	next := d.justShown()
	if next == nil && d.redispatched() {
		return
	}
	for _, r := range slices.Clone(d.runs) {
		if r.prompt == nil || r.prompt != next {
			d.cut(r)
		}
	}
	d.unbegun(next, t)
	if next == nil { // the turn of a prompt that waited may never be seen
		d.unseen = slices.ContainsFunc(d.prompts, func(p *prompt) bool { return p.phase == queued })
	}
}

// justShown is the prompt whose message came last, if the agent has said nothing since.
func (d *Decoder) justShown() *prompt {
	if p := d.newest; p != nil && p.phase == given {
		return p
	}
	return nil
}

// unbegun ends the prompts that the agent was given, except one, and whose turns never began.
func (d *Decoder) unbegun(except *prompt, t agent.Turns) {
	for _, p := range slices.Clone(d.prompts) {
		switch {
		case p.phase != given || p == except:
		case p.b == nil:
			p.on(ends)
			d.drop(p)
		case p.abort:
			d.failPrompt(p, stopped(), t)
		default:
			d.failPrompt(p, trace.Stop{Reason: endTurn, Outcome: trace.OutcomeCompleted}, t)
		}
	}
}

// withdraw ends a prompt that will not run.
func (d *Decoder) withdraw(p *prompt) {
	p.on(withdraws)
	d.drop(p)
	switch {
	case p.b == nil:
	case p.stopped:
		p.b.End(stopped())
	default:
		p.b.End(trace.Stop{Reason: "withdrawn", Outcome: trace.OutcomeCanceled, Error: "The prompt was taken back, or another took its place, before it ran."})
	}
}

// info is what a turn begins with.
func (p *prompt) info() agent.TurnInfo {
	id := cmp.Or(p.id, fmt.Sprintf("prompt-%d", p.number))
	return agent.TurnInfo{Prompt: &trace.Prompt{Message: trace.UserMessage{ID: id, Parts: p.parts}, By: p.author, Channel: p.channel}}
}

// inputOf makes the parts of a prompt.
func inputOf(content string, parts wire.Parts) []trace.InputPart {
	var in []trace.InputPart
	if content != "" {
		in = append(in, trace.InputPart{Type: trace.InputText, Text: content})
	}
	for _, p := range parts {
		if p.Data != "" {
			in = append(in, trace.InputPart{Type: trace.InputFile, MediaType: p.MIMEType, URL: dataURL(p.MIMEType, p.Data), Filename: p.Filename})
		}
	}
	return in
}
