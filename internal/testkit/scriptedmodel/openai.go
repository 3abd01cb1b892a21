package scriptedmodel

import (
	"encoding/json"
	"net/http"
	"strings"
)

// The common part of Chat Completions and Responses.

// openaiText is the text of a message: a string, or a list of parts.
type openaiText string

func (t *openaiText) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil {
		*t = openaiText(text)
		return nil
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if err := json.Unmarshal(data, &parts); err != nil {
		return err
	}
	var texts []string
	for _, p := range parts {
		if p.Text != "" {
			texts = append(texts, p.Text)
		}
	}
	*t = openaiText(strings.Join(texts, "\n"))
	return nil
}

// openaiRole maps the roles of a conversation; notes of the host are no prompts.
func openaiRole(role string) Role {
	if role == "developer" {
		return "system"
	}
	return Role(role)
}

func openaiRefuse(w http.ResponseWriter, status int, message string) {
	writeJSON(w, status, map[string]any{"error": openaiError(openaiErrorType(status), message)})
}

func openaiError(kind, message string) map[string]any {
	return map[string]any{"message": message, "type": kind, "param": nil, "code": nil}
}

func openaiErrorType(status int) string {
	switch status {
	case http.StatusBadRequest, http.StatusNotFound, http.StatusRequestEntityTooLarge:
		return "invalid_request_error"
	case http.StatusUnauthorized:
		return "authentication_error"
	case http.StatusForbidden:
		return "permission_error"
	case http.StatusTooManyRequests:
		return "rate_limit_error"
	}
	return "server_error"
}
