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
	sender  string // of one that was sent from here: who we were
	parts   []trace.InputPart
	phase   phase
	abort   bool           // it was to stop before it had begun
	stopped bool           // it was withdrawn from here
	renamed bool           // it was taken out of the queue to run now, and comes back with another id
	b       *trace.Builder // the turn that it opened here, if any
	number  int
	answers bool // it would be taken for the answer to what its channel is asked

	// Of one whose turn was open before a restart:
	left   bool
	native []string // the upstream's turns that are on record, in order
	texts  int      // how many texts of these were found again
}

// joiner stands between prompts that the session agent collected.
const joiner = "\n\n---\n\n"

// sent takes a prompt of ours. Nothing names it until its message comes back.
func (d *Decoder) sent(f wire.Prompt, t agent.Turns) {
	p := &prompt{own: true, content: f.Content, channel: f.Channel.Name(f.ThreadID), sender: d.user, phase: sent, b: d.free(t.Current())}
	p.answers = f.ChannelType != "" && f.ChannelType != defaultType && d.asked(p.channel)
	p.parts = inputOf(f.Content, nil)
	for _, a := range f.Attachments {
		p.parts = append(p.parts, trace.InputPart{Type: trace.InputFile, MediaType: a.MIME, URL: a.URL, Filename: a.Filename})
	}
	if e := d.lastSeen; e != nil && !e.own && p.b == nil && d.sentBy(p, e) && e.phase <= running && e.is(p) {
		e.own = true // it was quicker than the word that it was sent
		return
	}
	d.keep(p)
}

// free returns a turn that no prompt has, or nil.
func (d *Decoder) free(b *trace.Builder) *trace.Builder {
	taken := func(p *prompt) bool { return p.b != nil && p.b.Turn() == b.Turn() }
	if b == nil || b.Over() || slices.ContainsFunc(d.prompts, taken) ||
		slices.ContainsFunc(d.runs, func(r *run) bool { return r.b != nil && r.b.Turn() == b.Turn() }) {
		return nil
	}
	return b
}

// keep remembers a prompt. Of very many the oldest goes that never ran, and of others'
// that are very large: the newest of them may be what runs.
func (d *Decoder) keep(p *prompt) {
	waits := func(o *prompt) bool { return !o.own && o.phase <= given }
	if len(d.prompts) >= mostPrompt {
		i := max(0, slices.IndexFunc(d.prompts, waits))
		d.prompts = slices.Delete(d.prompts, i, i+1)
	}
	for size := d.words(p); !p.own && size > mostWords; size = d.words(p) {
		i := slices.IndexFunc(d.prompts, waits)
		if i < 0 {
			break
		}
		d.prompts = slices.Delete(d.prompts, i, i+1)
	}
	d.count++
	p.number = d.count
	d.prompts = append(d.prompts, p)
}

// words is about what the prompts of others take up, with one more.
func (d *Decoder) words(more *prompt) int {
	n := 0
	for _, p := range append([]*prompt{more}, d.prompts...) {
		if p.own {
			continue
		}
		n += len(p.content)
		for _, part := range p.parts {
			n += len(part.URL)
		}
	}
	return n
}

// sentBy reports whether who sent a prompt may be the author of what came back.
func (d *Decoder) sentBy(mine, back *prompt) bool {
	who := cmp.Or(mine.sender, d.user)
	return back.author == "" || who == "" || back.author == who
}

// is reports whether what came back is the prompt that was sent. One that was sent
// to no channel may have been given one.
func (p *prompt) is(sent *prompt) bool {
	return (p.channel == sent.channel || sent.channel == "") && (strings.TrimSpace(p.content) == strings.TrimSpace(sent.content) || strings.HasPrefix(p.content, sent.content+joiner))
}

// userMessage takes a user's message, which the session agent shows when the prompt is
// given to the agent. It is the end of nothing: promptDequeued tells that the agent has come
// to it.
func (d *Decoder) userMessage(m wire.Message) {
	p := d.byID(m.ID)
	_, past := d.turns[m.ID]
	switch {
	case past, len(m.ID) > longestID, p != nil && p.phase >= given:
		return
	case p != nil:
		p.author = m.AuthorID
	default:
		p = d.match(&prompt{
			id: m.ID, content: string(m.Content), channel: m.Channel.Name(m.ThreadID), author: m.AuthorID,
			parts: inputOf(string(m.Content), m.Parts), phase: sent,
		})
	}
	d.give(p)
	d.prompts = append(slices.DeleteFunc(d.prompts, func(o *prompt) bool { return o == p }), p)
	d.lastSeen = p
}

