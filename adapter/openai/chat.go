package openai

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/agent/toolloop"
	"github.com/tributary-dev/tributary/trace"
)

// This file speaks Chat Completions (https://platform.openai.com/docs/api-reference/chat).

// chat makes a model call by Chat Completions.
func (m *model) chat(ctx context.Context, messages []toolloop.Message, tools []toolloop.Tool, a *answer) error {
	body := object{
		"model": m.Model, "messages": m.chatMessages(messages),
		"stream": true, "stream_options": object{"include_usage": true},
	}
	var offered []object
	for _, t := range tools {
		offered = append(offered, object{"type": "function", "function": object{"name": t.Name, "description": t.Description, "parameters": parameters(t)}})
	}
	if len(offered) > 0 {
		body["tools"] = offered
	}
	return m.listen(ctx, "chat/completions", body, a, chatChunk)
}

// chatChoice is a piece of an answer, or a whole one in Message.
type chatChoice struct {
	Index          count
	Delta, Message raw
	FinishReason   word `json:"finish_reason"`
	Error          raw
}

// chatChunk takes an event of a stream, or an answer that came as one object.
func chatChunk(_ string, event raw, a *answer) (known bool, err error) {
	var chunk struct {
		Choices       list[chatChoice]
		Usage         *chatUsage
		Citations     list[citation]
		SearchResults list[citation] `json:"search_results"`
	}
	_ = json.Unmarshal(event, &chunk) // what could be read of it counts
	if chunk.Usage != nil && chunk.Usage.PromptTokens+chunk.Usage.CompletionTokens > 0 {
		a.usage = chunk.Usage.usage()
	}
	a.cite(chunk.SearchResults)
	a.cite(chunk.Citations)
	for _, choice := range chunk.Choices {
		if choice.Index != 0 {
			continue
		}
		a.chatDelta(choice.Delta)
		a.chatMessage(choice.Message)
		if choice.FinishReason != "" {
			a.finish = string(choice.FinishReason)
		}
		if failure := failureOf(choice.Error); failure != nil {
			return true, failure
		}
	}
	return len(chunk.Choices) > 0 || chunk.Usage != nil, nil
}

// chatDelta is a piece of a message.
type chatDelta struct {
	Content, Reasoning, Refusal prose
	ReasoningContent            prose     `json:"reasoning_content"`
	ReasoningDetails            list[raw] `json:"reasoning_details"`
	ThinkingBlocks              list[raw] `json:"thinking_blocks"`
	ToolCalls                   list[raw] `json:"tool_calls"`
	Annotations                 list[citation]
	Images                      list[picture]
}

func (a *answer) chatDelta(delta raw) {
	var d chatDelta
	if json.Unmarshal(delta, &d) != nil {
		return
	}
	a.chatReasoning(d)
	a.thinks(d.Content.thought)
	a.says(d.Content.text)
	a.refuses(d.Refusal.text)
	a.chatExtras(d)
	for place, call := range d.ToolCalls {
		a.take(chatPiece(call, place))
	}
}

// chatMessage takes a whole message. Of a message that was streamed, only what the stream lacked
// is new.
func (a *answer) chatMessage(message raw) {
	var d chatDelta
	if len(message) == 0 || string(message) == "null" || json.Unmarshal(message, &d) != nil {
		return
	}
	a.ended = true
	if len(a.thoughts) == 0 && len(a.state.Lists) == 0 {
		a.chatReasoning(d)
		a.thinks(d.Content.thought)
	}
	a.says(rest(a.content.String(), d.Content.text))
	if !a.refused {
		a.refuses(d.Refusal.text)
	}
	a.chatExtras(d)
	if len(a.calls) == 0 {
		for place, call := range d.ToolCalls {
			a.take(chatPiece(call, place))
		}
	}
}

func (a *answer) chatReasoning(d chatDelta) {
	switch {
	case d.ReasoningContent.present:
		a.state.Reasoning = "reasoning_content"
		a.thinks(d.ReasoningContent.text)
	case d.Reasoning.present:
		a.state.Reasoning = "reasoning"
		a.thinks(d.Reasoning.text)
	}
	a.state.list("reasoning_details", d.ReasoningDetails)
	a.state.list("thinking_blocks", d.ThinkingBlocks)
}

func (a *answer) chatExtras(d chatDelta) {
	a.cite(d.Annotations)
	a.show(d.Content.pictures)
	a.show(d.Images)
}

