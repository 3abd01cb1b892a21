package uistream

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"

	"github.com/tributary-dev/tributary/trace"
)

// This file reads chunks of other servers.

// ParseChunk reads a chunk of another server, of any release and leniently. Each key may be
// missing, a text may be a number, and a null counts as missing. Keys without a field of
// their own make the chunk an [Extended]. A type that this package never writes gives an
// [Other].
func ParseChunk(data []byte) (Chunk, error) {
	var k Keys
	if err := json.Unmarshal(data, &k); err != nil || k == nil {
		return nil, errors.New("a chunk of the stream is no JSON object")
	}
	typ := k.text("type")
	if typ == "" {
		return nil, errors.New("a chunk of the stream has no type")
	}
	c := k.chunk(typ)
	for name, value := range k {
		if string(bytes.TrimSpace(value)) == "null" && name != messageMetadataKey {
			delete(k, name)
			continue
		}
		k[name] = SafeJSON(value)
	}
	switch {
	case c == nil:
		return Other{typ, k}, nil
	case len(k) > 0:
		return Extended{c, k}, nil
	}
	return c, nil
}

// chunk takes the keys of a type that this package has; nil for another type.
func (k Keys) chunk(typ string) Chunk {
	call := func() string { return k.text("toolCallId") }
	switch typ {
	case "start":
		return Start{k.text("messageId")}
	case "start-step":
		return StartStep{}
	case "finish-step":
		return FinishStep{}
	case "text-start":
		return TextStart{k.text("id")}
	case "text-delta":
		return TextDelta{k.text("id"), k.text("delta", "textDelta")}
	case "text-end":
		return TextEnd{k.text("id")}
	case "reasoning-start":
		return ReasoningStart{k.text("id")}
	case "reasoning-delta":
		return ReasoningDelta{k.text("id"), k.text("delta", "textDelta")}
	case "reasoning-end":
		return ReasoningEnd{ID: k.text("id")}
	case "source-url":
		return SourceURL{k.text("sourceId"), k.text("url"), k.text("title")}
	case "source-document":
		return SourceDocument{k.text("sourceId"), k.text("mediaType"), k.text("title"), k.text("filename")}
	case "file":
		return File{k.text("url"), k.text("mediaType")}
	case "error":
		return Error{k.text("errorText", "error", "message")}
	case "abort":
		return Abort{k.text("reason")}
	case "finish":
		return Finish{Reason: k.text("finishReason"), Metadata: k.value(messageMetadataKey)}
	case "tool-input-start":
		return ToolInputStart{call(), k.text("toolName"), k.text("title"), k.form()}
	case "tool-input-delta":
		return ToolInputDelta{call(), k.text("inputTextDelta")}
	case "tool-input-available":
		return ToolInputAvailable{call(), k.text("toolName"), k.text("title"), k.value("input"), k.form()}
	case "tool-input-error":
		return ToolInputError{call(), k.text("toolName"), k.text("title"), k.text("errorText"), k.value("input"), k.form()}
	case "tool-output-available":
		return ToolOutputAvailable{call(), k.value("output"), k.boolean("preliminary"), k.form()}
	case "tool-output-error":
		return ToolOutputError{call(), k.text("errorText"), k.form()}
	case "tool-output-denied":
		return ToolOutputDenied{call()}
	case "tool-approval-request":
		return ToolApprovalRequest{call(), k.text("approvalId")}
	case "tool-approval-response":
		return ToolApprovalResponse{k.text("approvalId"), k.boolean("approved"), k.text("reason")}
	}
	if name, is := strings.CutPrefix(typ, dataPrefix); is {
		return Data{Name: name, ID: k.text("id"), Value: k.value("data"), Transient: k.boolean("transient")}
	}
	return nil
}

// text takes a text: of the first name, or of one that hand-written servers use instead. A value
// of another kind counts as its JSON.
func (k Keys) text(name string, instead ...string) string {
	for _, other := range instead {
		if k[name] == nil {
			name = other
		}
	}
	value := k[name]
	delete(k, name)
	var s trace.JSONText
	if json.Unmarshal(value, &s) != nil {
		return string(value)
	}
	return string(s)
}

func (k Keys) boolean(name string) (is bool) {
	_ = json.Unmarshal(k[name], &is) // another kind is no
	delete(k, name)
	return is
}

// value takes any value; nil if there is none.
func (k Keys) value(name string) json.RawMessage {
	value, ok := k[name]
	delete(k, name)
	if !ok {
		return nil
	}
	return SafeJSON(value)
}

func (k Keys) form() Form {
	return Form{Unmarked: !k.boolean("providerExecuted"), Static: !k.boolean("dynamic")}
}
