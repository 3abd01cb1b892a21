package trace

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/tributary-dev/tributary/internal/quote"
)

// This file writes and reads records as JSON.

// envelope is a record as it stands in JSON; docs/schemas/trace.schema.json describes
// it. A null leaves its field empty.
type envelope struct {
	V        int             `json:"v"`
	Session  string          `json:"session"`
	Turn     string          `json:"turn"`
	Seq      uint64          `json:"seq"`
	ID       string          `json:"id"`
	TS       time.Time       `json:"ts"`
	Type     Kind            `json:"type"`
	ParentID string          `json:"parent_id"`
	Actor    Actor           `json:"actor"`
	Payload  json.RawMessage `json:"payload"`
}

// AppendJSON appends the record as one line of JSON, without a newline. The payload
// of an Unknown is written as it came, byte for byte, so json.Marshal cannot do it.
// Only line breaks, which JSON allows between tokens and a line does not, become
// spaces.
func (r Record) AppendJSON(dst []byte) ([]byte, error) {
	if r.Payload == nil {
		return dst, fmt.Errorf("trace record %s has no payload: nothing can be written", r.ID)
	}
	ts := r.Time.UTC()
	if !inRFC3339(ts) {
		return dst, fmt.Errorf("trace record %s is of the year %d: JSON times have four digits", r.ID, ts.Year())
	}
	before := len(dst)
	dst = append(dst, `{"v":1,"session":`...)
	dst = quote.Append(dst, r.Session)
	dst = append(dst, `,"turn":`...)
	dst = appendOrNull(dst, r.Turn)
	dst = append(dst, `,"seq":`...)
	dst = strconv.AppendUint(dst, r.Seq, 10)
	dst = append(dst, `,"id":`...)
	dst = quote.Append(dst, r.ID)
	dst = append(dst, `,"ts":"`...)
	dst = ts.AppendFormat(dst, time.RFC3339Nano)
	dst = append(dst, `","type":`...)
	dst = quote.Append(dst, string(r.Payload.Kind()))
	dst = append(dst, `,"parent_id":`...)
	dst = appendOrNull(dst, r.Parent)
	dst = append(dst, `,"actor":`...)
	dst = quote.Append(dst, string(r.Actor))
	dst = append(dst, `,"payload":`...)
	start := len(dst)
	dst, ok := appendDelta(dst, r.Payload)
	if ok {
		return append(dst, '}'), nil
	}
	payload, err := MarshalPayload(r.Payload)
	if err != nil {
		return dst[:before], fmt.Errorf("encode %s record %s: %w", r.Payload.Kind(), r.ID, err)
	}
	dst = append(dst, payload...)
	if _, foreign := r.Payload.(Unknown); foreign {
		oneLine(dst[start:])
	}
	return append(dst, '}'), nil
}

// oneLine makes spaces of the line breaks in JSON, in place. In strings there
// are none.
func oneLine(raw []byte) []byte {
	for i, c := range raw {
		if c == '\n' || c == '\r' {
			raw[i] = ' '
		}
	}
	return raw
}

// MarshalJSON implements json.Marshaler. json.Marshal compacts the result;
// AppendJSON does not.
func (r Record) MarshalJSON() ([]byte, error) { return r.AppendJSON(nil) }

// UnmarshalJSON implements json.Unmarshaler.
func (r *Record) UnmarshalJSON(data []byte) error {
	var e envelope
	if err := json.Unmarshal(data, &e); err != nil {
		return fmt.Errorf("read a trace record: %w", quote.JSONError(err))
	}
	if e.V > Version {
		return fmt.Errorf("trace record %s has version %d, this program reads up to %d: use a newer one", e.ID, e.V, Version)
	}
	if e.V < 1 || e.Type == "" {
		return errors.New(`not a trace record: "v" and "type" are missing`)
	}
	e.TS = e.TS.UTC()
	if !inRFC3339(e.TS) {
		return fmt.Errorf("trace record %s is of the year %d: JSON times have four digits", e.ID, e.TS.Year())
	}
	payload, err := UnmarshalPayload(e.Type, e.Payload)
	if err != nil {
		return err
	}
	*r = Record{
		Session: e.Session, Turn: e.Turn, Seq: e.Seq,
		Event: Event{ID: e.ID, Time: e.TS, Parent: e.ParentID, Actor: e.Actor, Payload: payload},
	}
	return nil
}

// inRFC3339 reports whether the time is of a year with four digits.
func inRFC3339(utc time.Time) bool {
	const from, to = -62167219200, 253402300800 // the years 0 and 10000
	return utc.Unix() >= from && utc.Unix() < to
}

// MarshalPayload encodes a payload as the value of the envelope's "payload".
// Lists that are part of a payload's form are written even if they are empty.
func MarshalPayload(p Payload) ([]byte, error) {
	switch p := p.(type) {
	case Unknown:
		if len(p.Raw) == 0 {
			return []byte("null"), nil
		}
		if !json.Valid(p.Raw) {
			return nil, errors.New("its bytes are not JSON")
		}
		return p.Raw, nil
	case Prompt:
		p.Message.Parts = orEmpty(p.Message.Parts)
		return quote.Marshal(p)
	case PermissionRequest:
		p.Options = orEmpty(p.Options)
		return quote.Marshal(p)
	case Answer:
		p.Values = orEmpty(p.Values)
		return quote.Marshal(p)
	case Pause:
		p.Requests = orEmpty(p.Requests)
		return quote.Marshal(p)
	case Plan:
		p.Entries = orEmpty(p.Entries)
		return quote.Marshal(p)
	case Reply, MessageStart, MessageDelta, Message, ThoughtStart, ThoughtDelta, Thought, ToolCallStart, ToolCallDelta,
		ToolCall, ToolResultProgress, ToolResult, PermissionResponse, Question, Step, Usage, FileChange, Source, File,
		Data, Rewind, Error, Status, Stop: // hold no such list
	}
	return quote.Marshal(p)
}

func orEmpty[E any](list []E) []E {
	if list == nil {
		return []E{}
	}
	return list
}

func appendOrNull(dst []byte, s string) []byte {
	if s == "" {
		return append(dst, "null"...)
	}
	return quote.Append(dst, s)
}