func chatPiece(call raw, place int) piece {
	var c struct {
		Index, ID word
		Function  raw
	}
	var f struct {
		Name      word
		Arguments arguments
	}
	_, _ = json.Unmarshal(call, &c), json.Unmarshal(c.Function, &f) // an unknown form is an empty piece
	return piece{
		id: string(c.ID), index: string(c.Index), place: place, name: string(f.Name), input: string(f.Arguments),
		call:     unknownKeys(call, "index", "id", "type", "function"),
		function: unknownKeys(c.Function, "name", "arguments"),
	}
}

// chatUsage is what a model call used. DeepSeek has its own word for cached input.
type chatUsage struct {
	PromptTokens     count `json:"prompt_tokens"`
	CompletionTokens count `json:"completion_tokens"`
	PromptDetails    struct {
		Cached count `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
	CompletionDetails struct {
		Reasoning count `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
	CacheHit count    `json:"prompt_cache_hit_tokens"`
	Cost     *float64 `json:"cost"`
}

// UnmarshalJSON implements json.Unmarshaler. Of a form that is not known, what could be read counts.
func (u *chatUsage) UnmarshalJSON(value []byte) error {
	type plain chatUsage
	_ = json.Unmarshal(value, (*plain)(u))
	return nil
}

func (u chatUsage) usage() trace.Usage {
	return usage(u.PromptTokens, u.CompletionTokens, max(u.PromptDetails.Cached, u.CacheHit), u.CompletionDetails.Reasoning, u.Cost)
}

// chatMessages writes the conversation as Chat Completions has it.
func (m *model) chatMessages(messages []toolloop.Message) []object {
	all, reasoning := []object{{"role": "system", "content": m.system()}}, reasoningField(messages)
	for _, x := range messages {
		if x.Role == trace.RoleUser {
			all = append(all, object{"role": "user", "content": chatPrompt(x.Parts)})
			continue
		}
		said := object{"role": "assistant"}
		if x.Text != "" || len(x.Calls) == 0 {
			said["content"] = x.Text
		}
		var calls []object
		for i, c := range x.Calls {
			state := decodeState(c.State)
			if i == 0 {
				state.Message.Reasoning = cmp.Or(state.Message.Reasoning, reasoning)
				state.Message.into(said, x)
			}
			function := object{"name": c.Name, "arguments": string(c.Input)}
			call := object{"id": c.ID, "type": "function", "function": function}
			for key, value := range state.Function {
				function[key] = value
			}
			for key, value := range state.Call {
				call[key] = value
			}
			calls = append(calls, call)
		}
		if len(calls) > 0 {
			said["tool_calls"] = calls
		}
		all = append(all, said)
		for _, c := range x.Calls {
			all = append(all, object{"role": "tool", "tool_call_id": c.ID, "content": c.Answer()})
		}
	}
	return all
}

// reasoningField is the newest field in which the endpoint sent reasoning; "" if there is none. An
// endpoint that wants reasoning back wants it with each message that has calls.
func reasoningField(messages []toolloop.Message) string {
	for _, x := range slices.Backward(messages) {
		if len(x.Calls) > 0 {
			if field := decodeState(x.Calls[0].State).Message.Reasoning; field != "" {
				return field
			}
		}
	}
	return ""
}

// into adds the state to its message.
func (s messageState) into(message object, x toolloop.Message) {
	if s.Reasoning != "" {
		message[s.Reasoning] = thoughts(x)
	}
	for key, blocks := range s.Lists {
		message[key] = blocks
	}
}

func thoughts(x toolloop.Message) (text string) {
	for _, t := range x.Thoughts {
		text += t.Text
	}
	return text
}

// chatPrompt is a user's message. Words alone are sent as one text, because some servers
// know no parts.
func chatPrompt(parts []trace.InputPart) any {
	all, texts := []object{}, []string{}
	for _, p := range parts {
		switch f, text := formOf(p); f {
		case formImage:
			all = append(all, object{"type": "image_url", "image_url": object{"url": agentkit.Attached(p).Address()}})
		case formFile:
			all = append(all, object{"type": "file", "file": object{"filename": text, "file_data": agentkit.Attached(p).Address()}})
		case formText:
			all, texts = append(all, object{"type": "text", "text": text}), append(texts, text)
		}
	}
	if len(texts) == len(all) {
		return strings.Join(texts, "\n\n")
	}
	return all
}
