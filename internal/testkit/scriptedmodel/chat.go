package scriptedmodel

import (
	"encoding/json"
	"net/http"
	"strings"
)

// chat is OpenAI's Chat Completions API, with the reasoning_content that other
// servers of this API add to it.
type chat struct{}

type chatRequest struct {
	Model         string `json:"model"`
	Stream        bool   `json:"stream"`
	StreamOptions struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
	Messages []struct {
		Role    string     `json:"role"`
		Content openaiText `json:"content"`
		Calls   []struct{} `json:"tool_calls"`
	} `json:"messages"`
	Tools []struct {
		Function struct {
			Name   string `json:"name"`
			Schema schema `json:"parameters"`
		} `json:"function"`
	} `json:"tools"`
}

func (chat) route(r *http.Request) kind {
	if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/chat/completions") {
		return kindAnswer
	}
	return kindForeign
}

func (chat) read(_ *http.Request, body []byte) (asked, error) {
	var req chatRequest
	if err := json.Unmarshal(body, &req); err != nil {
		return asked{}, err
	}
	c := asked{model: req.Model, stream: req.Stream, usage: req.StreamOptions.IncludeUsage}
	for _, t := range req.Tools {
		c.Tools = append(c.Tools, t.Function.Schema.tool(t.Function.Name))
	}
	for _, m := range req.Messages {
		turn := Turn{Role: openaiRole(m.Role), Text: string(m.Content), Calls: len(m.Calls)}
		if turn.Role == RoleTool {
			turn.Text, turn.Results = "", []string{turn.Text}
		}
		c.Turns = append(c.Turns, turn)
	}
	return c, nil
}

func (chat) side(http.ResponseWriter, *http.Request, []byte) {}

func (chat) refuse(w http.ResponseWriter, status int, message string) {
	openaiRefuse(w, status, message)
}

func (w chat) answer(s *stage, a Answer) {
	s.w.Header().Set("X-Request-Id", "req_"+a.ID)
	if s.asked.stream {
		w.stream(s, a)
		return
	}
	if !s.whole(a, http.StatusServiceUnavailable, w.refuse) {
		return
	}
	message := map[string]any{"role": "assistant", "content": a.Text}
	if a.Reasoning != "" {
		message["reasoning_content"] = a.Reasoning
	}
	var calls []any
	for i, c := range a.Calls {
		call := w.call(i, c, c.input())
		delete(call, "index")
		calls = append(calls, call)
	}
	if calls != nil {
		message["tool_calls"] = calls
	}
	out := w.completion(s, a, "chat.completion", map[string]any{"index": 0, "message": message, "finish_reason": w.finish(a)})
	out["usage"] = w.usage(s, a)
	writeJSON(s.w, http.StatusOK, out)
}

func (w chat) stream(s *stage, a Answer) {
	s.open()
	chunk := func(choices ...any) bool { return s.event("", w.completion(s, a, "chat.completion.chunk", choices...)) }
	delta := func(d object) bool {
		return chunk(object{"index": 0, "delta": d, "finish_reason": nil}) && s.wait()
	}
	if !delta(object{"role": "assistant", "content": ""}) {
		return
	}
	for _, d := range a.deltas(a.Reasoning) {
		if !delta(object{"reasoning_content": d}) {
			return
		}
	}
	for _, d := range a.deltas(a.Text) {
		if !delta(object{"content": d}) {
			return
		}
	}
	switch a.Break {
	case BreakNone:
	case BreakCut:
		s.cut()
	case BreakEvent:
		s.event("", object{"error": openaiError("server_error", "scripted failure in mid-stream")})
		return
	}
	for i, c := range a.Calls {
		if !delta(object{"tool_calls": []any{w.call(i, c, "")}}) {
			return
		}
		for _, d := range a.inputDeltas(c.input()) {
			if !delta(object{"tool_calls": []any{object{"index": i, "function": object{"arguments": d}}}}) {
				return
			}
		}
	}
	if !chunk(object{"index": 0, "delta": object{}, "finish_reason": w.finish(a)}) {
		return
	}
	if s.asked.usage {
		last := w.completion(s, a, "chat.completion.chunk")
		last["usage"] = w.usage(s, a)
		s.event("", last)
	}
	s.sendEvent("data: [DONE]")
}

func (chat) call(i int, c Call, arguments string) map[string]any {
	return map[string]any{
		"index": i, "id": "call_" + c.ID, "type": "function",
		"function": map[string]any{"name": c.Name, "arguments": arguments},
	}
}

func (chat) completion(s *stage, a Answer, object string, choices ...any) map[string]any {
	if choices == nil {
		choices = []any{}
	}
	return map[string]any{"id": "chatcmpl-" + a.ID, "object": object, "created": created, "model": s.asked.model, "choices": choices}
}

func (chat) finish(a Answer) string {
	if len(a.Calls) > 0 {
		return "tool_calls"
	}
	return "stop"
}

func (chat) usage(s *stage, a Answer) map[string]any {
	in, out := newTokens+s.cachedTokens(), a.tokens()
	return map[string]any{
		"prompt_tokens": in, "completion_tokens": out, "total_tokens": in + out,
		"prompt_tokens_details":     map[string]any{"cached_tokens": s.cachedTokens()},
		"completion_tokens_details": map[string]any{"reasoning_tokens": a.thoughtTokens()},
	}
}
