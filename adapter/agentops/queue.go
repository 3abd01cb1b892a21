package agentops

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tributary-dev/tributary/adapter/agentops/wire"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/trace"
)

// joiner stands between prompts that the session agent collected.
const joiner = "\n\n---\n\n"

// sent takes a prompt of this gateway. No frame has its id until its message comes back.
func (d *Decoder) sent(f wire.Prompt, to agent.Turns) {
	p := &turn{own: true, content: f.Content, channel: f.Channel.Name(f.ThreadID), sender: d.user, phase: sent, b: d.free(to.Current())}
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
		if a.question && a.turn.channel == channel {
			return true
		}
	}
	return false
}

// keep remembers a prompt. If there are too many, or those of others are too large, the oldest
// goes that does not run, those of others first.
func (d *Decoder) keep(p *turn) {
	d.count++
	p.number = d.count
	for {
		size, oldest := p.size(), -1
		for i, o := range d.turns {
			if !o.own {
				size += o.size()
			}
			if !o.runs() && (oldest < 0 || !o.own && d.turns[oldest].own) {
				oldest = i
			}
		}
		large := !p.own && size > mostWords && oldest >= 0 && !d.turns[oldest].own
		if oldest < 0 || len(d.turns) < mostPrompt && !large {
			break
		}
		d.turns = slices.Delete(d.turns, oldest, oldest+1)
	}
	d.turns = append(d.turns, p)
}

// size is about the memory that a prompt takes up.
func (t *turn) size() int {
	n := len(t.content)
	for _, part := range t.parts {
		n += len(part.URL)
	}
	return n
}

// isBack reports whether a message belongs to our prompt p. A prompt without a channel may have
// got one.
func (d *Decoder) isBack(back, p *turn) bool {
	who := cmp.Or(p.sender, d.user)
	return (back.author == "" || who == "" || back.author == who) && (back.channel == p.channel || p.channel == "") &&
		(strings.TrimSpace(back.content) == strings.TrimSpace(p.content) || strings.HasPrefix(back.content, p.content+joiner))
}

// promptFrom makes a prompt of a user's message.
func (d *Decoder) promptFrom(m wire.Message) *turn {
	return &turn{
		id: m.ID, content: string(m.Content), channel: m.Channel.Name(m.ThreadID), author: m.AuthorID,
		parts: inputOf(string(m.Content), m.Parts), phase: sent, since: m.CreatedAt,
	}
}

// userMessage takes a user's message, which the server shows when it gives the prompt to the
// agent. The message is the end of nothing: promptDequeued is.
func (d *Decoder) userMessage(m wire.Message) {
	p := d.byID(m.ID)
	_, past := d.messages[m.ID]
	if past || len(m.ID) > longestID || p != nil && p.phase >= given {
		return
	}
	if p != nil {
		p.author, p.since = m.AuthorID, m.CreatedAt
	} else if back := d.promptFrom(m); !d.claim(back) { // somebody else's
		d.keep(back)
	}
	p = d.byID(m.ID)
	d.give(p)
	d.turns = append(slices.DeleteFunc(d.turns, func(o *turn) bool { return o == p }), p)
	d.newest = p
}

// give notes that the agent has a prompt. An error that comes later is that of the prompt.
func (d *Decoder) give(p *turn) {
	p.on(shown)
	d.lastErr = ""
}

// claim gives our prompt that a message belongs to the id of the message. Of equal prompts the
// first one is meant.
func (d *Decoder) claim(back *turn) bool {
	for _, p := range d.turns {
		if p.own && p.nameless() && d.isBack(back, p) {
			p.id, p.author, p.channel, p.since = back.id, back.author, back.channel, back.since
			p.on(named)
			return true
		}
	}
	return false
}

// nameless reports whether the id by which a prompt comes back is not known.
func (t *turn) nameless() bool { return t.id == "" && t.phase < given || t.phase == promoted }

// queueState takes which prompt waits. A prompt that waits no more, and was neither given to the
// agent nor withdrawn, is to run now: the server makes a new prompt of it.
func (d *Decoder) queueState(pending *wire.PendingPrompt) {
	d.theirs = false
	if pending == nil {
		for _, p := range d.turns {
			if p.own && p.id != "" {
				p.on(promotes)
			}
		}
		return
	}
	p := d.queuedPrompt(*pending)
	if d.theirs = p == nil || !p.own; !d.theirs {
		p.on(waits)
	}
}

// queuedPrompt finds the prompt that waits. Its id is known from now on.
func (d *Decoder) queuedPrompt(f wire.PendingPrompt) *turn {
	if p := d.byID(f.MessageID); p != nil || len(f.MessageID) > longestID {
		return p
	}
	for _, p := range d.turns {
		if p.own && p.nameless() && strings.TrimSpace(p.content) == strings.TrimSpace(f.Content) {
			p.id = f.MessageID
			p.on(named)
			return p
		}
	}
	return nil
}

// waits notes that our newest prompt waits.
func (d *Decoder) waits(reason string) {
	d.asleep = d.asleep || reason == wire.QueueWaking
	if d.theirs {
		return
	}
	for _, p := range slices.Backward(d.turns) {
		if p.own && p.phase == sent {
			p.on(waits)
			return
		}
	}
}

// dequeued notes that the agent has got a prompt. The turns before are over, unless the agent
// has got the same prompt again.
func (d *Decoder) dequeued(to agent.Turns) {
	d.unseen, d.asleep = false, false
	next := d.justShown()
	if next == nil && d.redispatched() {
		return
	}
	d.cutAll(next)
	d.cutUnbegun(next, to)
	if next == nil { // the turn of a prompt that waited may never be seen
		d.unseen = d.first((*turn).inQueue) != nil
	}
}

// justShown is the prompt whose message came last, if the agent has said nothing since.
func (d *Decoder) justShown() *turn {
	if p := d.newest; p != nil && p.phase == given {
		return p
	}
	return nil
}

// withdraw ends a prompt that will not run.
func (d *Decoder) withdraw(p *turn) {
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
