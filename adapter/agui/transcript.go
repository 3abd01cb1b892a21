package agui

import (
	"cmp"
	"slices"
	"strings"
)

// The roles of messages.
const (
	roleUser      = "user"
	roleAssistant = "assistant"
	roleTool      = "tool"
	roleReasoning = "reasoning"
)

// message is a message of the conversation, as a run gets it.
type message struct {
	ID         string      `json:"id"`
	Role       string      `json:"role"`
	Content    raw         `json:"content,omitempty"`
	Calls      []*toolCall `json:"toolCalls,omitempty"`
	ToolCallID string      `json:"toolCallId,omitempty"`
	Error      string      `json:"error,omitempty"`
	Encrypted  string      `json:"encryptedValue,omitempty"`
	Sub        string      `json:"subagentRunId,omitempty"`

	text strings.Builder // of an assistant's message, or of reasoning
}

// toolCall is a call in an assistant's message.
type toolCall struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string   `json:"name"`
		Arguments jsonText `json:"arguments"`
	} `json:"function"`
	Encrypted string `json:"encryptedValue,omitempty"`
}

// jsonText is JSON as a text. Some endpoints write the JSON itself.
type jsonText string

// UnmarshalJSON implements json.Unmarshaler.
func (j *jsonText) UnmarshalJSON(data []byte) error {
	*j = jsonText(plain(data))
	return nil
}

// transcript is a conversation that grows.
type transcript struct {
	messages []*message
	turn     int // where the newest turn begins: ids of earlier turns may come again
}

// begin begins a turn.
func (t *transcript) begin() { t.turn = len(t.messages) }

// find returns the message of the turn with that role and id.
func (t *transcript) find(role, id string) *message {
	for _, m := range t.messages[t.turn:] {
		if m.Role == role && m.ID == id {
			return m
		}
	}
	return nil
}

// at returns the message with that role and id, and adds the message if there is none.
func (t *transcript) at(role, id string) *message {
	m := t.find(role, id)
	if m == nil {
		m = &message{ID: id, Role: role}
		t.messages = append(t.messages, m)
	}
	return m
}

// say adds to a text.
func (t *transcript) say(role, id, sub, text string) {
	m := t.at(role, id)
	m.Sub = sub
	m.text.WriteString(text)
}

// call returns the newest call with that id, or nil.
func (t *transcript) call(id string) *toolCall {
	for _, m := range slices.Backward(t.messages) {
		if i := slices.IndexFunc(m.Calls, func(c *toolCall) bool { return c.ID == id }); i >= 0 {
			return m.Calls[i]
		}
	}
	return nil
}

// begun adds a call to its message. Without a message of its own the call belongs to the
// assistant's last one, unless something else has come since.
func (t *transcript) begun(id, name, parent, sub string) *toolCall {
	c := &toolCall{ID: id, Type: "function"}
	c.Function.Name = name
	var m *message
	if n := len(t.messages); parent == "" && n > t.turn && t.messages[n-1].Role == roleAssistant {
		m = t.messages[n-1]
	} else {
		m = t.at(roleAssistant, cmp.Or(parent, id))
	}
	m.Sub, m.Calls = sub, append(m.Calls, c)
	return c
}

// result adds the result of a call, before words that were said meanwhile: models want results right behind
// their calls.
func (t *transcript) result(id, call, sub string, content raw, failure string) {
	at := len(t.messages)
	for at > t.turn && len(t.messages[at-1].Calls) == 0 && slices.Contains([]string{roleAssistant, roleReasoning}, t.messages[at-1].Role) {
		at--
	}
	t.messages = slices.Insert(t.messages, at, &message{ID: cmp.Or(id, "result-"+call), Role: roleTool, ToolCallID: call, Content: content, Error: failure, Sub: sub})
}

// seal keeps what a provider wants to get back with a message or a call.
func (t *transcript) seal(e sealed) {
	if c := t.call(e.Entity); c != nil {
		c.Encrypted = e.Value
		return
	}
	for _, role := range []string{roleReasoning, roleAssistant} {
		if m := t.find(role, e.Entity); m != nil {
			m.Encrypted = e.Value
			return
		}
	}
	t.at(roleReasoning, e.Entity).Encrypted = e.Value // reasoning that nobody may read
}

// knows reports whether a message has been said: the same, or one with the same words.
func (t *transcript) knows(m *message) bool {
	text := plain(m.Content)
	return slices.ContainsFunc(t.messages, func(o *message) bool {
		return o.Role == m.Role && m.Role != roleTool && (o.ID == m.ID || text != "" && o.text.String() == text)
	})
}

// encoded returns the messages that hold something. Ids are unique. Endpoints before 1.0
// know no reasoning.
func (t *transcript) encoded(legacy bool) []raw {
	all, ids := []raw{}, map[string]bool{}
	for n, m := range t.messages {
		if m.text.Len() > 0 || m.Role == roleReasoning {
			m.Content = encode(m.text.String())
		}
		if len(m.Content) == 0 && len(m.Calls) == 0 || legacy && m.Role == roleReasoning {
			continue
		}
		for ids[m.ID] || m.ID == "" {
			m.ID += "." + string(encode(n))
		}
		ids[m.ID] = true
		for _, c := range m.Calls {
			if !isJSON(string(c.Function.Arguments)) {
				c.Function.Arguments = "{}"
			}
		}
		all = append(all, encode(m))
	}
	return all
}
