package claude

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/trace"
)

// other takes a block that is neither text, reasoning nor a call.
func (d *Decoder) other(c *turn, s *speaker, b block) {
	switch {
	case b.Type == "redacted_thinking" || b.Type == "":
		s.b.Touch()
	case strings.HasSuffix(b.Type, "_tool_result"):
		d.serverResult(c, s, b)
	case b.Source != nil:
		if at, media := b.Source.url(); at != "" {
			s.b.Emit(trace.File{URL: at, MediaType: cmp.Or(media, "application/octet-stream"), Filename: b.Title})
		}
	default:
		s.b.Emit(trace.Data{Name: "claude-" + strings.ReplaceAll(b.Type, "_", "-"), Value: orNull(b.Content)})
	}
}

// serverResult takes the result of a tool that the model's provider ran.
func (d *Decoder) serverResult(c *turn, s *speaker, b block) {
	r := trace.ToolResult{ToolCallID: b.ToolUseID, Status: trace.ToolCompleted, Output: b.Content}
	var failed struct {
		Type string `json:"type"`
		Code string `json:"error_code"`
	}
	if json.Unmarshal(b.Content, &failed) == nil && failed.Code != "" {
		r.Status, r.Error = trace.ToolFailed, "The tool failed: "+failed.Code+"."
	}
	if b.IsError {
		r.Status, r.Error = trace.ToolFailed, plainText(b.Content)
	}
	var hits []map[string]raw
	if json.Unmarshal(b.Content, &hits) == nil {
		for _, hit := range hits {
			delete(hit, "encrypted_content") // for the model only, and large
		}
		r.Output = agentkit.Encode(hits)
		if text, plain := onlyText(b.Content); plain {
			r.Output = agentkit.Encode(text)
		}
	}
	var pages []citation
	_ = json.Unmarshal(b.Content, &pages) // results of another form name no pages
	for _, page := range pages {
		c.cite(s.b, page)
	}
	delete(d.calls, b.ToolUseID)
	s.b.ToolResult(r)
}

// cite names a source, once in a turn.
func (c *turn) cite(b *trace.Builder, from citation) {
	title := cmp.Or(from.Title, from.DocumentTitle)
	key := cmp.Or(from.URL, title)
	if key == "" || c.sources[key] {
		b.Touch()
		return
	}
	c.sources[key] = true
	s := trace.Source{SourceID: fmt.Sprintf("source-%d", len(c.sources)), URL: from.URL, Title: title}
	if s.URL == "" {
		s.MediaType = "text/plain"
	}
	b.Emit(s)
}

// onlyText joins the texts of a result that consists of nothing else.
func onlyText(result raw) (text string, plain bool) {
	var c content
	if json.Unmarshal(result, &c) != nil || len(c) == 0 || slices.ContainsFunc(c, func(b block) bool { return b.Type != "text" }) {
		return "", false
	}
	return c.text(), true
}

// plainText is the text of a result's content, or its JSON.
func plainText(result raw) string {
	if text, plain := onlyText(result); plain {
		return text
	}
	return string(result)
}

func orNull(r raw) raw {
	if len(r) == 0 {
		return raw("null")
	}
	return r
}
