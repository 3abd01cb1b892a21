package openai

import (
	"bytes"
	"encoding/json"
	"maps"
)

// Some endpoints want parts of their answers back with each later request: DeepSeek its
// reasoning (https://api-docs.deepseek.com, "Thinking Mode"), Gemini the signatures of its calls
// (https://ai.google.dev, "Thought signatures"), OpenRouter its reasoning_details
// (https://openrouter.ai/docs, "Reasoning Tokens"). This file keeps such values with the record
// of the call.

// callState is the provider state of a call.
type callState struct {
	// Call and Function are the keys of a call, and of its function, that this adapter does
	// not know.
	Call     map[string]raw `json:"call,omitempty"`
	Function map[string]raw `json:"function,omitempty"`
	// Message is the state of the message; its first call has it.
	Message *messageState `json:"message,omitempty"`
}

// messageState is the provider state of an answer.
type messageState struct {
	// Reasoning names the field in which the endpoint sends reasoning, also empty reasoning.
	Reasoning string `json:"reasoning,omitempty"`
	// Lists are the lists of typed blocks of reasoning, by their key in the message.
	Lists map[string][]raw `json:"lists,omitempty"`
	// Sealed are the signatures of reasoning that the endpoint keeps to itself.
	Sealed []string `json:"sealed,omitempty"`
}

// encode is nil for an empty state, and for one beyond the bound.
func (s callState) encode() raw {
	if s.Message != nil && s.Message.Reasoning == "" && len(s.Message.Lists) == 0 && len(s.Message.Sealed) == 0 {
		s.Message = nil
	}
	if s.Message == nil && len(s.Call) == 0 && len(s.Function) == 0 {
		return nil
	}
	state, err := json.Marshal(s)
	if err != nil || len(state) > maxState {
		return nil
	}
	return state
}

func decodeState(state raw) (s callState) {
	_ = json.Unmarshal(state, &s) // another adapter's state is none of ours
	if s.Message == nil {
		s.Message = &messageState{}
	}
	return s
}

// unknownKeys are the keys of an object beside the known ones that have a value.
func unknownKeys(object raw, known ...string) map[string]raw {
	var all map[string]raw
	if json.Unmarshal(object, &all) != nil {
		return nil
	}
	for _, key := range known {
		delete(all, key)
	}
	maps.DeleteFunc(all, func(_ string, v raw) bool { return string(v) == "null" })
	return all
}

// learn adds newer values of unknown keys.
func learn(to *map[string]raw, more map[string]raw) {
	if len(more) == 0 {
		return
	}
	if *to == nil {
		*to = map[string]raw{}
	}
	maps.Copy(*to, more)
}

// list adds blocks to a list of the message. Blocks arrive whole or in pieces.
func (s *messageState) list(key string, blocks []raw) {
	if len(blocks) == 0 {
		return
	}
	if s.Lists == nil {
		s.Lists = map[string][]raw{}
	}
	all := s.Lists[key]
	for _, b := range blocks {
		if n := len(all); n > 0 {
			if joined, ok := join(all[n-1], b); ok {
				all[n-1] = joined
				continue
			}
		}
		all = append(all, b)
	}
	s.Lists[key] = all
}

// join appends a piece of a block to the block. Pieces of one block have one index and one
// type, and the block has no signature yet. A block without an index is whole.
func join(block, piece raw) (raw, bool) {
	var a, b map[string]raw
	if json.Unmarshal(block, &a) != nil || json.Unmarshal(piece, &b) != nil {
		return nil, false
	}
	if a["index"] == nil || !bytes.Equal(a["index"], b["index"]) || !bytes.Equal(a["type"], b["type"]) || textOf(a["signature"]) != "" {
		return nil, false
	}
	grown := false
	for key, value := range b {
		if key == "text" || key == "summary" || key == "thinking" {
			whole, err := json.Marshal(textOf(a[key]) + textOf(value))
			if err != nil {
				return nil, false
			}
			a[key], grown = whole, true
		} else if string(value) != "null" {
			a[key] = value
		}
	}
	if !grown && b["signature"] == nil {
		return nil, false
	}
	joined, err := json.Marshal(a)
	return joined, err == nil
}

// textOf is a JSON string, or "" for any other value.
func textOf(value raw) (text string) {
	_ = json.Unmarshal(value, &text)
	return text
}
