package openai

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"

	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/agent/toolloop"
	"github.com/tributary-dev/tributary/trace"
)

// This file speaks Responses (https://platform.openai.com/docs/api-reference/responses).

// responses makes a model call by Responses. The endpoint stores nothing: reasoning
// comes back to us encrypted, is kept in the gateway's records, and is sent again.
func (m *model) responses(ctx context.Context, messages []toolloop.Message, tools []toolloop.Tool, a *answer) error {
	body := object{
		"model": m.Model, "instructions": m.system(), "store": false, "stream": true,
		"include": []string{"reasoning.encrypted_content"}, "input": responseItems(messages),
	}
	var offered []object
	for _, t := range tools {
		offered = append(offered, object{"type": "function", "name": t.Name, "description": t.Description, "parameters": parameters(t), "strict": false})
	}
	if len(offered) > 0 {
		body["tools"] = offered
	}
	return m.listen(ctx, "responses", body, a, responseEvent)
}

// response is the whole of an answer.
type response struct {
	Status     word
	Incomplete struct{ Reason word } `json:"incomplete_details"`
	Output     []raw
	Error      raw
	Usage      struct {
		Input        count `json:"input_tokens"`
		Output       count `json:"output_tokens"`
		InputDetails struct {
			Cached count `json:"cached_tokens"`
		} `json:"input_tokens_details"`
		OutputDetails struct {
			Reasoning count `json:"reasoning_tokens"`
		} `json:"output_tokens_details"`
		Cost *float64
	}
}

// responseEvent takes an event of a stream, or an answer that came as one object.
func responseEvent(name string, event raw, a *answer) (known bool, err error) {
	var e struct {
		Type         word
		Delta        word
		Text         word
		Refusal      word
		Arguments    arguments
		ItemID       word  `json:"item_id"`
		OutputIndex  *word `json:"output_index"`
		ContentIndex word  `json:"content_index"`
		SummaryIndex word  `json:"summary_index"`
		Item         raw
		Part         struct {
			Type          string
			Text, Refusal word
			Annotations   list[citation]
		}
		Annotation list[citation]
		Response   raw
		Output     raw
	}
	_ = json.Unmarshal(event, &e) // what could be read of it counts
	index := ""
	if e.OutputIndex != nil {
		index = string(*e.OutputIndex)
	}
	of := func(kind string) *item { return a.item(string(e.ItemID), index, kind) }
	switch kind := cmp.Or(string(e.Type), name); kind {
	case "response.output_text.delta":
		of(itemMessage).grow(a, "text "+number(e.ContentIndex), string(e.Delta))
	case "response.output_text.done":
		of(itemMessage).whole(a, "text "+number(e.ContentIndex), string(e.Text))
	case "response.content_part.done":
		if e.Part.Type == "output_text" {
			of(itemMessage).whole(a, "text "+number(e.ContentIndex), string(e.Part.Text))
			a.cite(e.Part.Annotations)
		}
	case "response.output_text.annotation.added":
		a.cite(e.Annotation)
	case "response.refusal.delta":
		of(itemMessage).grow(a, "refusal "+number(e.ContentIndex), string(e.Delta))
	case "response.refusal.done":
		of(itemMessage).whole(a, "refusal "+number(e.ContentIndex), string(e.Refusal))
	case "response.reasoning_summary_text.delta", "response.reasoning_summary.delta":
		of(itemReasoning).grow(a, "summary "+number(e.SummaryIndex), string(e.Delta))
	case "response.reasoning_summary_text.done":
		of(itemReasoning).whole(a, "summary "+number(e.SummaryIndex), string(e.Text))
	case "response.reasoning_text.delta":
		of(itemReasoning).grow(a, "content "+number(e.ContentIndex), string(e.Delta))
	case "response.reasoning_text.done":
		of(itemReasoning).whole(a, "content "+number(e.ContentIndex), string(e.Text))
	case "response.function_call_arguments.delta":
		of(itemCall).callGrows(a, string(e.Delta))
	case "response.function_call_arguments.done":
		of(itemCall).callIs(a, responseItem{Arguments: e.Arguments})
	case "response.output_item.added":
		a.itemAdded(e.Item, index)
	case "response.output_item.done":
		a.itemDone(e.Item, index)
	case "response.completed", "response.incomplete", "response.failed", "response.cancelled", "response.done":
		return true, a.response(e.Response, strings.TrimSuffix(strings.TrimPrefix(kind, "response."), "done"))
	case "":
		if e.Output == nil {
			return false, nil
		}
		return true, a.response(event, "")
	default:
		return e.Type != "error" && e.Type != "", nil
	}
	return true, nil
}

