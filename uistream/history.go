package uistream

import (
	"cmp"
	"fmt"
	"iter"
	"slices"

	"github.com/tributary-dev/tributary/trace"
)

// This file turns records into the messages of a client.

// History returns the messages that the client shows after it has seen the records.
// The users' messages are unchanged. Each assistant message is the reduction of its
// own chunks, so that a reload changes nothing on the screen. Approvals have their
// answers, also those that no chunk tells. A call that ended before anybody decided has no approval. Records of turns that ran at the same time
// may be interleaved; the turns stand in the order in which they began. Messages that a rewind removed are missing. A turn that failed or was
// stopped says so in the metadata and in a last data-error part.
//
// A turn that waits for its user is shown up to there.
//
// Ephemeral records may be missing. A call whose input is still being written
// is left out: a client that resumes would show it twice. So is an answer
// without parts, as a turn has that wrote nothing yet: validateUIMessages of ai
// 6.0.0 and 7.0.0 refuses the whole list for it.
func History(records iter.Seq2[trace.Record, error], o Options) ([]Message, error) {
	h := history{options: o, turns: map[string]*turnHistory{}}
	for r, err := range records {
		if err != nil {
			return nil, fmt.Errorf("read the history: %w", err)
		}
		if err := h.add(r); err != nil {
			return nil, err
		}
	}
	return h.messages(), nil
}

type history struct {
	options Options
	turns   map[string]*turnHistory
	order   []*turnHistory
}

// turnHistory is what became of one turn.
type turnHistory struct {
	options     Options
	translation translation
	upstreamID  string // the upstream's own id of the message that is being written
	messages    []Message
	current     *Reducer // the assistant message that is being written
	at          int      // where it stands in messages
	cut         bool     // taken back, as is all that still comes
}

func (h *history) add(r trace.Record) error {
	if p, ok := r.Payload.(trace.Rewind); ok {
		h.rewind(p.To, r.Turn)
		return nil
	}
	if r.Turn == "" {
		return nil
	}
	t, ok := h.turns[r.Turn]
	if !ok {
		t = &turnHistory{translation: newTranslation(h.options), options: h.options}
		h.turns[r.Turn] = t
		h.order = append(h.order, t)
	}
	if t.cut {
		return nil
	}
	return t.show(r)
}

// show takes a record.
func (t *turnHistory) show(r trace.Record) error {
	if p, ok := r.Payload.(trace.Prompt); ok {
		t.messages = append(t.messages, UserMessage(p.Message))
		return nil
	}
	for _, c := range t.translation.Translate(r) {
		_, starts := c.(Start)
		if t.current == nil && !starts {
			continue // what is said before a message is not kept
		}
		if starts {
			t.save()
			t.upstreamID = ""
			t.current, t.at = &Reducer{}, len(t.messages)
			t.messages = append(t.messages, Message{})
		}
		if err := t.current.Add(c); err != nil {
			return fmt.Errorf("the history of turn %s does not make a message: %w", r.Turn, err)
		}
	}
	if id := t.translation.upstreamID(); id != "" {
		t.upstreamID = id
	}
	if stop, ok := r.Payload.(trace.Stop); ok && t.current != nil {
		t.save()
		t.ended(stop)
		t.current = nil
	}
	return nil
}

// save puts the message that is being written in its place.
func (t *turnHistory) save() {
	if t.current == nil {
		return
	}
	m := t.current.Message()
	if t.upstreamID != "" {
		m.ID = t.upstreamID
	}
	m.Parts = slices.DeleteFunc(m.Parts, func(p Part) bool { return p.State == inputStreaming })
	for i, p := range m.Parts {
		if p.Approval != nil {
			m.Parts[i] = t.translation.keptPart(p)
		}
	}
	t.messages[t.at] = m
}

// ended says on the last message how the turn ended, if not well.
func (t *turnHistory) ended(stop trace.Stop) {
	if t.options.Native {
		return
	}
	m := &t.messages[t.at]
	for i, p := range m.Parts {
		if p.Type == partText && p.State == stateStreaming { // the RFC does not end the text of each turn
			m.Parts[i].State = stateDone
		}
	}
	switch stop.Outcome {
	case trace.OutcomeFailed:
		if t.options.RFC { // else its stream has said so
			m.add(stop, failed(stop))
		}
	case trace.OutcomeCanceled:
		m.add(stop, cmp.Or(stop.Error, "The turn was stopped."))
	case trace.OutcomeCompleted:
	}
}

// add says on a message how its turn ended.
func (m *Message) add(stop trace.Stop, text string) {
	m.Metadata = mergeMetadata(m.Metadata, outcome(stop))
	d := errorData(text, stop.Reason)
	m.Parts = append(m.Parts, Part{Type: d.Type(), Data: d.Value})
}

// rewind removes the message and all that follows it, but not the messages of the
// turn that asked for it. Later messages of a running turn are removed too.
func (h *history) rewind(to, by string) {
	for i, t := range h.order {
		t.save()
		at := slices.IndexFunc(t.messages, func(m Message) bool { return m.ID == to })
		if at < 0 || by != "" && t == h.turns[by] {
			continue
		}
		t.messages, t.current, t.cut = t.messages[:at], nil, true
		for _, later := range h.order[i+1:] {
			if by == "" || later != h.turns[by] {
				later.messages, later.current, later.cut = nil, nil, true
			}
		}
		return
	}
}

func (h *history) messages() []Message {
	all := []Message{}
	for _, t := range h.order {
		t.save()
		for _, m := range t.messages {
			if m.Role == roleUser || len(m.Parts) > 0 {
				all = append(all, m)
			}
		}
	}
	return all
}

// UserMessage is a message as the client keeps it.
func UserMessage(u trace.UserMessage) Message {
	m := Message{ID: u.ID, Role: roleUser, Parts: []Part{}}
	if len(u.Metadata) > 0 {
		m.Metadata = SafeJSON(u.Metadata)
	}
	for _, p := range u.Parts {
		switch p.Type {
		case trace.InputText:
			m.Parts = append(m.Parts, Part{Type: partText, Text: p.Text})
		case trace.InputFile:
			m.Parts = append(m.Parts, Part{Type: partFile, MediaType: p.MediaType, URL: p.URL, Filename: p.Filename})
		}
	}
	return m
}

// User is the message as the trace has a user's: the reverse of UserMessage.
func (m Message) User() trace.UserMessage {
	u := trace.UserMessage{ID: m.ID, Metadata: m.Metadata}
	for _, p := range m.Parts {
		switch p.Type {
		case partText:
			u.Parts = append(u.Parts, trace.InputPart{Type: trace.InputText, Text: p.Text})
		case partFile:
			u.Parts = append(u.Parts, trace.InputPart{Type: trace.InputFile, MediaType: p.MediaType, URL: p.URL, Filename: p.Filename})
		}
	}
	return u
}
