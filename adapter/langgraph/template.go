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

// input fills a template with a prompt.
func input(template raw, p agent.Prompt, session string) (raw, error) {
	if len(p.Message.Parts) == 0 {
		return nil, &agentkit.PromptError{Reason: "empty_prompt", Sentence: "The prompt holds nothing that a graph can read."}
	}
	return fill(template, map[string]any{
		placePrompt: p.Text(), placeMessage: content(p), placeSession: session,
		placeMessages: []any{map[string]any{"role": "user", "content": content(p)}},
	}), nil
}

// fill fills a template. A template that is not JSON fills nothing: New has checked it.
func fill(template raw, values map[string]any) raw {
	var tree any
	if json.Unmarshal(template, &tree) != nil {
		return template
	}
	var pairs []string
	for place, v := range values {
		if s, ok := v.(string); ok {
			pairs = append(pairs, place, s)
		}
	}
	return agentkit.Encode(fillTree(tree, values, strings.NewReplacer(pairs...)))
}

// fillTree puts each value in once: what a value holds is no template.
func fillTree(tree any, values map[string]any, within *strings.Replacer) any {
	switch at := tree.(type) {
	case string:
		if v, ok := values[at]; ok {
			return v
		}
		return within.Replace(at)
	case []any:
		for i := range at {
			at[i] = fillTree(at[i], values, within)
		}
	case map[string]any:
		for key := range at {
			at[key] = fillTree(at[key], values, within)
		}
	}
	return tree
}

// content is the content of a prompt: text, or blocks if there are files.
func content(p agent.Prompt) any {
	var all []any
	files := false
	for _, part := range p.Message.Parts {
		block := map[string]any{"type": "text", "text": part.Text}
		if part.Type != trace.InputText {
			files, block = true, fileBlock(part)
		}
		all = append(all, block)
	}
	if !files {
		return p.Text()
	}
	return all
}

// fileBlock is a file as the models of LangChain take it. A server would read an address on its
// machine, so the graph learns of such a file by its name.
func fileBlock(part trace.InputPart) map[string]any {
	if file := agentkit.Attached(part); !file.Inline && !file.OnWeb() {
		return map[string]any{"type": "text", "text": file.Text()}
	}
	if strings.HasPrefix(part.MediaType, "image/") {
		return map[string]any{"type": "image_url", "image_url": map[string]any{"url": part.URL}}
	}
	block := map[string]any{"type": "file", "mime_type": part.MediaType, "source_type": "url", "url": part.URL}
	if part.Filename != "" {
		block["metadata"] = map[string]any{"filename": part.Filename}
	}
	if _, data, ok := strings.Cut(part.URL, ";base64,"); ok && strings.HasPrefix(part.URL, "data:") {
		delete(block, "url")
		block["source_type"], block["data"] = "base64", data
	}
	return block
}
