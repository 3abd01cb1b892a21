package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"
)

// record is a line of the trace, as far as the checks need it.
type record struct {
	Turn    string `json:"turn"`
	Seq     uint64 `json:"seq"`
	ID      string `json:"id"`
	Parent  string `json:"parent_id"`
	Type    string `json:"type"`
	Payload struct {
		Message struct {
			ID string `json:"id"`
		} `json:"message"`
		MessageID string          `json:"message_id"`
		Role      string          `json:"role"`
		Text      string          `json:"text"`
		CallID    string          `json:"tool_call_id"`
		Output    json.RawMessage `json:"output"`
	} `json:"payload"`
}

// traceIndex is an index of a session's trace, from some record on.
type traceIndex struct {
	last    uint64
	prompts map[string][]string // turns, by the id of the user message
	replies map[string][]string // turns, by the id of the assistant message
	turns   map[string]*indexedTurn
	order   []string // of the turns
}

// indexedTurn is a turn in a book.
type indexedTurn struct {
	summary

	records, stops int
	after          bool // records follow the stop
}

// audit reads the trace of a session and counts its own faults: ids that come twice, numbers that do
// not grow, turns without exactly one stop. A prompt that waited when its gateway died has none yet: it is held.
func (g *gateway) audit(ctx context.Context, c *results, session string, after uint64) (*traceIndex, error) {
	path := "/api/sessions/" + url.PathEscape(session) + "/trace?deltas=1&after=" + strconv.FormatUint(after, 10)
	body, err := g.read(ctx, path)
	if err != nil {
		return nil, err
	}
	b := &traceIndex{last: after, prompts: map[string][]string{}, replies: map[string][]string{}, turns: map[string]*indexedTurn{}}
	ids := map[string]bool{}
	for line := range bytes.Lines(body) {
		var r record
		if err := json.Unmarshal(line, &r); err != nil {
			c.failed("%s: the record %.200s cannot be read: %v", session, line, err)
			continue
		}
		if ids[r.ID] {
			c.doubled("%s: the record %s comes twice", session, r.ID)
		}
		ids[r.ID] = true
		if r.Seq <= b.last {
			c.doubled("%s: the number %d of record %s comes after %d", session, r.Seq, r.ID, b.last)
		}
		b.last = max(b.last, r.Seq)
		if r.Turn != "" {
			b.add(r)
		}
	}
	held, err := g.held(ctx, session)
	if err != nil {
		return nil, err
	}
	for id, t := range b.turns {
		switch {
		case t.stops == 0 && held[id] && t.records == 1:
		case t.stops == 0:
			c.failed("%s: turn %s has %d records and no stop", session, id, t.records)
		case t.stops > 1:
			c.doubled("%s: turn %s has %d stops", session, id, t.stops)
		case t.after:
			c.failed("%s: turn %s has records after its stop", session, id)
		}
	}
	return b, nil
}

// held are the turns whose prompts wait until somebody continues the queue of a session.
func (g *gateway) held(ctx context.Context, session string) (map[string]bool, error) {
	body, err := g.read(ctx, "/api/sessions/"+url.PathEscape(session)+"/queue")
	if err != nil {
		return nil, err
	}
	var answer struct {
		Queue []struct {
			Turn string `json:"turn"`
			Held bool   `json:"held"`
		} `json:"queue"`
	}
	held := map[string]bool{}
	err = json.Unmarshal(body, &answer)
	for _, q := range answer.Queue {
		held[q.Turn] = q.Held
	}
	return held, err
}

func (b *traceIndex) add(r record) {
	t := b.turns[r.Turn]
	if t == nil {
		t = &indexedTurn{summary: summary{outputs: map[string]string{}}}
		b.turns[r.Turn] = t
		b.order = append(b.order, r.Turn)
	}
	t.records++
	t.after = t.after || t.stops > 0
	switch r.Type {
	case "prompt":
		b.prompts[r.Payload.Message.ID] = append(b.prompts[r.Payload.Message.ID], r.Turn)
	case "reply":
		b.replies[r.Payload.MessageID] = append(b.replies[r.Payload.MessageID], r.Turn)
		t.message = r.Payload.MessageID
	case "message":
		if r.Parent != "" { // a sub-agent's text
			return
		}
		t.text += r.Payload.Text
	case "tool_result":
		t.outputs[r.Payload.CallID] = string(r.Payload.Output)
	case "stop":
		t.stops++
	}
}

// historyPage is the history of a session: its messages by id, and the number of times that each occurs.
type historyPage struct {
	times    map[string]int
	messages map[string]summary
}

// history reads the last turns of a session as an app shows them.
func (g *gateway) history(ctx context.Context, session string, turns int) (historyPage, error) {
	body, err := g.read(ctx, fmt.Sprintf("/api/sessions/%s/messages?limit=%d", url.PathEscape(session), min(1000, turns)))
	if err != nil {
		return historyPage{}, err
	}
	var messages []struct {
		ID    string `json:"id"`
		Parts []struct {
			Type   string          `json:"type"`
			Text   string          `json:"text"`
			CallID string          `json:"toolCallId"`
			Output json.RawMessage `json:"output"`
		} `json:"parts"`
	}
	if err := json.Unmarshal(body, &messages); err != nil {
		return historyPage{}, fmt.Errorf("read the history of %s: %w", session, err)
	}
	p := historyPage{times: map[string]int{}, messages: map[string]summary{}}
	for _, m := range messages {
		p.times[m.ID]++
		said := summary{message: m.ID, outputs: map[string]string{}}
		for _, part := range m.Parts {
			switch {
			case part.Type == "text":
				said.text += part.Text
			case part.CallID != "" && part.Output != nil:
				said.outputs[part.CallID] = string(part.Output)
			}
		}
		p.messages[m.ID] = said
	}
	return p, nil
}

// holds returns the part of an observation that is missing here, or "".
func (g summary) holds(seen summary) string {
	if !strings.HasPrefix(g.text, seen.text) {
		return fmt.Sprintf("the text %q, the record has %q", tail(seen.text), tail(g.text))
	}
	for call, output := range seen.outputs {
		if g.outputs[call] != output {
			return fmt.Sprintf("the output %.100s of call %s, the record has %.100s", output, call, g.outputs[call])
		}
	}
	return ""
}

func tail(s string) string {
	const last = 60
	return s[max(0, len(s)-last):]
}
