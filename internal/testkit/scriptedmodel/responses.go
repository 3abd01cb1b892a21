package scriptedmodel

import (
	"encoding/json"
	"net/http"
	"strings"
)

// responses is OpenAI's Responses API. How an answer is streamed is in
// responses_stream.go.
type responses struct{}

type responsesRequest struct {
	Model  string         `json:"model"`
	Stream bool           `json:"stream"`
	Input  responsesInput `json:"input"`
	Tools  []struct {
		Type   string `json:"type"`
		Name   string `json:"name"`
		Schema schema `json:"parameters"`
	} `json:"tools"`
}

// responsesInput is a string or a list of items; a string becomes one message.
type responsesInput []responsesItem

type responsesItem struct {
	Type    string     `json:"type"`
	Role    string     `json:"role"`
	Content openaiText `json:"content"`
	Output  openaiText `json:"output"`
}

func (in *responsesInput) UnmarshalJSON(data []byte) error {
	var text openaiText
	if json.Unmarshal(data, (*string)(&text)) == nil {
		*in = responsesInput{{Role: "user", Content: text}}
		return nil
	}
	var items []responsesItem
	if err := json.Unmarshal(data, &items); err != nil {
		return err
	}
	*in = items
	return nil
}

func (responses) route(r *http.Request) kind {
	if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/responses") {
		return kindAnswer
	}
	return kindForeign
}

func (responses) read(_ *http.Request, body []byte) (asked, error) {
	var req responsesRequest
	if err := json.Unmarshal(body, &req); err != nil {
		return asked{}, err
	}
	c := asked{model: req.Model, stream: req.Stream}
	for _, t := range req.Tools {
		tool := t.Schema.tool(t.Name)
		tool.Freeform = t.Type == "custom"
		c.Tools = append(c.Tools, tool)
	}
	calling := false // the calls of one answer are items of their own, in a row
	for _, item := range req.Input {
		switch {
		case strings.HasSuffix(item.Type, "_call_output"):
			c.Turns = append(c.Turns, Turn{Role: RoleTool, Results: []string{string(item.Output)}})
			calling = false
		case strings.HasSuffix(item.Type, "_call"):
			if !calling {
				c.Turns = append(c.Turns, Turn{Role: RoleAssistant})
			}
			c.Turns[len(c.Turns)-1].Calls++
			calling = true
		case item.Role != "":
			c.Turns = append(c.Turns, Turn{Role: openaiRole(item.Role), Text: string(item.Content)})
			calling = false
		}
	}
	return c, nil
}

func (responses) side(http.ResponseWriter, *http.Request, []byte) {}

func (responses) refuse(w http.ResponseWriter, status int, message string) {
	openaiRefuse(w, status, message)
}

func (w responses) answer(s *stage, a Answer) {
	s.w.Header().Set("X-Request-Id", "req_"+a.ID)
	if s.asked.stream {
		w.stream(s, a)
		return
	}
	if !s.whole(a, http.StatusServiceUnavailable, w.refuse) {
		return
	}
	var output []any
	for _, item := range w.items(a) {
		output = append(output, item.whole)
	}
	writeJSON(s.w, http.StatusOK, w.response(s, a, "completed", output))
}

func (w responses) response(s *stage, a Answer, status string, output []any) map[string]any {
	out := map[string]any{
		"id": "resp_" + a.ID, "object": "response", "created_at": created, "status": status, "model": s.asked.model,
		"output": append([]any{}, output...), "parallel_tool_calls": true, "tools": []any{}, "metadata": map[string]any{},
		"error": nil, "incomplete_details": nil, "usage": nil,
	}
	if status == "completed" {
		out["usage"] = w.usage(s, a)
	}
	return out
}

func (responses) usage(s *stage, a Answer) map[string]any {
	in, out := newTokens+s.cachedTokens(), a.tokens()
	return map[string]any{
		"input_tokens": in, "output_tokens": out, "total_tokens": in + out,
		"input_tokens_details":  map[string]any{"cached_tokens": s.cachedTokens()},
		"output_tokens_details": map[string]any{"reasoning_tokens": a.thoughtTokens()},
	}
}
