package agui

import (
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/trace"
)

// memoName is the name of the data that keeps what only the next run needs. Clients are not
// shown it.
const memoName = "agui"

// memo is a note beside the conversation.
type memo struct {
	// ID is the endpoint's own id of the message that the next record belongs to.
	ID     string  `json:"id,omitempty"`
	Sealed *sealed `json:"sealed,omitempty"`
	// Open is what the run has ended with, and Kind says what answers it.
	Open []interrupt `json:"open,omitempty"`
	Kind askKind     `json:"kind,omitempty"`
	Run  string      `json:"run,omitempty"`
	// Answered says that everything has its answer.
	Answered bool `json:"answered,omitempty"`
}

// interrupts are those that an endpoint of 1.0 waits for.
func (m memo) interrupts() []interrupt {
	if m.Kind != question {
		return nil
	}
	return m.Open
}

// sealed is a value that a provider wants to get back.
type sealed struct {
	Entity string `json:"entity"`
	Value  string `json:"value"`
}

func (m memo) record() trace.Data { return trace.Data{Name: memoName, Domain: true, Value: encode(m)} }

// memory is the conversation as the gateway's records tell it.
type memory struct {
	transcript
	state raw
	open  memo
	next  memo
	parts map[string]*message // of the turn
	prior string              // the turn of the record before
}

// remember reads the records of the earlier turns.
func remember(ctx context.Context, host agent.Host, legacy bool) (*memory, error) {
	m := &memory{}
	for r, err := range host.History(ctx) {
		if err != nil {
			return m, fmt.Errorf("read the conversation so far: %w", err)
		}
		m.take(r, legacy)
	}
	for _, i := range m.open.interrupts() { // the next run cancels them, and the endpoint itself says how their calls end
		m.messages = slices.DeleteFunc(m.messages, func(o *message) bool { return o.Role == roleTool && o.ToolCallID == i.ToolCallID && i.ToolCallID != "" })
	}
	return m, nil
}

func (m *memory) take(r trace.Record, legacy bool) {
	if r.Turn != m.prior || m.parts == nil {
		m.begin()
		m.prior, m.parts, m.next = r.Turn, map[string]*message{}, memo{}
	}
	if p, is := r.Payload.(trace.Prompt); is {
		m.messages = append(m.messages, userMessage(p.Message, legacy))
	}
	if r.Actor != trace.Agent {
		return
	}
	switch p := r.Payload.(type) { //nolint:gochecksumtype // the others are nothing that a run is told
	case trace.MessageStart:
		m.parts[p.Part] = m.at(roleAssistant, m.own(r.Turn+"-"+p.Part))
	case trace.ThoughtStart:
		m.parts[p.Part] = m.at(roleReasoning, m.own(r.Turn+"-"+p.Part))
	case trace.Message:
		m.ended(p.Part, p.Text)
	case trace.Thought:
		m.ended(p.Part, p.Text)
	case trace.ToolCallStart:
		m.begun(p.ToolCallID, p.RawName, m.own(""), "")
	case trace.ToolCall:
		if c := m.call(p.ToolCallID); c != nil {
			c.Function.Name, c.Function.Arguments = p.RawName, jsonText(p.Input)
		}
	case trace.ToolResult:
		if p.Status != trace.ToolCompleted {
			p.Error = cmp.Or(p.Error, string(p.Status))
		}
		m.result(m.own(r.Turn+"-"+p.ToolCallID), p.ToolCallID, "", encode(contentOf(p)), p.Error)
	case trace.Data:
		m.data(p)
	}
}

// own is the endpoint's own id of what begins now.
func (m *memory) own(otherwise string) string {
	id := cmp.Or(m.next.ID, otherwise)
	m.next = memo{}
	return id
}

func (m *memory) ended(part, text string) {
	if message := m.parts[part]; message != nil {
		message.text.WriteString(text)
	}
}

func (m *memory) data(p trace.Data) {
	var note memo
	switch {
	case p.Name == stateName && p.ID == stateName:
		m.state = p.Value
	case p.Name != memoName || !read(p.Value, &note):
	case note.Sealed != nil:
		m.seal(*note.Sealed)
	case note.Answered:
		m.open = memo{}
	case len(note.Open) > 0:
		m.open = note
	default:
		m.next = note
	}
}

// userMessage is a prompt. A prompt that is only text is sent as text, as every endpoint
// takes it.
func userMessage(u trace.UserMessage, legacy bool) *message {
	var all []part
	var texts []string
	for _, p := range u.Parts {
		all = append(all, inputPart(p, legacy))
		if p.Type == trace.InputText {
			texts = append(texts, p.Text)
		}
	}
	m := &message{ID: u.ID, Role: roleUser, Content: encode(all)}
	if len(texts) == len(all) {
		m.Content = encode(strings.Join(texts, "\n"))
	}
	return m
}

// inputPart is a part of a prompt. A file that only this machine can read becomes a sentence.
func inputPart(p trace.InputPart, legacy bool) part {
	file := agentkit.Attached(p)
	data := base64.StdEncoding.EncodeToString(file.Data)
	kind, _, _ := strings.Cut(file.Media, "/")
	if !slices.Contains([]string{"image", "audio", "video"}, kind) {
		kind = "document"
	}
	switch {
	case p.Type == trace.InputText:
		return part{Type: "text", Text: p.Text}
	case legacy && file.Inline:
		return part{Type: "binary", MimeType: file.Media, Data: data, Filename: p.Filename}
	case legacy && file.OnWeb():
		return part{Type: "binary", MimeType: file.Media, URL: p.URL, Filename: p.Filename}
	case file.Inline:
		return part{Type: kind, Source: &source{"data", data, cmp.Or(file.Media, "application/octet-stream")}}
	case file.OnWeb():
		return part{Type: kind, Source: &source{"url", p.URL, file.Media}}
	}
	return part{Type: "text", Text: file.Text()}
}
