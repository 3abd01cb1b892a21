package uistream

import (
	"encoding/json"

	"github.com/tributary-dev/tributary/internal/quote"
)

// This file writes chunks in the form of clients before AI SDK 5.

// The legacy form is that of clients older than the UI message stream. Its seven types are
// text-start, text-delta, text-done, tool-call, tool-result, error and conversation-event.
// Its streams have no event lines and no [DONE].

// appendLegacy appends the chunk in the legacy form. A chunk without a legacy type
// is left out if it only structures the message, such as a step. Reasoning and preliminary
// output are left out, too. Every other chunk becomes a conversation-event.
func appendLegacy(dst []byte, c Chunk) []byte {
	switch c := Bare(c).(type) {
	case TextStart:
		return append(key(legacyType(dst, "text-start"), "id", c.ID), '}')
	case TextDelta:
		return append(key(key(legacyType(dst, "text-delta"), "id", c.ID), "textDelta", c.Delta), '}')
	case TextEnd:
		return append(key(legacyType(dst, "text-done"), "id", c.ID), '}')
	case ToolInputAvailable:
		dst = key(key(legacyType(dst, "tool-call"), "toolCallId", c.ToolCallID), "toolName", c.ToolName)
		return append(raw(dst, "args", c.Input), '}')
	case ToolOutputAvailable:
		if c.Preliminary {
			return dst
		}
		return legacyResult(dst, c.ToolCallID, c.Output)
	case ToolOutputError:
		return legacyResult(dst, c.ToolCallID, append(quote.Append([]byte(`{"error":`), c.ErrorText), '}'))
	case ToolInputError:
		return legacyResult(dst, c.ToolCallID, append(quote.Append([]byte(`{"error":`), c.ErrorText), '}'))
	case ToolOutputDenied:
		return legacyResult(dst, c.ToolCallID, json.RawMessage(`{"error":"The call was not allowed."}`))
	case Error:
		return append(key(legacyType(dst, "error"), "error", c.ErrorText), '}')
	case Data:
		return legacyEvent(dst, c.Name, c.Value)
	case Extended: // Bare has none
	case Start, StartStep, FinishStep, Finish, ReasoningStart, ReasoningDelta, ReasoningEnd, ToolInputStart, ToolInputDelta:
	case ToolApprovalRequest, ToolApprovalResponse, SourceURL, SourceDocument, File, Abort, Other:
		return legacyEvent(dst, c.Type(), AppendChunk(nil, c))
	}
	return dst
}

func legacyType(dst []byte, typ string) []byte { return quote.Append(append(dst, `{"type":`...), typ) }

func legacyResult(dst []byte, id string, result json.RawMessage) []byte {
	return append(raw(key(legacyType(dst, "tool-result"), "toolCallId", id), "result", result), '}')
}

// legacyEvent appends an event beside the conversation. Its participant is that of the data.
func legacyEvent(dst []byte, name string, data json.RawMessage) []byte {
	var of struct {
		Participant string `json:"participant"`
	}
	_ = json.Unmarshal(data, &of) // other data has no participant
	dst = optional(key(legacyType(dst, "conversation-event"), "eventType", name), "participant", of.Participant)
	return append(raw(dst, "data", data), '}')
}
