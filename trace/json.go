package trace

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"
)

// envelope is a record as it stands in JSON, docs/trace.schema.json describes it.
type envelope struct {
	V        int             `json:"v"`
	Session  string          `json:"session"`
	Turn     *string         `json:"turn"`
	Seq      uint64          `json:"seq"`
	ID       string          `json:"id"`
	TS       time.Time       `json:"ts"`
	Type     Kind            `json:"type"`
	ParentID *string         `json:"parent_id"`
	Actor    Actor           `json:"actor"`
	Payload  json.RawMessage `json:"payload"`
}

// AppendJSON appends the record as one line of JSON, without a newline. The
// payload of an Unknown is written as it came, byte for byte, which is why this
// isn't left to json.Marshal.
func (r Record) AppendJSON(dst []byte) ([]byte, error) {
	payload, err := MarshalPayload(r.Payload)
	if err != nil {
		return dst, fmt.Errorf("encode %s record %s: %w", r.Payload.Kind(), r.ID, err)
	}
	head, err := marshal(struct {
		V        int     `json:"v"`
		Session  string  `json:"session"`
		Turn     *string `json:"turn"`
		Seq      uint64  `json:"seq"`
		ID       string  `json:"id"`
		TS       string  `json:"ts"`
		Type     Kind    `json:"type"`
		ParentID *string `json:"parent_id"`
		Actor    Actor   `json:"actor"`
	}{Version, r.Session, orNull(r.Turn), r.Seq, r.ID, r.Time.UTC().Format(time.RFC3339Nano), r.Payload.Kind(), orNull(r.Parent), r.Actor})
	if err != nil {
		return dst, fmt.Errorf("encode record %s: %w", r.ID, err)
	}
	dst = append(dst, head[:len(head)-1]...)
	dst = append(dst, `,"payload":`...)
	dst = append(dst, payload...)
	return append(dst, '}'), nil
}

// MarshalJSON implements json.Marshaler.
func (r Record) MarshalJSON() ([]byte, error) { return r.AppendJSON(nil) }

// UnmarshalJSON implements json.Unmarshaler.
func (r *Record) UnmarshalJSON(data []byte) error {
	var e envelope
	if err := json.Unmarshal(data, &e); err != nil {
		return fmt.Errorf("read a trace record: %w", err)
	}
	if e.V > Version {
		return fmt.Errorf("trace record %s has version %d, this program reads up to %d: use a newer one", e.ID, e.V, Version)
	}
	payload, err := UnmarshalPayload(e.Type, e.Payload)
	if err != nil {
		return err
	}
	*r = Record{
		Session: e.Session, Turn: fromNull(e.Turn), Seq: e.Seq,
		Event: Event{ID: e.ID, Time: e.TS, Parent: fromNull(e.ParentID), Actor: e.Actor, Payload: payload},
	}
	return nil
}

// MarshalPayload encodes a payload as the value of the envelope's "payload".
func MarshalPayload(p Payload) ([]byte, error) {
	if u, ok := p.(Unknown); ok {
		if len(u.Raw) == 0 {
			return []byte("null"), nil
		}
		return u.Raw, nil
	}
	return marshal(p)
}

// UnmarshalPayload decodes a payload of the given kind. A kind that this version
// does not know becomes an [Unknown].
func UnmarshalPayload(k Kind, raw json.RawMessage) (Payload, error) {
	decode, known := decoders[k]
	if !known {
		return Unknown{UnknownKind: k, Raw: bytes.Clone(raw)}, nil
	}
	p, err := decode(raw)
	if err != nil {
		return nil, fmt.Errorf("read a %s payload: %w", k, err)
	}
	return p, nil
}

// Kinds lists the closed set, in the order of the schema.
func Kinds() []Kind {
	return []Kind{
		KindPrompt, KindReply,
		KindMessageStart, KindMessageDelta, KindMessage,
		KindThoughtStart, KindThoughtDelta, KindThought,
		KindToolCallStart, KindToolCallDelta, KindToolCall, KindToolResultProgress, KindToolResult,
		KindPermissionRequest, KindPermissionResponse, KindQuestion, KindAnswer, KindPark,
		KindStep, KindUsage, KindPlan, KindFileChange, KindSource, KindFile, KindData,
		KindRewind, KindError, KindStatus, KindStop,
	}
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
	KindPark:               decode[Park],
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
	err := json.Unmarshal(raw, &p)
	return p, err
}

// marshal is json.Marshal without the escaping of <, > and &, which would make
// text grow for nothing: no record is ever put into HTML.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func fromNull(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
