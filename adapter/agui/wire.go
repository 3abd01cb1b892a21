package agui

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/trace"
)

type raw = json.RawMessage

// protocolVersion is what a run says that it speaks.
const protocolVersion = "1.0"

// event is any event. Fields that an event may lack may also be null.
type event struct {
	Type, RunID, StepName, MessageID, Role, Name, ActivityType string
	ToolCallID, ToolCallName, ParentMessageID                  string
	SubagentRunID, ParentSubagentRunID, ParentToolCallID       string
	EntityID, Source, FinishReason                             string

	Input, Outcome, Result, Usage, Message, Code raw
	Delta                                        raw // a text, or a patch
	Content                                      raw // a text, parts, or an object
	Snapshot, Patch, Event, Value                raw

	Messages       []*message
	Replace        *bool
	EncryptedValue trace.JSONText
}

// outcome says how the run ended, also where the endpoint does not say so.
func (e event) outcome() (o outcome) {
	if !read(e.Outcome, &o) {
		o = outcome{Type: plain(e.Outcome)}
	}
	return o
}

// outcome says how a run, or a sub-agent, ended.
type outcome struct {
	Type               string
	Interrupts         []interrupt
	PendingToolCallIDs []string
}

// interrupt is what a run asks for.
type interrupt struct {
	ID         string `json:"id"`
	Reason     string `json:"reason"`
	Message    string `json:"message"`
	ToolCallID string `json:"toolCallId"`
	Schema     raw    `json:"responseSchema"`
	Metadata   raw    `json:"metadata,omitempty"`
}

// resume is the answer to an interrupt.
type resume struct {
	ID      string `json:"interruptId"`
	Status  string `json:"status"`
	Payload raw    `json:"payload,omitempty"`
}

const (
	resolved  = "resolved"
	cancelled = "cancelled"
)

// usage is what a model used in a run.
type usage struct {
	Model                                      string
	InputTokens, OutputTokens, ReasoningTokens int64
	CachedInputTokens, CacheWriteInputTokens   int64
	TotalTokens                                int64
	PromptTokens, CompletionTokens             int64 // of endpoints before 1.0
}

// input is the body of a run's request.
type input struct {
	ThreadID  string         `json:"threadId"`
	RunID     string         `json:"runId"`
	Version   string         `json:"protocolVersion,omitempty"`
	Parent    string         `json:"parentRunId,omitempty"` // the run that is answered: TanStack AI wants to know
	State     raw            `json:"state"`
	Messages  []raw          `json:"messages"`
	Tools     []Tool         `json:"tools"`
	Context   []Context      `json:"context"`
	Forwarded map[string]any `json:"forwardedProps"`
	Resume    []resume       `json:"resume,omitempty"`
}

// has reports whether a tool is one of the app's.
func (in input) has(tool string) bool {
	return slices.ContainsFunc(in.Tools, func(o Tool) bool { return o.Name == tool })
}

// Tool is a tool of the app: the agent calls it, and the app's user or the app answers.
type Tool struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Parameters  any    `json:"parameters"`
}

// Context is something that the agent should know.
type Context struct {
	Description string `json:"description"`
	Value       string `json:"value"`
}

// part is a part of a message or of a tool's result.
type part struct {
	Type     string  `json:"type"`
	Text     string  `json:"text,omitempty"`
	Source   *source `json:"source,omitempty"`
	MimeType string  `json:"mimeType,omitempty"` // of the type binary, before 1.0
	Data     string  `json:"data,omitempty"`
	URL      string  `json:"url,omitempty"`
	Filename string  `json:"filename,omitempty"`
}

// source is where the bytes of a part come from: data, url, or file.
type source struct {
	Type     string `json:"type"`
	Value    string `json:"value"`
	MimeType string `json:"mimeType,omitempty"`
}

// parts reads content: a text, parts, or any other value as its JSON.
func parts(content raw) []part {
	var all []part
	if !read(content, &all) || len(all) == 0 || all[0].Type == "" {
		all = []part{{Type: "text", Text: plain(content)}}
	}
	return all
}

// textOf joins the texts of parts.
func textOf(all []part) (text string) {
	for _, p := range all {
		text += p.Text
	}
	return text
}

// file is a part as a file; false for text, and for a handle that only a provider can read.
func (p part) file() (trace.File, bool) {
	f := trace.File{URL: p.URL, MediaType: p.MimeType, Filename: p.Filename}
	if s := p.Source; s != nil {
		f.MediaType = s.MimeType
		switch s.Type {
		case "url":
			f.URL = s.Value
		case "data":
			p.Data = s.Value
		}
	}
	if p.Data != "" {
		f.URL = fmt.Sprintf("data:%s;base64,%s", f.MediaType, p.Data)
	}
	return f, f.URL != ""
}

// plain is a value as text: a text, or its JSON.
func plain(value raw) string {
	var s trace.JSONText
	switch {
	case isNull(value):
		return ""
	case value[0] == '"' && s.UnmarshalJSON(value) == nil: // the value is valid: it came as part of a message
		return string(s)
	}
	return string(value)
}

// read decodes a value and reports whether it has the form.
func read(value raw, into any) bool { return !isNull(value) && json.Unmarshal(value, into) == nil }

func isJSON(text string) bool { return json.Valid([]byte(text)) }

// isNull reports whether a field is absent or null.
func isNull(r raw) bool { return len(r) == 0 || string(r) == "null" }

// first is the first value that is not null.
func first(all ...raw) (value raw) {
	for _, value = range all {
		if !isNull(value) {
			break
		}
	}
	return value
}

func encode(v any) raw { return agentkit.Encode(v) }
