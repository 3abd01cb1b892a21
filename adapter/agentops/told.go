package agentops

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// told is what was said in a session, message by message as it came. An element that says
// nothing is shorter in an answer than in memory, so there is a bound to their number
// beside that of the answer's size.
type told []json.RawMessage

// mostTold is how many messages are read at once.
const mostTold = 20_000

// errTooMany is what is read of a history beyond that: the newest of it, which are those
// that matter, would be left out.
var errTooMany = &failure{sentence: fmt.Sprintf("Agent Ops tells more than %d messages of the session at once, which is the most that is read of it.", mostTold), final: true}

// UnmarshalJSON implements json.Unmarshaler.
func (t *told) UnmarshalJSON(data []byte) error {
	*t = nil
	list := json.NewDecoder(bytes.NewReader(data))
	if open, err := list.Token(); err != nil || open == nil { // null is no list
		return err //nolint:wrapcheck // json's own
	}
	all := told{}
	for list.More() {
		if len(all) == mostTold {
			return errTooMany
		}
		var m json.RawMessage
		if err := list.Decode(&m); err != nil {
			return err //nolint:wrapcheck // json's own
		}
		all = append(all, m)
	}
	*t = all
	return nil
}
