package scriptedmodel

import (
	"net/http"
)

// signature stands where the provider signs its reasoning.
const signature = "c2NyaXB0ZWQ="

func (w anthropic) answer(s *stage, a Answer) {
	s.w.Header().Set("Request-Id", "req_"+a.ID)
	if s.asked.stream {
		w.stream(s, a)
		return
	}
	if !s.whole(a, 529, w.refuse) {
		return
	}
	content := []any{}
	for _, b := range w.blocks(a) {
		content = append(content, b.whole)
	}
	m := w.message(s, a)
	m["content"] = content
	m["stop_reason"] = w.stopReason(a)
	m["usage"] = w.usage(s, a.tokens())
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
		p := anthropicPart{
			whole:  map[string]any{"type": "tool_use", "id": "toolu_" + c.ID, "name": c.Name, "input": c.Input},
			start:  map[string]any{"type": "tool_use", "id": "toolu_" + c.ID, "name": c.Name, "input": map[string]any{}},
			deltas: []map[string]any{{"type": "input_json_delta", "partial_json": ""}},
		}
		for _, d := range a.inputDeltas(c.input()) {
			p.deltas = append(p.deltas, map[string]any{"type": "input_json_delta", "partial_json": d})
		}
		out = append(out, p)
	}
	return out
}

func (w anthropic) stream(s *stage, a Answer) {
	s.open()
	if !s.event("message_start", object{"type": "message_start", "message": w.message(s, a)}) ||
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
		"usage": w.usage(s, a.tokens()),
	}) && s.event("message_stop", object{"type": "message_stop"})
}

func (anthropic) fail(s *stage, b Break) {
	if b == BreakCut {
		s.cut()
	}
	s.event("error", anthropicError("overloaded_error", "scripted failure in mid-stream"))
}

func (w anthropic) message(s *stage, a Answer) map[string]any {
	return map[string]any{
		"id": "msg_" + a.ID, "type": "message", "role": "assistant", "model": s.asked.model, "content": []any{},
		"stop_reason": nil, "stop_sequence": nil, "usage": w.usage(s, 1),
	}
}

func (anthropic) stopReason(a Answer) string {
	if len(a.Calls) > 0 {
		return "tool_use"
	}
	return "end_turn"
}

// usage grows with the conversation, so that no two steps cost the same.
func (anthropic) usage(s *stage, output int) map[string]any {
	return map[string]any{
		"input_tokens": newTokens, "cache_creation_input_tokens": 10, "cache_read_input_tokens": s.cachedTokens(), "output_tokens": output,
	}
}
