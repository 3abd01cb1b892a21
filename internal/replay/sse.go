package replay

import (
	"bytes"
	"encoding/json"

	"github.com/tributary-dev/tributary/agent"
)

// sseEvent gathers the lines of one server-sent event.
type sseEvent struct {
	name string
	data []byte
	some bool
}

// isSSE reports whether a line can only be one of server-sent events.
func isSSE(line []byte) bool {
	for _, field := range []string{":", "data:", "event:", "id:", "retry:"} {
		if bytes.HasPrefix(line, []byte(field)) {
			return true
		}
	}
	return false
}

// take adds a line; an empty one ends the event, which becomes a message.
func (e *sseEvent) take(line []byte) (agent.Message, bool) {
	if len(line) == 0 {
		done := *e
		*e = sseEvent{}
		if !done.some {
			return agent.Message{}, false
		}
		return agent.Message{Dir: agent.Out, Channel: done.name, Data: asJSON(done.data)}, true
	}
	field, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(field) {
	case "event":
		e.name = string(value)
	case "data":
		if e.some {
			e.data = append(e.data, '\n')
		}
		e.data = append(e.data, value...)
		e.some = true
	}
	return agent.Message{}, false
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
