package openai

import (
	"strings"

	"github.com/tributary-dev/tributary/agent/toolloop"
)

// failed is the end of an answer that the endpoint could not write to its end.
const failed toolloop.Finish = "error"

// finishOf says what an endpoint means by its word for the end of an answer. The words are
// those of OpenAI, Azure, DeepSeek, Gemini, GLM, Mistral, OpenRouter, SGLang and vLLM. Any other
// word is a complete answer: servers have many words for that.
func finishOf(word string) toolloop.Finish {
	switch strings.ToLower(word) {
	case "length", "max_tokens", "max_output_tokens", "max_length", "model_length", "model_context_window_exceeded":
		return toolloop.Length
	case "content_filter", "content_filtered", "sensitive", "safety", "recitation", "blocklist", "prohibited_content", "spii",
		"image_safety", "guardrail_intervened":
		return toolloop.Filtered
	case "refusal":
		return toolloop.Refused
	case "error", "failed", "network_error", "server_error", "internal_error", "timeout", "insufficient_system_resource",
		"abort", "aborted", "incomplete", "cancelled", "canceled", "malformed_function_call", "unexpected_tool_call":
		return failed
	default:
		return toolloop.Done
	}
}

// finished says why the model ended its answer.
func (a *answer) finished() toolloop.Finish {
	if finish := finishOf(a.finish); finish != toolloop.Done || !a.refused {
		return finish
	}
	return toolloop.Refused
}
