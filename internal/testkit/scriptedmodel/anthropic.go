package scriptedmodel

import (
	"encoding/json"
	"net/http"
	"strings"
)

// anthropic is the Anthropic Messages API: requests and side calls. How an
// answer is streamed is in anthropic_stream.go.
type anthropic struct{}

type anthropicRequest struct {
	Model    string `json:"model"`
	Stream   bool   `json:"stream"`
	Messages []struct {
		Role    string           `json:"role"`
		Content anthropicContent `json:"content"`
	} `json:"messages"`
	Tools []struct {
		Name   string `json:"name"`
		Schema schema `json:"input_schema"`
	} `json:"tools"`
}

// anthropicContent is a string or a list of blocks; a string becomes one block.
type anthropicContent []anthropicBlock

type anthropicBlock struct {
	Type    string           `json:"type"`
	Text    string           `json:"text"`
	Content anthropicContent `json:"content"` // of a tool_result
}

func (c *anthropicContent) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil {
		*c = anthropicContent{{Type: "text", Text: text}}
		return nil
	}
	var blocks []anthropicBlock
	if err := json.Unmarshal(data, &blocks); err != nil {
		return err
	}
	*c = blocks
	return nil
}

func (c anthropicContent) text() string {
	var parts []string
	for _, b := range c {
		if b.Type == "text" {
			parts = append(parts, b.Text)
		}
	}
	return strings.Join(parts, "\n")
}

func (anthropic) route(r *http.Request) kind {
	path := strings.TrimSuffix(r.URL.Path, "/")
	switch {
	case r.Method == http.MethodPost && strings.HasSuffix(path, "/v1/messages"):
		return kindAnswer
	case r.Method == http.MethodPost && strings.HasSuffix(path, "/v1/messages/count_tokens"),
		r.Method == http.MethodGet && (strings.HasSuffix(path, "/v1/models") || strings.Contains(path, "/v1/models/")):
		return kindSide
	}
	return kindForeign
}

func (anthropic) read(_ *http.Request, body []byte) (asked, error) {
	var req anthropicRequest
	if err := json.Unmarshal(body, &req); err != nil {
		return asked{}, err
	}
	c := asked{model: req.Model, stream: req.Stream}
	for _, t := range req.Tools {
		c.Tools = append(c.Tools, t.Schema.tool(t.Name))
	}
	for _, m := range req.Messages {
		turn := Turn{Role: Role(m.Role), Text: m.Content.text()}
		for _, b := range m.Content {
			switch b.Type {
			case "tool_use":
				turn.Calls++
			case "tool_result":
				turn.Results = append(turn.Results, b.Content.text())
			}
		}
		if turn.Role == RoleUser && turn.Text == "" && len(turn.Results) > 0 {
			turn.Role = RoleTool
		}
		c.Turns = append(c.Turns, turn)
	}
	return c, nil
}

func (anthropic) side(w http.ResponseWriter, r *http.Request, body []byte) {
	model := func(id string) map[string]any {
		return map[string]any{
			"type": "model", "id": id, "display_name": id, "created_at": "2026-01-01T00:00:00Z", // Anthropic's
			"object": "model", "created": created, "owned_by": "scripted", // OpenAI's
		}
	}
	_, id, one := strings.Cut(r.URL.Path, "/v1/models/")
	switch {
	case strings.HasSuffix(r.URL.Path, "/count_tokens"):
		writeJSON(w, http.StatusOK, map[string]any{"input_tokens": len(body)/4 + 1})
	case one:
		writeJSON(w, http.StatusOK, model(id))
	default:
		writeJSON(w, http.StatusOK, map[string]any{"object": "list", "data": []any{model("scripted-1")}, "has_more": false, "first_id": "scripted-1", "last_id": "scripted-1"})
	}
}

func (anthropic) refuse(w http.ResponseWriter, status int, message string) {
	writeJSON(w, status, anthropicError(anthropicErrorType(status), message))
}

func anthropicError(kind, message string) map[string]any {
	return map[string]any{"type": "error", "error": map[string]any{"type": kind, "message": message}}
}

func anthropicErrorType(status int) string {
	switch status {
	case http.StatusBadRequest:
		return "invalid_request_error"
	case http.StatusUnauthorized:
		return "authentication_error"
	case http.StatusForbidden:
		return "permission_error"
	case http.StatusNotFound:
		return "not_found_error"
	case http.StatusRequestEntityTooLarge:
		return "request_too_large"
	case http.StatusTooManyRequests:
		return "rate_limit_error"
	case 529:
		return "overloaded_error"
	}
	return "api_error"
}