// number is an index. Servers that send none have one part.
func number(index word) string { return cmp.Or(string(index), "0") }

// response takes the whole of an answer: what the stream lacked, and how it ended, unless only
// the event says so.
func (a *answer) response(whole raw, end string) error {
	var r response
	_ = json.Unmarshal(whole, &r) // what could be read of it counts
	if u := r.Usage; u.Input+u.Output > 0 {
		a.usage = usage(u.Input, u.Output, u.InputDetails.Cached, u.OutputDetails.Reasoning, u.Cost)
	}
	if failure := failureOf(r.Error); failure != nil {
		return failure
	}
	a.snapshot(r.Output)
	a.finish, a.ended = cmp.Or(string(r.Incomplete.Reason), string(r.Status), end), true
	return nil
}

// sealed is reasoning that only the endpoint can read.
type sealed struct {
	ID      string `json:"id"`
	Content string `json:"encrypted_content"`
}

// responseItems writes the conversation as Responses has it.
func responseItems(messages []toolloop.Message) []object {
	all := []object{}
	for _, x := range messages {
		if x.Role == trace.RoleUser {
			all = append(all, object{"role": "user", "content": responseParts(x.Parts)})
			continue
		}
		all = append(all, reasoningItems(x)...)
		if x.Text != "" {
			all = append(all, object{"role": "assistant", "content": x.Text})
		}
		for _, c := range x.Calls {
			call := object{"type": "function_call", "call_id": c.ID, "name": c.Name, "arguments": string(c.Input)}
			for key, value := range decodeState(c.State).Call {
				call[key] = value
			}
			all = append(all, call)
		}
		for _, c := range x.Calls {
			all = append(all, object{"type": "function_call_output", "call_id": c.ID, "output": c.Answer()})
		}
	}
	return all
}

// reasoningItems are the sealed reasoning of a message. Reasoning without a summary is on record with
// the first call only.
func reasoningItems(x toolloop.Message) (all []object) {
	thoughts := x.Thoughts
	if len(x.Calls) > 0 {
		for _, signature := range decodeState(x.Calls[0].State).Message.Sealed {
			known := false
			for _, t := range x.Thoughts {
				known = known || t.Signature == signature
			}
			if !known {
				thoughts = append([]toolloop.Thought{{Signature: signature}}, thoughts...)
			}
		}
	}
	for _, t := range thoughts {
		var s sealed
		if json.Unmarshal([]byte(t.Signature), &s) != nil || s.Content == "" {
			continue
		}
		summary := []object{}
		if t.Text != "" {
			summary = append(summary, object{"type": "summary_text", "text": t.Text})
		}
		all = append(all, object{"type": "reasoning", "id": s.ID, "summary": summary, "encrypted_content": s.Content})
	}
	return all
}

func responseParts(parts []trace.InputPart) []object {
	all := []object{}
	for _, p := range parts {
		switch f, text := formOf(p); f {
		case formImage:
			all = append(all, object{"type": "input_image", "detail": "auto", "image_url": agentkit.Attached(p).Address()})
		case formFile:
			all = append(all, object{"type": "input_file", "filename": text, "file_data": agentkit.Attached(p).Address()})
		case formText:
			all = append(all, object{"type": "input_text", "text": text})
		}
	}
	return all
}