// give notes that the agent has a prompt. An error that is told from now on is its own.
func (d *Decoder) give(p *prompt) {
	p.on(shown)
	d.lastErr = ""
}

// match finds the prompt of ours that came back with its id; any other is somebody
// else's. Of equal ones the first that was sent is meant.
func (d *Decoder) match(back *prompt) *prompt {
	if p := d.mine(back); p != nil {
		return p
	}
	d.keep(back)
	return back
}

// mine finds the prompt of ours that came back, and has its id from now on.
func (d *Decoder) mine(back *prompt) *prompt {
	for _, p := range d.prompts {
		if p.own && p.nameless() && p.phase <= queued && back.is(p) && d.sentBy(p, back) {
			p.id, p.author, p.channel, p.renamed = back.id, back.author, back.channel, false
			return p
		}
	}
	return nil
}

// drop forgets a prompt.
func (d *Decoder) drop(p *prompt) {
	d.prompts = slices.DeleteFunc(d.prompts, func(o *prompt) bool { return o == p })
	if p.id != "" {
		d.forget(p.id)
	}
}

func (d *Decoder) byID(id string) *prompt {
	if id == "" {
		return nil
	}
	for _, p := range d.prompts {
		if p.id == id {
			return p
		}
	}
	return nil
}

// queue takes the state of the queue: which prompt waits, or does so no more.
func (d *Decoder) queue(f wire.Frame) {
	switch f := f.(type) {
	case wire.QueueState:
		d.theirs = false
		if f.Data.Pending == nil {
			d.promoted()
			return
		}
		p := d.waiting(*f.Data.Pending)
		if d.theirs = p == nil || !p.own; !d.theirs {
			p.on(waits)
		}
	case wire.QueueWithdrawn:
		if p := d.waiting(f.Data); p != nil && p.phase <= given {
			d.withdraw(p)
		}
	}
}

// promoted notes that nothing waits any more. What has waited, and was neither given to the
// agent nor withdrawn, is to run now: the session agent takes it for a new one.
func (d *Decoder) promoted() {
	for _, p := range d.prompts {
		p.renamed = p.renamed || p.own && p.id != "" && p.phase == queued
	}
}

// nameless reports whether the id by which a prompt comes back is not known.
func (p *prompt) nameless() bool { return p.id == "" || p.renamed }

// waiting finds the prompt of ours that waits. Its id is known from now on.
func (d *Decoder) waiting(f wire.PendingPrompt) *prompt {
	if p := d.byID(f.MessageID); p != nil || len(f.MessageID) > longestID {
		return p
	}
	for _, p := range d.prompts {
		if p.own && p.nameless() && p.phase <= queued && strings.TrimSpace(p.content) == strings.TrimSpace(f.Content) {
			p.id, p.renamed = f.MessageID, false
			return p
		}
	}
	return nil
}

// withdraw ends a prompt that will not run.
func (d *Decoder) withdraw(p *prompt) {
	p.on(withdraws)
	d.drop(p)
	switch {
	case p.b == nil:
	case p.stopped:
		p.b.End(stoppedHere())
	default:
		p.b.End(trace.Stop{Reason: "withdrawn", Outcome: trace.OutcomeCanceled, Error: "The prompt was taken back, or another took its place, before it ran."})
	}
}

// info is what a turn begins with.
func (p *prompt) info() agent.TurnInfo {
	id := p.id
	if id == "" {
		id = fmt.Sprintf("prompt-%d", p.number)
	}
	return agent.TurnInfo{Prompt: &trace.Prompt{Message: trace.UserMessage{ID: id, Parts: p.parts}, By: p.author, Channel: p.channel}}
}

// inputOf makes the parts of a prompt.
func inputOf(content string, parts wire.Parts) []trace.InputPart {
	var in []trace.InputPart
	if content != "" {
		in = append(in, trace.InputPart{Type: trace.InputText, Text: content})
	}
	for _, p := range parts {
		if p.Data == "" {
			continue
		}
		in = append(in, trace.InputPart{Type: trace.InputFile, MediaType: p.MIMEType, URL: dataURL(p.MIMEType, p.Data), Filename: p.Filename})
	}
	return in
}
