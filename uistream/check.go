package uistream

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// This file checks a chunk against the clients of a profile.

// Check reports whether every client of the profile accepts a chunk, given as the
// JSON of one frame. The type must be known, and the required fields present. Every
// field must be known and of the right type, and no optional field null. Check is
// as strict as the first releases were. The error is one sentence.
func (p Profile) Check(chunk []byte) (err error) {
	var head struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(chunk, &head); err != nil {
		return fmt.Errorf("the chunk is not a JSON object: %w", err)
	}
	p.each(head.Type, func(v release) bool {
		err = checkFor(v, head.Type, chunk)
		return err == nil
	})
	return err
}

func checkFor(v release, typ string, chunk []byte) error {
	if bytes.ContainsAny(chunk, "\r\n") {
		return errors.New("the chunk is not on one line")
	}
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(chunk, &keys); err != nil {
		return fmt.Errorf("the chunk is not a JSON object: %w", err)
	}
	delete(keys, "type")
	r, ok := lookup(typ)
	if !ok || !r.since.knownTo(v) {
		return fmt.Errorf("client %s does not know the chunk type %q", v, typ)
	}
	for _, f := range r.fields {
		value, ok := keys[f.name]
		delete(keys, f.name)
		switch {
		case !ok && f.required:
			return fmt.Errorf("a %s chunk lacks the key %q", typ, f.name)
		case !ok:
		case !f.since.knownTo(v):
			return fmt.Errorf("client %s does not know the key %q of a %s chunk", v, f.name, typ)
		case !f.kind.holds(value, v):
			return fmt.Errorf("client %s rejects %s as %q of a %s chunk", v, value, f.name, typ)
		}
	}
	for name := range keys {
		return fmt.Errorf("client %s does not know the key %q of a %s chunk", v, name, typ)
	}
	return nil
}

// holds reports whether a client accepts the value for a field of the kind.
func (k kind) holds(value json.RawMessage, v release) bool {
	null := string(value) == "null"
	switch k {
	case str:
		var s string
		return !null && json.Unmarshal(value, &s) == nil
	case boolean:
		var b bool
		return !null && json.Unmarshal(value, &b) == nil
	case array:
		var l []json.RawMessage
		return !null && json.Unmarshal(value, &l) == nil
	case metadata:
		var m map[string]map[string]json.RawMessage
		return !null && json.Unmarshal(value, &m) == nil
	case reason:
		var s string
		return json.Unmarshal(value, &s) == nil && finishReasonKnown(s, v)
	default: // anything
		return true
	}
}

// finishReasonKnown is the closed set of finish reasons.
func finishReasonKnown(s string, v release) bool {
	switch s {
	case finishStop, finishLength, finishFilter, finishTools, finishError, finishOther:
		return true
	case "unknown":
		return v.major == 5
	case "interrupted":
		return knowsInterrupted.knownTo(v)
	default:
		return false
	}
}
