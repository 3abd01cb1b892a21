package langgraph

import (
	"slices"
	"strings"

	"github.com/tributary-dev/tributary/trace"
)

// role says who wrote a message.
type role int

// The roles. A message of any other type says nothing to the user.
const (
	other role = iota
	assistant
	human
	toolRole
)

// roles are the roles by the type of a message: of a dict, of a plain object, or the name of
// a class, without the word Chunk.
//
//nolint:gochecknoglobals // never written
var roles = map[string]role{
	"ai": assistant, "assistant": assistant, "AIMessage": assistant, "human": human, "user": human, "HumanMessage": human,
	"tool": toolRole, "ToolMessage": toolRole, "system": other, "developer": other, "SystemMessage": other, "function": other,
	"FunctionMessage": other, "chat": other, "ChatMessage": other, "remove": other, "RemoveMessage": other,
}

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

// calls reads calls. Nothing can be made of a call without an id.
func calls(data raw) []call {
	return slices.DeleteFunc(list[call](data), func(c call) bool { return c.ID == "" })
}

// parse reads a message. It reports false for JSON that is no message. The three
// serialisations have the fields in common.
func parse(data raw) (message, bool) {
	o := objectOf(data)
	kind := o.text("type", "role")
	if class := list[string](o["id"]); kind == "constructor" && len(class) > 0 {
		o, kind = o.in("kwargs"), class[len(class)-1]
	}
	kind, chunk := strings.CutSuffix(kind, "Chunk")
	r, known := roles[kind]
	if !known || o["content"] == nil && o["tool_calls"] == nil {
		return message{}, false
	}
	if r == toolRole {
		return message{role: r, id: o.text("id"), name: o.text("name"), callID: o.text("tool_call_id"), failed: o.text("status") == "error", output: unquoted(o["content"])}, true
	}
	response := o.in("response_metadata")
	m := message{
		role: r, id: o.text("id"), name: o.text("name"), calls: calls(o["tool_calls"]), invalid: calls(o["invalid_tool_calls"]),
		chunks: list[callChunk](o["tool_call_chunks"]), usage: usageOf(o.in("usage_metadata")),
		finish: response.text("finish_reason", "stop_reason"), model: response.text("model_name", "model"),
		content: append(reasoning(o.in("additional_kwargs")), blocks(o["content"])...),
	}
	m.last = m.finish != "" || o.text("chunk_position") == "last"
	m.delta = r == assistant && (chunk || o.first("tool_call_chunks") != nil)
	return m, true
}

// usageOf reads the tokens of a message.
func usageOf(o object) *trace.Usage {
	if o == nil {
		return nil
	}
	in := o.in("input_token_details")
	u := trace.Usage{
		InputTokens: o.number("input_tokens"), OutputTokens: o.number("output_tokens"), CacheReadTokens: in.number("cache_read"),
		CacheWriteTokens: in.number("cache_creation"), ReasoningTokens: o.in("output_token_details").number("reasoning"),
	}.CacheBy(o.number("total_tokens"))
	return &u
}

// full is the whole text of a message, or its whole reasoning.
func (m message) full(k kind) string {
	var b strings.Builder
	for _, one := range m.content {
		if one.kind == k {
			b.WriteString(one.text)
		}
	}
	return b.String()
}

// messages reads a list of messages, or one.
func messages(data raw) (all []message) {
	for _, one := range listed(data) {
		if m, ok := parse(one); ok {
			all = append(all, m)
		}
	}
	return all
}
