package replay

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/tributary-dev/tributary/agent"
)

// isSSE reports whether a line can only be one of server-sent events.
func isSSE(line []byte) bool {
	for _, field := range []string{":", "data:", "event:", "id:", "retry:"} {
		if bytes.HasPrefix(line, []byte(field)) {
			return true
		}
	}
	return false
}

// nextEvent returns the next server-sent event as a message. The last one need not be
// complete.
func (s *scanner) nextEvent() (agent.Message, error) {
	e, err := s.events.Next()
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		if errors.Is(err, io.EOF) {
			return agent.Message{}, io.EOF
		}
		return agent.Message{}, fmt.Errorf("read the recording: %w", err)
	}
	return agent.Message{Dir: agent.Out, Channel: e.Name, Data: asJSON(e.Data)}, nil
}

// asJSON makes data that is not JSON, such as [DONE], a JSON string.
func asJSON(data []byte) json.RawMessage {
	if json.Valid(data) {
		return data
	}
	quoted, err := json.Marshal(string(data))
	if err != nil {
		return json.RawMessage(`""`)
	}
	return quoted
}
