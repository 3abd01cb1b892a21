package remote

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/tributary-dev/tributary/trace"
)

// foreignError says that a stream speaks another protocol: the Decoder has understood nothing.
type foreignError struct{ line string }

// Error implements error.
func (e foreignError) Error() string { return fmt.Sprintf("the stream begins with %.200q", e.line) }

// foreignTo is the error for an event of another protocol.
func foreignTo(data json.RawMessage) error {
	var words string
	if json.Unmarshal(data, &words) == nil {
		return foreignError{words}
	}
	return foreignError{string(data)}
}

// beginning keeps the beginning of a stream of server-sent events.
type beginning struct {
	head   []byte
	events int
}

// Write implements io.Writer.
func (b *beginning) Write(p []byte) (int, error) {
	if b.events == 0 && len(b.head) < 1<<10 {
		b.head = append(b.head, p...)
	}
	return len(p), nil
}

// foreign is the first line of a stream without events, or all of it in one line if it is JSON. The
// result is empty if that line is one of server-sent events.
func (b *beginning) foreign() string {
	line, _, _ := bytes.Cut(bytes.TrimSpace(b.head), []byte("\n"))
	if json.Valid(b.head) {
		line = trace.CompactJSON(b.head)
	}
	field, _, _ := strings.Cut(string(line), ":")
	if b.events > 0 || slices.Contains([]string{"", "event", "id", "retry", "data"}, field) {
		return ""
	}
	return string(line)
}
