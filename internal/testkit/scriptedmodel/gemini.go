package scriptedmodel

import (
	"encoding/json"
	"net/http"
	"strings"
)

// gemini is Google's generateContent; a stream is always of server-sent events,
// as with alt=sse.
type gemini struct{}

type geminiRequest struct {
	Contents []struct {
		Role  string `json:"role"`
		Parts []struct {
			Text     string          `json:"text"`
			Thought  bool            `json:"thought"`
			Call     json.RawMessage `json:"functionCall"`
			Response *struct {
				Response json.RawMessage `json:"response"`
			} `json:"functionResponse"`
		} `json:"parts"`
	} `json:"contents"`
	Tools []struct {
		Functions []struct {
			Name       string  `json:"name"`
			Schema     *schema `json:"parametersJsonSchema"`
			Parameters schema  `json:"parameters"`
		} `json:"functionDeclarations"`
	} `json:"tools"`
}

const (
	geminiWhole  = ":generateContent"
	geminiStream = ":streamGenerateContent"
	geminiCount  = ":countTokens"
)

func (gemini) route(r *http.Request) kind {
	path := r.URL.Path
	switch {
	case r.Method == http.MethodPost && (strings.HasSuffix(path, geminiWhole) || strings.HasSuffix(path, geminiStream)):
		return kindAnswer
	case r.Method == http.MethodPost && strings.HasSuffix(path, geminiCount), r.Method == http.MethodGet && strings.Contains(path, "/v1beta/models"):
		return kindSide
	}
	return kindForeign
}

func (gemini) read(r *http.Request, body []byte) (asked, error) {
	var req geminiRequest
	if err := json.Unmarshal(body, &req); err != nil {
		return asked{}, err
	}
	path, stream := strings.CutSuffix(r.URL.Path, geminiStream)
	path = strings.TrimSuffix(path, geminiWhole)
	c := asked{model: path[strings.LastIndex(path, "/")+1:], stream: stream}
	for _, t := range req.Tools {
		for _, f := range t.Functions {
			s := f.Parameters
			if f.Schema != nil {
				s = *f.Schema
			}
			c.Tools = append(c.Tools, s.tool(f.Name))
		}
	}
	for _, m := range req.Contents {
		turn := Turn{Role: Role(m.Role)}
		if turn.Role == "model" {
			turn.Role = RoleAssistant
		}
		var texts []string
		for _, p := range m.Parts {
			switch {
			case p.Call != nil:
				turn.Calls++
			case p.Response != nil:
				turn.Results = append(turn.Results, geminiResult(p.Response.Response))
			case !p.Thought && p.Text != "":
				texts = append(texts, p.Text)
			}
		}
		turn.Text = strings.Join(texts, "\n")
		if turn.Role == RoleUser && turn.Text == "" && len(turn.Results) > 0 {
			turn.Role = RoleTool
		}
		c.Turns = append(c.Turns, turn)
	}
	return c, nil
}

// geminiResult returns the output of a tool, or its whole answer as JSON.
func geminiResult(raw json.RawMessage) string {
	var known struct {
		Output string `json:"output"`
		Error  string `json:"error"`
	}
	if json.Unmarshal(raw, &known) == nil && known.Output+known.Error != "" {
		return known.Output + known.Error
	}
	return string(raw)
}

func (gemini) side(w http.ResponseWriter, r *http.Request, body []byte) {
	model := object{"name": "models/scripted-1", "displayName": "Scripted 1", "supportedGenerationMethods": []any{"generateContent", "countTokens"}}
	switch {
	case strings.HasSuffix(r.URL.Path, geminiCount):
		writeJSON(w, http.StatusOK, object{"totalTokens": len(body)/4 + 1})
	case strings.HasSuffix(r.URL.Path, "/models"):
		writeJSON(w, http.StatusOK, object{"models": []any{model}})
	default:
		writeJSON(w, http.StatusOK, model)
	}
}

func (gemini) refuse(w http.ResponseWriter, status int, message string) {
	writeJSON(w, status, geminiError(status, message))
}

func geminiError(status int, message string) object {
	name := "INTERNAL"
	switch status {
	case http.StatusBadRequest:
		name = "INVALID_ARGUMENT"
	case http.StatusUnauthorized:
		name = "UNAUTHENTICATED"
	case http.StatusForbidden:
		name = "PERMISSION_DENIED"
	case http.StatusNotFound:
		name = "NOT_FOUND"
	case http.StatusTooManyRequests:
		name = "RESOURCE_EXHAUSTED"
	case http.StatusServiceUnavailable:
		name = "UNAVAILABLE"
	}
	return object{"error": object{"code": status, "message": message, "status": name}}
}

func (w gemini) answer(s *stage, a Answer) {
	if s.asked.stream {
		w.stream(s, a)
		return
	}
	if !s.whole(a, http.StatusServiceUnavailable, w.refuse) {
		return
	}
	parts := []any{}
	if a.Reasoning != "" {
		parts = append(parts, object{"text": a.Reasoning, "thought": true})
	}
	if a.Text != "" {
		parts = append(parts, object{"text": a.Text})
	}
	for _, c := range a.Calls {
		parts = append(parts, w.call(c))
	}
	writeJSON(s.w, http.StatusOK, w.chunk(s, a, "STOP", parts...))
}

func (w gemini) stream(s *stage, a Answer) {
	s.open()
	send := func(part object) bool { return s.event("", w.chunk(s, a, "", part)) && s.wait() }
	for _, d := range a.deltas(a.Reasoning) {
		if !send(object{"text": d, "thought": true}) {
			return
		}
	}
	for _, d := range a.deltas(a.Text) {
		if !send(object{"text": d}) {
			return
		}
	}
	switch a.Break {
	case BreakNone:
	case BreakCut:
		s.cut()
	case BreakEvent:
		s.event("", geminiError(http.StatusServiceUnavailable, "scripted failure in mid-stream"))
		return
	}
	for _, c := range a.Calls {
		for range a.inputDeltas(c.input()) { // a call comes whole; a slow one comes late
			if !s.wait() {
				return
			}
		}
		if !send(w.call(c)) {
			return
		}
	}
	s.event("", w.chunk(s, a, "STOP"))
}

func (gemini) call(c Call) object {
	return object{"functionCall": object{"id": "call_" + c.ID, "name": c.Name, "args": c.Input}, "thoughtSignature": signature}
}

func (gemini) chunk(s *stage, a Answer, finish string, parts ...any) object {
	content := object{"role": "model"}
	if len(parts) > 0 {
		content["parts"] = parts
	} else if finish != "" {
		content["parts"] = []any{object{"text": ""}}
	}
	candidate := object{"index": 0, "content": content}
	if finish != "" {
		candidate["finishReason"] = finish
	}
	in, out := newTokens+s.cachedTokens(), a.tokens()-a.thoughtTokens()
	return object{
		"candidates": []any{candidate}, "modelVersion": s.asked.model, "responseId": a.ID,
		"usageMetadata": object{
			"promptTokenCount": in, "cachedContentTokenCount": s.cachedTokens(), "candidatesTokenCount": out,
			"thoughtsTokenCount": a.thoughtTokens(), "totalTokenCount": in + out + a.thoughtTokens(),
		},
	}
}
