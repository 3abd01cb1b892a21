package langgraph

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"strings"

	"github.com/tributary-dev/tributary/trace"
)

// raw is JSON that is not decoded yet.
type raw = json.RawMessage

// role says who wrote a message.
type role int

// The roles. A message of any other type says nothing to the user.
const (
	other role = iota
	assistant
	human
	toolRole
)

// message is a message of LangChain, whatever its serialisation.
type message struct {
	role role
	// delta says that the message is a chunk and not a whole.
	delta    bool
	id, name string
	content  []block
	chunks   []callChunk
	calls    []call
	invalid  []call // the arguments are a text that LangChain could not parse
	finish   string
	last     bool // of the chunks of a message
	model    string
	usage    *trace.Usage
	callID   string // of a tool's result
	failed   bool
	output   raw
}

// callChunk is a piece of a tool call. Only the first piece has an id and a name.
type callChunk struct {
	Index int            `json:"index"`
	ID    string         `json:"id"`
	Name  string         `json:"name"`
	Args  trace.JSONText `json:"args"`
}

// call is a tool call with arguments that LangChain has parsed.
type call struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Args raw    `json:"args"`
}

// usage are the tokens of a message.
type usage struct {
	Input   int64 `json:"input_tokens"`
	Output  int64 `json:"output_tokens"`
	Details struct {
		CacheRead  int64 `json:"cache_read"`
		CacheWrite int64 `json:"cache_creation"`
	} `json:"input_token_details"`
	OutputDetails struct {
		Reasoning int64 `json:"reasoning"`
	} `json:"output_token_details"`
}

func (u *usage) record() *trace.Usage {
	if u == nil {
		return nil
	}
	return &trace.Usage{
		InputTokens: u.Input, OutputTokens: u.Output, CacheReadTokens: u.Details.CacheRead,
		CacheWriteTokens: u.Details.CacheWrite, ReasoningTokens: u.OutputDetails.Reasoning,
	}
}

// form is a message on the wire. The three serialisations have the fields in common.
type form struct {
	Type    string       `json:"type"`
	Role    string       `json:"role"` // of a plain object
	ID      raw          `json:"id"`   // a list of names in the constructor form
	LC      int          `json:"lc"`
	Kwargs  raw          `json:"kwargs"`
	Name    string       `json:"name"`
	Content raw          `json:"content"`
	Chunks  *[]callChunk `json:"tool_call_chunks"`
	Calls   []call       `json:"tool_calls"`
	Invalid []call       `json:"invalid_tool_calls"`
	Usage   *usage       `json:"usage_metadata"`
	CallID  string       `json:"tool_call_id"`
	Status  string       `json:"status"`
	Last    string       `json:"chunk_position"`
	Extra   struct {
		Thoughts  trace.JSONText `json:"reasoning_content"`
		Reasoning blockForm      `json:"reasoning"`
	} `json:"additional_kwargs"`
	Response struct {
		Finish    string `json:"finish_reason"`
		Stop      string `json:"stop_reason"`
		Model     string `json:"model_name"`
		ModelName string `json:"model"`
	} `json:"response_metadata"`
}

// parse reads a message. It reports false for JSON that is no message.
func parse(data raw) (message, bool) {
	var f form
	if data = bytes.TrimSpace(data); len(data) == 0 || data[0] != '{' || !read(data, &f) {
		return message{}, false
	}
	kind := cmp.Or(f.Type, f.Role)
	if f.LC != 0 && kind == "constructor" {
		var class []string
		kwargs := f.Kwargs
		if !read(f.ID, &class) || len(class) == 0 {
			return message{}, false
		}
		if f = (form{}); !read(kwargs, &f) {
			return message{}, false
		}
		kind = class[len(class)-1]
	}
	m := message{
		id: text(f.ID), name: f.Name, calls: f.Calls, invalid: f.Invalid, usage: f.Usage.record(), callID: f.CallID,
		finish: cmp.Or(f.Response.Finish, f.Response.Stop), model: cmp.Or(f.Response.Model, f.Response.ModelName),
	}
	m.last = m.finish != "" || f.Last == "last"
	kind, m.delta = strings.CutSuffix(kind, "Chunk")
	var ok bool
	if m.role, ok = roles[kind]; !ok || len(f.Content) == 0 && len(f.Calls) == 0 {
		return message{}, false
	}
	if f.Chunks != nil {
		m.delta, m.chunks = true, *f.Chunks
	}
	m.delta = m.delta && m.role == assistant
	if m.role == toolRole {
		m.failed, m.output = f.Status == "error", result(f.Content)
		return m, true
	}
	m.content = append(reasoning(f), blocks(f.Content)...)
	return m, true
}

// roles are the roles by the type of a message: of a dict, of a plain object, or the name of
// a class, without the word Chunk.
//
//nolint:gochecknoglobals // never written
var roles = map[string]role{
	"ai": assistant, "assistant": assistant, "AIMessage": assistant, "human": human, "user": human, "HumanMessage": human,
	"tool": toolRole, "ToolMessage": toolRole, "system": other, "developer": other, "SystemMessage": other, "function": other,
	"FunctionMessage": other, "chat": other, "ChatMessage": other, "remove": other, "RemoveMessage": other,
}

// reasoning reads what some providers keep beside the content.
func reasoning(f form) []block {
	b := f.Extra.Reasoning
	b.Type, b.Thinking = "reasoning", f.Extra.Thoughts
	if all := b.blocks(); all[0].text != "" {
		return all
	}
	return nil
}

// said is what a message says, without its other blocks.
func (m message) said(k kind) string {
	var b strings.Builder
	for _, one := range m.content {
		if one.kind == k {
			b.WriteString(one.text)
		}
	}
	return b.String()
}

// result is the output of a tool: JSON in a string is JSON.
func result(content raw) raw {
	s := strings.TrimSpace(text(content))
	if (strings.HasPrefix(s, "{") || strings.HasPrefix(s, "[")) && json.Valid([]byte(s)) {
		return raw(s)
	}
	return content
}

// text is a JSON string, or "".
func text(data raw) string {
	var s string
	_ = json.Unmarshal(data, &s)
	return s
}

// read decodes JSON as far as the fields have the types that they should have.
func read(data raw, into any) bool {
	err := json.Unmarshal(data, into)
	_, mistyped := errors.AsType[*json.UnmarshalTypeError](err)
	return err == nil || mistyped
}
