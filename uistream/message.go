package uistream

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"

	"github.com/tributary-dev/tributary/internal/quote"
)

// This file has the message of a client and its JSON.

// Message is a message as the client keeps it (its UIMessage).
type Message struct {
	ID       string
	Role     string
	Metadata json.RawMessage // or nil
	Parts    []Part
}

// Part is a part of a message. Which fields count depends on its Type.
type Part struct {
	Type string
	// State is that of text and reasoning (streaming, done) or of a tool call.
	State string
	// ID is that of reasoning, or of data that may be replaced.
	ID   string
	Text string

	ToolCallID, ToolName string
	Title, ErrorText     string
	Input, Output        json.RawMessage // nil while there is none
	ProviderExecuted     bool
	Preliminary          bool
	Approval             *Approval

	URL, MediaType, Filename, SourceID string
	Data                               json.RawMessage
	ProviderMetadata                   json.RawMessage
	// Keys are further keys that come from an upstream of this protocol.
	Keys Keys

	whole bool // the keys are all that there is
}

// Approval is what a person was asked about a tool call.
type Approval struct {
	ID       string
	Answered bool
	Approved bool
	Reason   string
	Keys     Keys // as those of a Part
}

// The roles of a message, the types of its parts and the states of a tool call.
const (
	roleUser      = "user"
	roleAssistant = "assistant"

	partText        = "text"
	partReasoning   = "reasoning"
	partStep        = "step-start"
	partDynamic     = "dynamic-tool"
	partTool        = "tool-"
	partFile        = "file"
	partSourceURL   = "source-url"
	partSourceDoc   = "source-document"
	stateStreaming  = "streaming"
	stateDone       = "done"
	inputStreaming  = "input-streaming"
	inputAvailable  = "input-available"
	askedApproval   = "approval-requested"
	gotApproval     = "approval-responded"
	outputAvailable = "output-available"
	outputError     = "output-error"
	outputDenied    = "output-denied"
)

// MarshalJSON implements json.Marshaler.
func (m Message) MarshalJSON() ([]byte, error) { return m.AppendJSON(nil), nil }

// AppendJSON appends the message as one line of JSON.
func (m Message) AppendJSON(dst []byte) []byte {
	dst = m.appendHead(dst)
	for i, p := range m.Parts {
		dst = p.appendJSON(separate(dst, i))
	}
	return append(dst, messageEnd...)
}

func (m Message) appendHead(dst []byte) []byte {
	dst = append(dst, `{"id":`...)
	dst = quote.Append(dst, m.ID)
	dst = key(dst, "role", m.Role)
	dst = optionalRaw(dst, "metadata", m.Metadata)
	return append(dst, `,"parts":[`...)
}

const messageEnd = "]}"

// separate puts a comma before what is not the first.
func separate(dst []byte, i int) []byte {
	if i > 0 {
		dst = append(dst, ',')
	}
	return dst
}

// WriteMessages writes a list of messages as one line of JSON, part by part: the
// whole line of a large history would take its memory once more.
func WriteMessages(w io.Writer, messages []Message) error {
	l := MessageList{W: w}
	if err := l.Add(messages); err != nil {
		return err
	}
	return l.End()
}

// MessageList writes messages as WriteMessages does, some at a time.
type MessageList struct {
	W io.Writer

	begun bool
	n     int
}

// Add writes more messages.
func (l *MessageList) Add(messages []Message) error {
	line := l.begin()
	for _, m := range messages {
		line = m.appendHead(separate(line, l.n))
		l.n++
		for j, p := range m.Parts {
			line = p.appendJSON(separate(line, j))
			if len(line) < pieceSize {
				continue
			}
			if err := l.write(line); err != nil {
				return err
			}
			line = line[:0]
		}
		line = append(line, messageEnd...)
	}
	return l.write(line)
}

// End completes the array.
func (l *MessageList) End() error { return l.write(append(l.begin(), "]\n"...)) }

func (l *MessageList) begin() []byte {
	if l.begun {
		return nil
	}
	l.begun = true
	return []byte{'['}
}

func (l *MessageList) write(line []byte) error {
	if _, err := l.W.Write(line); err != nil {
		return fmt.Errorf("write the messages: %w", err)
	}
	return nil
}

// MarshalJSON implements json.Marshaler.
func (p Part) MarshalJSON() ([]byte, error) { return p.appendJSON(nil), nil }

func (p Part) appendJSON(dst []byte) []byte {
	dst = append(dst, `{"type":`...)
	dst = quote.Append(dst, p.Type)
	switch {
	case p.whole:
	case p.Type == partText:
		dst = optional(key(dst, "text", p.Text), "state", p.State)
	case p.Type == partReasoning:
		dst = key(key(optional(dst, "id", p.ID), "text", p.Text), "state", p.State)
	case p.isTool():
		dst = p.appendTool(dst)
	case p.Type == partFile:
		dst = optional(key(key(dst, "mediaType", p.MediaType), "url", p.URL), "filename", p.Filename)
	case p.Type == partSourceURL:
		dst = optional(key(key(dst, "sourceId", p.SourceID), "url", p.URL), "title", p.Title)
	case p.Type == partSourceDoc:
		dst = key(key(dst, "sourceId", p.SourceID), "mediaType", p.MediaType)
		dst = optional(key(dst, "title", p.Title), "filename", p.Filename)
	case p.Type != partStep:
		dst = raw(optional(dst, "id", p.ID), "data", p.Data)
	}
	return append(p.Keys.append(optionalRaw(dst, metadataKey, p.ProviderMetadata)), '}')
}

func (p Part) appendTool(dst []byte) []byte {
	if p.Type == partDynamic {
		dst = key(dst, "toolName", p.ToolName)
	}
	dst = key(key(dst, "toolCallId", p.ToolCallID), "state", p.State)
	if p.Input != nil {
		dst = raw(dst, "input", p.Input)
	}
	if p.Output != nil {
		dst = raw(dst, "output", p.Output)
	}
	if p.State == outputError {
		dst = key(dst, "errorText", p.ErrorText)
	}
	dst = appendBool(dst, "providerExecuted", p.ProviderExecuted)
	dst = appendBool(dst, "preliminary", p.Preliminary)
	dst = optional(dst, "title", p.Title)
	if a := p.Approval; a != nil {
		dst = append(dst, `,"approval":{"id":`...)
		dst = quote.Append(dst, a.ID)
		if a.Answered {
			dst = optional(strconv.AppendBool(name(dst, "approved"), a.Approved), "reason", a.Reason)
		}
		dst = append(a.Keys.append(dst), '}')
	}
	return dst
}

func (p Part) isTool() bool { return p.ToolCallID != "" || p.Type == partDynamic }
