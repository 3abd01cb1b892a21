package uistream

import (
	"fmt"
	"slices"
	"strings"
)

// This file folds chunks into a message, as the client does.

// Reducer folds the chunks of one message, one by one, as the client does. A Reducer is as
// strict as the oldest client: a chunk that would end the turn there is an error here.
// Transient data leaves no trace. The zero Reducer is ready for use. Parts are added and changed where they are, and removed only at the
// end, so that a place stays good; a turn may have too many to look through them.
type Reducer struct {
	message   Message // without its metadata
	metadata  messageMetadata
	texts     map[string]int   // open parts: where they are
	growing   *strings.Builder // the text that has grown last, so that no delta copies it
	growingAt int              // where its part is
	reasoning map[string]int
	replaced  map[dataPart]int // data that may be replaced
	calls     map[callForm]int // the last part of each call
	approvals map[string][]int // the calls that an approval was asked for
	step      int              // where the current step begins
	writing   map[string]bool  // calls whose input may grow
	failed    string
}

// dataPart tells data that may be replaced from other data.
type dataPart struct{ typ, id string }

// usualParts is how many parts most messages have at most. A part is large, so the
// list had better not be copied as it grows.
const usualParts = 8

// Message returns the message so far.
func (r *Reducer) Message() Message {
	m := r.message
	m.Role, m.Metadata = roleAssistant, r.metadata.json()
	m.Parts = slices.Clone(m.Parts)
	return m
}

// Parts returns the parts so far, as they are: the next Add may change them. The caller must not.
func (r *Reducer) Parts() []Part { return r.message.Parts }

// Failed returns the text of the error chunk, if there was one.
func (r *Reducer) Failed() string { return r.failed }

// Add takes the next chunk.
func (r *Reducer) Add(c Chunk) error {
	_, err := r.add(c)
	return err
}

// none is the place of no part.
const none = -1

// add takes a chunk, and returns the place of the part that it is about, or none.
func (r *Reducer) add(c Chunk) (at int, err error) {
	switch c := c.(type) {
	case Extended:
		return r.extended(c)
	case Other:
		r.other(c)
	case Start:
		return none, r.start(c)
	case StartStep:
		r.step = r.push(Part{Type: partStep}) + 1
	case FinishStep:
		r.texts, r.reasoning = nil, nil
	case TextStart:
		put(&r.texts, c.ID, len(r.message.Parts))
		return r.push(Part{Type: partText, State: stateStreaming}), nil
	case TextDelta:
		return r.grow(r.texts, c.ID, c.Delta)
	case TextEnd:
		return r.end(r.texts, c.ID)
	case ReasoningStart:
		put(&r.reasoning, c.ID, len(r.message.Parts))
		return r.push(Part{Type: partReasoning, ID: c.ID, State: stateStreaming}), nil
	case ReasoningDelta:
		return r.grow(r.reasoning, c.ID, c.Delta)
	case ReasoningEnd:
		return r.end(r.reasoning, c.ID)
	case SourceURL:
		return r.push(Part{Type: partSourceURL, SourceID: c.SourceID, URL: c.URL, Title: c.Title}), nil
	case SourceDocument:
		return r.push(Part{Type: partSourceDoc, SourceID: c.SourceID, MediaType: c.MediaType, Title: c.Title, Filename: c.Filename}), nil
	case File:
		return r.push(Part{Type: partFile, URL: c.URL, MediaType: c.MediaType}), nil
	case Data:
		r.data(c)
	case ToolInputStart:
		put(&r.writing, c.ToolCallID, true)
		return r.input(c.ToolCallID, c.ToolName, c.Title, inputStreaming, nil, c.Form), nil
	case ToolInputDelta:
		if !r.writing[c.ToolCallID] {
			return none, fmt.Errorf("input delta for the call %q, which has not begun", c.ToolCallID)
		}
	case ToolInputAvailable:
		return r.input(c.ToolCallID, c.ToolName, c.Title, inputAvailable, c.Input, c.Form), nil
	case ToolInputError:
		r.input(c.ToolCallID, c.ToolName, c.Title, outputError, c.Input, c.Form)
		return r.tool(c.ToolCallID, func(p *Part) { p.ErrorText = c.ErrorText })
	case ToolOutputAvailable:
		return r.output(c.ToolCallID, c.Form, func(p *Part) {
			p.State, p.Output, p.Preliminary, p.ErrorText = outputAvailable, c.Output, c.Preliminary, ""
		})
	case ToolOutputError:
		return r.output(c.ToolCallID, c.Form, func(p *Part) {
			p.State, p.Output, p.Preliminary, p.ErrorText = outputError, nil, false, c.ErrorText
		})
	case ToolOutputDenied:
		_, err = r.tool(c.ToolCallID, func(p *Part) { p.State = outputDenied })
		return none, err // the clients read no further keys of it
	case ToolApprovalRequest:
		at, err = r.tool(c.ToolCallID, func(p *Part) { p.State, p.Approval = askedApproval, &Approval{ID: c.ApprovalID} })
		if err == nil {
			put(&r.approvals, c.ApprovalID, append(r.approvals[c.ApprovalID], at))
		}
		return at, err
	case ToolApprovalResponse:
		return r.answerApproval(c)
	case Error:
		r.failed = c.ErrorText
	case Abort:
	case Finish:
		r.metadata.merge(c.Metadata)
	}
	return none, nil
}

// start names the message. With another id a client shows the parts so far twice.
func (r *Reducer) start(c Start) error {
	if c.MessageID == "" {
		return nil
	}
	if r.message.ID != "" && r.message.ID != c.MessageID || r.message.ID == "" && len(r.message.Parts) > 0 {
		return fmt.Errorf("start with id %q in the middle of message %q", c.MessageID, r.message.ID)
	}
	r.message.ID = c.MessageID
	return nil
}

// push adds a part, and returns its place.
func (r *Reducer) push(p Part) (at int) {
	if r.message.Parts == nil {
		r.message.Parts = make([]Part, 0, usualParts)
	}
	r.message.Parts = append(r.message.Parts, p)
	return len(r.message.Parts) - 1
}

func (r *Reducer) grow(parts map[string]int, id, delta string) (at int, err error) {
	at, ok := parts[id]
	if !ok {
		return none, fmt.Errorf("delta for the part %q, which is not open", id)
	}
	p := &r.message.Parts[at]
	if r.growing == nil || r.growing.Len() != len(p.Text) || r.growingAt != at {
		r.growing, r.growingAt = &strings.Builder{}, at
		r.growing.WriteString(p.Text)
	}
	r.growing.WriteString(delta)
	p.Text = r.growing.String()
	return at, nil
}

func (r *Reducer) end(parts map[string]int, id string) (at int, err error) {
	at, ok := parts[id]
	if !ok {
		return none, fmt.Errorf("end of the part %q, which is not open", id)
	}
	r.message.Parts[at].State = stateDone
	delete(parts, id)
	return at, nil
}

func (r *Reducer) data(c Data) {
	if c.Transient {
		return
	}
	p := Part{Type: c.Type(), ID: c.ID, Data: c.Value}
	if c.ID != "" {
		name := dataPart{p.Type, c.ID}
		if at, ok := r.replaced[name]; ok {
			r.message.Parts[at] = p
			return
		}
		put(&r.replaced, name, len(r.message.Parts))
	}
	r.push(p)
}
