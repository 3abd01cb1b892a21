package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// Frame is one frame of any direction: one of the types of this package.
type Frame interface {
	// Type is the frame's "type".
	Type() string
}

// ErrNotJSON says that a frame is not JSON, or not an object with a type.
var ErrNotJSON = errors.New("the frame is not a JSON object that has a type")

// FieldError says that a frame lacks what it cannot do without.
type FieldError struct {
	Type, Field string
}

func (e *FieldError) Error() string {
	return fmt.Sprintf("the frame %q needs %s, and it is missing or of another shape", e.Type, e.Field)
}

// Unknown is a frame of a type that is in no table: the protocol has moved on.
type Unknown struct {
	// Name is the frame's type, cut where it is longer than a name may be.
	Name string
	// RequestID is set where the sender waits for an answer.
	RequestID string
	Raw       json.RawMessage
}

// Type implements Frame.
func (f Unknown) Type() string { return f.Name }

// Other is a frame of a known type that has no Go type here.
type Other struct {
	Name string
	Raw  json.RawMessage
}

// Type implements Frame.
func (f Other) Type() string { return f.Name }

// longestName bounds what is kept of a type that is not known: it goes to logs.
const longestName = 64

// Decode reads a frame. The error is [ErrNotJSON] or a [*FieldError].
func Decode(d Direction, data []byte) (Frame, error) {
	typ, err := Peek(data)
	if err != nil {
		return nil, err
	}
	if read, ok := readers[key{d, typ}]; ok {
		return read(typ, data)
	}
	if !json.Valid(data) {
		return nil, ErrNotJSON
	}
	e, known := Lookup(d, typ)
	switch {
	case known && e.Answer != "":
		return needs(func(f Request) string { return unless(f.RequestID, "requestId") })(typ, data)
	case known:
		return Other{Name: typ, Raw: bytes.Clone(data)}, nil
	}
	u := Unknown{Name: typ, Raw: bytes.Clone(data)}
	if len(typ) > longestName {
		u.Name = typ[:longestName] + "…"
	}
	var r struct {
		RequestID string `json:"requestId"`
	}
	if _, err := unmarshal(data, &r); err == nil {
		u.RequestID = r.RequestID
	}
	return u, nil
}

// Peek finds the type of a frame without decoding the rest. Nearly every frame begins with
// its type, and a frame may be large. The error is [ErrNotJSON].
func Peek(data []byte) (string, error) {
	if rest, ok := bytes.CutPrefix(data, []byte(`{"type":"`)); ok {
		if i := bytes.IndexAny(rest[:min(len(rest), longestName)], `"\`); i >= 0 && rest[i] == '"' {
			return string(rest[:i]), nil
		}
	}
	var head struct {
		Type *string `json:"type"`
	}
	if json.Unmarshal(data, &head) != nil || head.Type == nil {
		return "", ErrNotJSON
	}
	return *head.Type, nil
}

// read decodes a frame into its own type.
func read[F Frame](typ string, data []byte) (Frame, error) {
	var f F
	lost, err := unmarshal(data, &f)
	switch {
	case err != nil:
		return nil, err
	case lost != "":
		return nil, &FieldError{Type: typ, Field: lost}
	}
	if n, ok := any(&f).(interface{ named(string, []byte) }); ok {
		n.named(typ, data)
	}
	return f, nil
}

// Encode writes a frame.
func Encode(f Frame) ([]byte, error) {
	switch f := f.(type) {
	case Unknown:
		return bytes.Clone(f.Raw), nil
	case Other:
		return bytes.Clone(f.Raw), nil
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(struct {
		Type string `json:"type"`
	}{f.Type()}); err != nil {
		return nil, fmt.Errorf("write the frame %q: %w", f.Type(), err)
	}
	head := len(bytes.TrimRight(out.Bytes(), "}\n"))
	out.Truncate(head)
	if err := enc.Encode(f); err != nil {
		return nil, fmt.Errorf("write the frame %q: %w", f.Type(), err)
	}
	frame := bytes.TrimSuffix(out.Bytes(), []byte("\n"))
	if string(frame[head:]) == "{}" {
		return append(frame[:head], '}'), nil
	}
	frame[head] = ','
	return frame, nil
}
