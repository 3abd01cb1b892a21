// Package markdown writes the history of a session as Markdown, for people to read and keep.
//
// Words of people and agents are quotations, inputs and outputs are fenced, and titles in a line
// are spans of code. So no text reaches beyond its place, whatever the text holds. A page of the
// history is in memory at a time.
package markdown

import (
	"bufio"
	"fmt"
	"io"
	"iter"
	"time"

	"github.com/tributary-dev/tributary/trace"
)

// MostOutput is how much of an input, an output or a diff a transcript has, in bytes.
const MostOutput = 8 << 10

// Head is what a transcript says of its session.
type Head struct {
	Title, Session, Agent, Owner string
	Created                      time.Time
	// Damaged says what of the session is lost on disk, or is empty.
	Damaged string
}

// Begin writes the head.
func Begin(w io.Writer, h Head) error {
	title := h.Title
	if title == "" {
		title = h.Session
	}
	by := ""
	if h.Owner != "" {
		by = " by " + inline(h.Owner)
	}
	_, err := fmt.Fprintf(w, "# %s\n\nSession %s with the agent %s, made%s at %s. Inputs and outputs of tools are cut at %d kB each.\n",
		inline(title), inline(h.Session), inline(h.Agent), by, at(h.Created), MostOutput>>10)
	if err == nil && h.Damaged != "" {
		_, err = fmt.Fprintf(w, "\nSome of this conversation is lost: %s.\n", inline(h.Damaged))
	}
	return wrapped(err)
}

// Write writes the turns of a page of the history, each after the other.
func Write(w io.Writer, agent string, records iter.Seq2[trace.Record, error]) error {
	turns, err := gather(records)
	if err != nil {
		return err
	}
	p := printer{Writer: bufio.NewWriter(w), agent: agent}
	for _, t := range turns {
		p.turn(t)
	}
	return wrapped(p.Flush())
}

func wrapped(err error) error {
	if err != nil {
		err = fmt.Errorf("write a transcript: %w", err)
	}
	return err
}

// turn is the records of a turn, and what answers them.
type turn struct {
	records []trace.Record
	cut     bool // what comes now was removed from the history
	calls   map[string]trace.ToolCall
	results map[string]trace.ToolResult
	answers map[string]trace.Record
	last    map[trace.Kind]int // the place of the last record of a kind
	gone    map[string]bool    // parts that a retry has replaced
}

// gather puts the records of a page together by turn.
func gather(records iter.Seq2[trace.Record, error]) (turns []*turn, err error) {
	byID := map[string]*turn{}
	for r, err := range records {
		if err != nil {
			return nil, fmt.Errorf("read the history: %w", err)
		}
		if back, is := r.Payload.(trace.Rewind); is {
			for _, t := range turns {
				t.rewind(back.To)
			}
			continue
		}
		t := byID[r.Turn]
		if t == nil {
			t = &turn{calls: map[string]trace.ToolCall{}, results: map[string]trace.ToolResult{}, answers: map[string]trace.Record{}, last: map[trace.Kind]int{}, gone: map[string]bool{}}
			byID[r.Turn] = t
			turns = append(turns, t)
		}
		t.take(r)
	}
	return turns, nil
}

// rewind removes a message of the turn and all that follows it there.
func (t *turn) rewind(to string) {
	for i, r := range t.records {
		prompt, _ := r.Payload.(trace.Prompt)
		reply, _ := r.Payload.(trace.Reply)
		if to == prompt.Message.ID || to == reply.MessageID {
			t.records, t.cut = t.records[:i], true
			return
		}
	}
}

func (t *turn) take(r trace.Record) {
	if t.cut {
		return
	}
	t.last[r.Payload.Kind()] = len(t.records)
	t.records = append(t.records, r)
	switch p := r.Payload.(type) { //nolint:gochecksumtype // the others answer nothing
	case trace.ToolCall:
		t.calls[p.ToolCallID] = p
	case trace.ToolResult:
		t.results[p.ToolCallID] = p
	case trace.PermissionResponse:
		t.answers[p.RequestID] = r
	case trace.Answer:
		t.answers[p.QuestionID] = r
	case trace.Message:
		t.gone[p.Part] = p.Superseded
	case trace.Thought:
		t.gone[p.Part] = p.Superseded
	}
}
