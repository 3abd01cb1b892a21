package scriptedmodel

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"
)

// cutDelay gives the client time to read what came before the connection is
// cut: it loses what it has not read by then.
const cutDelay = 50 * time.Millisecond

// signature stands where the provider signs its reasoning.
const signature = "c2NyaXB0ZWQ="

func (w anthropic) answer(s *stage, a Answer) {
	s.w.Header().Set("Request-Id", "req_"+a.ID)
	var req anthropicRequest
	_ = json.Unmarshal(s.body, &req) // read has parsed it before
	if req.Stream {
		w.stream(s, a, req.Model)
		return
	}
	switch a.Break {
	case BreakNone:
	case BreakCut:
		s.cut()
	case BreakEvent:
		w.refuse(s.w, 529, "scripted failure")
		return
	}
	for range a.deltas(a.Text) {
		if a.Pace > 0 && !s.wait() {
			return
		}
	}
	content := []any{}
	for _, b := range w.blocks(a) {
		content = append(content, b.whole)
	}
	m := w.message(a, req.Model, s.turns)
	m["content"] = content
	m["stop_reason"] = w.stopReason(a)
	m["usage"] = w.usage(s.turns, w.words(a))
	writeJSON(s.w, http.StatusOK, m)
}

// A block of an answer, whole and in the pieces in which it is streamed.
type anthropicPart struct {
	whole  map[string]any
	start  map[string]any
	deltas []map[string]any
}

func (anthropic) blocks(a Answer) []anthropicPart {
	var out []anthropicPart
	if a.Reasoning != "" {
		p := anthropicPart{
			whole: map[string]any{"type": "thinking", "thinking": a.Reasoning, "signature": signature},
			start: map[string]any{"type": "thinking", "thinking": "", "signature": ""},
		}
		for _, d := range a.deltas(a.Reasoning) {
			p.deltas = append(p.deltas, map[string]any{"type": "thinking_delta", "thinking": d})
		}
		p.deltas = append(p.deltas, map[string]any{"type": "signature_delta", "signature": signature})
		out = append(out, p)
	}
	if a.Text != "" {
		p := anthropicPart{
			whole: map[string]any{"type": "text", "text": a.Text},
			start: map[string]any{"type": "text", "text": ""},
		}
		for _, d := range a.deltas(a.Text) {
			p.deltas = append(p.deltas, map[string]any{"type": "text_delta", "text": d})
		}
		out = append(out, p)
	}
	for _, c := range a.Calls {
		input, _ := json.Marshal(c.Input) // parsed from JSON, or strings
		p := anthropicPart{
			whole:  map[string]any{"type": "tool_use", "id": "toolu_" + c.ID, "name": c.Name, "input": c.Input},
			start:  map[string]any{"type": "tool_use", "id": "toolu_" + c.ID, "name": c.Name, "input": map[string]any{}},
			deltas: []map[string]any{{"type": "input_json_delta", "partial_json": ""}},
		}
		for _, d := range a.inputDeltas(string(input)) {
			p.deltas = append(p.deltas, map[string]any{"type": "input_json_delta", "partial_json": d})
		}
		out = append(out, p)
	}
	return out
}

func (w anthropic) stream(s *stage, a Answer, model string) {
	type object = map[string]any
	s.open()
	if !s.event("message_start", object{"type": "message_start", "message": w.message(a, model, s.turns)}) ||
		!s.event("ping", object{"type": "ping"}) {
		return
	}
	for i, b := range w.blocks(a) {
		if !s.event("content_block_start", object{"type": "content_block_start", "index": i, "content_block": b.start}) {
			return
		}
		for _, d := range b.deltas {
			if !s.event("content_block_delta", object{"type": "content_block_delta", "index": i, "delta": d}) || !s.wait() {
				return
			}
		}
		if a.Break != BreakNone && b.whole["type"] == "text" {
			w.fail(s, a.Break)
			return
		}
		if !s.event("content_block_stop", object{"type": "content_block_stop", "index": i}) {
			return
		}
	}
	_ = s.event("message_delta", object{
		"type":  "message_delta",
		"delta": object{"stop_reason": w.stopReason(a), "stop_sequence": nil},
		"usage": w.usage(s.turns, w.words(a)),
	}) && s.event("message_stop", object{"type": "message_stop"})
}

func (anthropic) fail(s *stage, b Break) {
	if b == BreakCut {
		s.pace = cutDelay
		s.wait()
		s.cut()
	}
	s.event("error", anthropicError("overloaded_error", "scripted failure in mid-stream"))
}

func (w anthropic) message(a Answer, model string, turns int) map[string]any {
	return map[string]any{
		"id": "msg_" + a.ID, "type": "message", "role": "assistant", "model": model, "content": []any{},
		"stop_reason": nil, "stop_sequence": nil, "usage": w.usage(turns, 1),
	}
}

func (anthropic) stopReason(a Answer) string {
	if len(a.Calls) > 0 {
		return "tool_use"
	}
	return "end_turn"
}

// words counts an answer's output tokens, roughly.
func (w anthropic) words(a Answer) int {
	n := len(strings.Fields(a.Reasoning)) + len(strings.Fields(a.Text)) + 1
	for _, c := range a.Calls {
		n += 10 * len(c.Input)
	}
	return n
}

// usage grows with the conversation, so that no two steps cost the same.
func (anthropic) usage(turns, output int) map[string]any {
	return map[string]any{
		"input_tokens": 100, "cache_creation_input_tokens": 10, "cache_read_input_tokens": 20 * max(turns-1, 0), "output_tokens": output,
	}
}
