package trace

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/tributary-dev/tributary/internal/quote"
)

// This file decodes payloads from JSON by their kind.

// UnmarshalPayload decodes a payload of the given kind. A kind that this version
// does not know becomes an [Unknown].
func UnmarshalPayload(k Kind, raw json.RawMessage) (Payload, error) {
	if p, ok := flatPayload(k, raw); ok {
		return p, nil
	}
	decode, known := decoders[k]
	if !known {
		return Unknown{UnknownKind: k, Raw: bytes.Clone(raw)}, nil
	}
	p, err := decode(raw)
	if err != nil {
		return nil, fmt.Errorf("read a %s payload: %w", k, quote.JSONError(err))
	}
	return p, nil
}

var decoders = map[Kind]func(json.RawMessage) (Payload, error){ //nolint:gochecknoglobals // the one table of kinds, never written
	KindPrompt:             decode[Prompt],
	KindReply:              decode[Reply],
	KindMessageStart:       decode[MessageStart],
	KindMessageDelta:       decode[MessageDelta],
	KindMessage:            decode[Message],
	KindThoughtStart:       decode[ThoughtStart],
	KindThoughtDelta:       decode[ThoughtDelta],
	KindThought:            decode[Thought],
	KindToolCallStart:      decode[ToolCallStart],
	KindToolCallDelta:      decode[ToolCallDelta],
	KindToolCall:           decode[ToolCall],
	KindToolResultProgress: decode[ToolResultProgress],
	KindToolResult:         decode[ToolResult],
	KindPermissionRequest:  decode[PermissionRequest],
	KindPermissionResponse: decode[PermissionResponse],
	KindQuestion:           decode[Question],
	KindAnswer:             decode[Answer],
	KindPause:              decode[Pause],
	KindStep:               decode[Step],
	KindUsage:              decode[Usage],
	KindPlan:               decode[Plan],
	KindFileChange:         decode[FileChange],
	KindSource:             decode[Source],
	KindFile:               decode[File],
	KindData:               decode[Data],
	KindRewind:             decode[Rewind],
	KindError:              decode[Error],
	KindStatus:             decode[Status],
	KindStop:               decode[Stop],
}

func decode[P Payload](raw json.RawMessage) (Payload, error) {
	var p P
	if text := bytes.TrimSpace(raw); len(text) == 0 || string(text) == "null" {
		return nil, errors.New("it is missing")
	}
	err := json.Unmarshal(raw, &p)
	return p, err
}
