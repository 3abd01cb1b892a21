package uistream

import (
	"encoding/json"
	"strconv"

	"github.com/tributary-dev/tributary/internal/quote"
)

// This file writes chunks as JSON.

// AppendChunk appends the chunk as one line of JSON. Required keys are always
// written, whatever their value; optional ones never hold null.
func AppendChunk(dst []byte, c Chunk) []byte {
	dst = append(dst, `{"type":`...)
	if d, ok := c.(Data); ok {
		dst = quote.Append(dst, d.Type())
	} else {
		dst = append(dst, '"')
		dst = append(dst, c.Type()...) // a constant of this package
		dst = append(dst, '"')
	}
	dst = c.appendFields(dst)
	return append(dst, '}')
}

func (c Start) appendFields(dst []byte) []byte {
	return optional(dst, "messageId", c.MessageID)
}
func (StartStep) appendFields(dst []byte) []byte   { return dst }
func (FinishStep) appendFields(dst []byte) []byte  { return dst }
func (c TextStart) appendFields(dst []byte) []byte { return key(dst, "id", c.ID) }
func (c TextDelta) appendFields(dst []byte) []byte {
	return key(key(dst, "id", c.ID), "delta", c.Delta)
}
func (c TextEnd) appendFields(dst []byte) []byte        { return key(dst, "id", c.ID) }
func (c ReasoningStart) appendFields(dst []byte) []byte { return key(dst, "id", c.ID) }
func (c ReasoningDelta) appendFields(dst []byte) []byte {
	return key(key(dst, "id", c.ID), "delta", c.Delta)
}
func (c ReasoningEnd) appendFields(dst []byte) []byte { return key(dst, "id", c.ID) }

func (c ToolInputStart) appendFields(dst []byte) []byte {
	dst = key(dst, "toolCallId", c.ToolCallID)
	dst = key(dst, "toolName", c.ToolName)
	return optional(flags(dst, c.Form), "title", c.Title)
}

func (c ToolInputDelta) appendFields(dst []byte) []byte {
	return key(key(dst, "toolCallId", c.ToolCallID), "inputTextDelta", c.Delta)
}

func (c ToolInputAvailable) appendFields(dst []byte) []byte {
	dst = key(dst, "toolCallId", c.ToolCallID)
	dst = key(dst, "toolName", c.ToolName)
	dst = raw(dst, "input", c.Input)
	return optional(flags(dst, c.Form), "title", c.Title)
}

func (c ToolInputError) appendFields(dst []byte) []byte {
	dst = key(dst, "toolCallId", c.ToolCallID)
	dst = key(dst, "toolName", c.ToolName)
	dst = key(raw(dst, "input", c.Input), "errorText", c.ErrorText)
	return optional(flags(dst, c.Form), "title", c.Title)
}

func (c ToolOutputAvailable) appendFields(dst []byte) []byte {
	dst = key(dst, "toolCallId", c.ToolCallID)
	dst = raw(dst, "output", c.Output)
	return appendBool(flags(dst, c.Form), "preliminary", c.Preliminary)
}

func (c ToolOutputError) appendFields(dst []byte) []byte {
	dst = key(dst, "toolCallId", c.ToolCallID)
	return flags(key(dst, "errorText", c.ErrorText), c.Form)
}

func (c ToolOutputDenied) appendFields(dst []byte) []byte {
	return key(dst, "toolCallId", c.ToolCallID)
}

func (c ToolApprovalRequest) appendFields(dst []byte) []byte {
	return key(key(dst, "toolCallId", c.ToolCallID), "approvalId", c.ApprovalID)
}

func (c ToolApprovalResponse) appendFields(dst []byte) []byte {
	dst = strconv.AppendBool(name(key(dst, "approvalId", c.ApprovalID), "approved"), c.Approved)
	return optional(dst, "reason", c.Reason)
}

func (c SourceURL) appendFields(dst []byte) []byte {
	return optional(key(key(dst, "sourceId", c.SourceID), "url", c.URL), "title", c.Title)
}

func (c SourceDocument) appendFields(dst []byte) []byte {
	dst = key(key(dst, "sourceId", c.SourceID), "mediaType", c.MediaType)
	return optional(key(dst, "title", c.Title), "filename", c.Filename)
}

func (c File) appendFields(dst []byte) []byte {
	return key(key(dst, "url", c.URL), "mediaType", c.MediaType)
}

func (c Data) appendFields(dst []byte) []byte {
	dst = optional(dst, "id", c.ID)
	return appendBool(raw(dst, "data", c.Value), "transient", c.Transient)
}
func (c Error) appendFields(dst []byte) []byte { return key(dst, "errorText", c.ErrorText) }
func (c Abort) appendFields(dst []byte) []byte { return optional(dst, "reason", c.Reason) }
func (c Finish) appendFields(dst []byte) []byte {
	return optionalRaw(optional(dst, "finishReason", c.Reason), messageMetadataKey, c.Metadata)
}

func name(dst []byte, k string) []byte {
	dst = append(dst, ',', '"')
	dst = append(dst, k...)
	return append(dst, '"', ':')
}

func key(dst []byte, k, value string) []byte { return quote.Append(name(dst, k), value) }

func optional(dst []byte, k, value string) []byte {
	if value == "" {
		return dst
	}
	return key(dst, k, value)
}

func raw(dst []byte, k string, value json.RawMessage) []byte {
	dst = name(dst, k)
	if len(value) == 0 {
		return append(dst, "null"...)
	}
	return append(dst, value...)
}

func optionalRaw(dst []byte, k string, value json.RawMessage) []byte {
	if len(value) == 0 || string(value) == "null" {
		return dst
	}
	return raw(dst, k, value)
}

func appendBool(dst []byte, k string, value bool) []byte {
	if !value {
		return dst
	}
	return append(name(dst, k), "true"...)
}
