package langgraph

import (
	"encoding/json"
	"strings"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/trace"
)

// The places of a template that are filled. A text that is nothing but a place becomes the
// value; within a longer text, the value is text.
const (
	placePrompt   = "{{prompt}}"   // the text of the prompt
	placeMessage  = "{{message}}"  // the content of the prompt: text, or blocks if there are files
	placeMessages = "{{messages}}" // a list with the prompt as its one message
	placeSession  = "{{session}}"  // the id of the session
	placeAnswer   = "{{answer}}"   // the answer to an interrupt
)

// fill fills a template. A template that is not JSON fills nothing: New has checked it.
func fill(template raw, values map[string]any) raw {
	var tree any
	if json.Unmarshal(template, &tree) != nil {
		return template
	}
	return agentkit.Encode(fillTree(tree, values))
}

func fillTree(tree any, values map[string]any) any {
	switch at := tree.(type) {
	case string:
		if v, ok := values[at]; ok {
			return v
		}
		for place, v := range values {
			if s, ok := v.(string); ok {
				at = strings.ReplaceAll(at, place, s)
			}
		}
		return at
	case []any:
		for i := range at {
			at[i] = fillTree(at[i], values)
		}
	case map[string]any:
		for key := range at {
			at[key] = fillTree(at[key], values)
		}
	}
	return tree
}

// values are what a prompt fills a template with.
func values(p agent.Prompt, session string) map[string]any {
	return map[string]any{
		placePrompt: p.Text(), placeMessage: content(p), placeSession: session,
		placeMessages: []any{map[string]any{"role": "user", "content": content(p)}},
	}
}

// content is the content of a prompt: text, or blocks if there are files.
func content(p agent.Prompt) any {
	var all []any
	files := false
	for _, part := range p.Message.Parts {
		switch {
		case part.Type == trace.InputText:
			all = append(all, map[string]any{"type": "text", "text": part.Text})
			continue
		case strings.HasPrefix(part.MediaType, "image/"):
			all = append(all, map[string]any{"type": "image_url", "image_url": map[string]any{"url": part.URL}})
		default:
			all = append(all, file(part))
		}
		files = true
	}
	if !files {
		return p.Text()
	}
	return all
}

func file(part trace.InputPart) map[string]any {
	block := map[string]any{"type": "file", "mime_type": part.MediaType}
	if part.Filename != "" {
		block["metadata"] = map[string]any{"filename": part.Filename}
	}
	if _, data, ok := strings.Cut(part.URL, ";base64,"); ok && strings.HasPrefix(part.URL, "data:") {
		block["source_type"], block["data"] = "base64", data
	} else {
		block["source_type"], block["url"] = "url", part.URL
	}
	return block
}
