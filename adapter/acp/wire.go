package acp

import (
	"encoding/json"
	"strings"

	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/internal/jsonrpc"
	"github.com/tributary-dev/tributary/trace"
)

// raw is JSON that is looked at later, or never.
type raw = json.RawMessage

// text is a string that may hold half a character.
type text = trace.JSONText

type object = map[string]any

// The methods of the protocol that this package names in several places.
const (
	methodInitialize = "initialize"
	methodNew        = "session/new"
	methodLoad       = "session/load"
	methodResume     = "session/resume"
	methodList       = "session/list"
	methodSetOption  = "session/set_config_option"
	methodPrompt     = "session/prompt"
	methodCancel     = "session/cancel"
	methodPermission = "session/request_permission"
	methodElicit     = "elicitation/create"
	methodRead       = "fs/read_text_file"
	methodWrite      = "fs/write_text_file"
	methodTerminal   = "terminal/create"
	methodOutput     = "terminal/output"
)

// parse decodes JSON as far as it has the form of T. Agents put anything anywhere.
func parse[T any](data raw) (v T) {
	_ = json.Unmarshal(data, &v)
	return v
}

// list holds elements of any form. Lists are long, so each is read in one pass.
type list[T any] []element[T]

// element is empty if it has another form than T.
type element[T any] struct{ value *T }

// UnmarshalJSON implements json.Unmarshaler.
func (e *element[T]) UnmarshalJSON(data []byte) error {
	var v T
	if json.Unmarshal(data, &v) == nil {
		e.value = &v
	}
	return nil
}

// all are the elements that have the form of T.
func (l list[T]) all() []T {
	var all []T
	for _, e := range l {
		if e.value != nil {
			all = append(all, *e.value)
		}
	}
	return all
}

// ids are the fields of messages that name something.
type ids struct {
	Session  string `json:"sessionId"`
	Terminal string `json:"terminalId"`
	Cwd      string `json:"cwd"`
	Request  raw    `json:"requestId"`
}

// block is a content block.
type block struct {
	Type     string `json:"type"`
	Text     text   `json:"text"`
	Data     string `json:"data"`
	MimeType string `json:"mimeType"`
	URI      string `json:"uri"`
	Name     string `json:"name"`
	Resource struct {
		URI      string `json:"uri"`
		MimeType string `json:"mimeType"`
		Text     *text  `json:"text"`
		Blob     string `json:"blob"`
	} `json:"resource"`
}

// update is the body of session/update. Fields that only some kinds have are empty in
// the others.
type update struct {
	Kind      string `json:"sessionUpdate"`
	MessageID string `json:"messageId"`
	Meta      raw    `json:"_meta"`
	toolCall

	Entries []struct {
		Content text             `json:"content"`
		Status  trace.PlanStatus `json:"status"`
	} `json:"entries"`
	Commands      list[command] `json:"availableCommands"`
	ModeID        string        `json:"currentModeId"`
	ConfigOptions list[option]  `json:"configOptions"`
	Used          int64         `json:"used"`
	Size          int64         `json:"size"`
	Cost          struct {
		Amount   float64 `json:"amount"`
		Currency string  `json:"currency"`
	} `json:"cost"`
}

// toolCall is a call, or what is new about it.
type toolCall struct {
	ID        string `json:"toolCallId"`
	Name      string `json:"name"`
	Title     text   `json:"title"`
	ToolKind  string `json:"kind"`
	Status    string `json:"status"`
	Content   raw    `json:"content"` // a block for chunks, a list for calls
	Locations []struct {
		Path string `json:"path"`
		Line int    `json:"line"`
	} `json:"locations"`
	RawInput  raw `json:"rawInput"`
	RawOutput raw `json:"rawOutput"`
}

// meta is what agents say beside the protocol.
type meta struct {
	Claude struct {
		ToolName string `json:"toolName"`
		Parent   string `json:"parentToolUseId"`
	} `json:"claudeCode"`
	Codex struct {
		Status struct {
			Type string `json:"type"`
		} `json:"threadStatus"`
	} `json:"codex"`
	Goose struct {
		Call struct {
			ToolName string `json:"toolName"`
		} `json:"toolCall"`
	} `json:"goose"`
	ToolName string `json:"toolName"`
	VibeName string `json:"tool_name"`
	Parent   string `json:"parentToolCallId"`
	Delta    struct {
		Data text `json:"data"`
	} `json:"terminal_output_delta"`
	Output struct {
		Data text `json:"data"`
	} `json:"terminal_output"`
	// Quota counts the tokens of a turn.
	Quota struct {
		Count  tokenCount       `json:"token_count"`
		Models list[modelUsage] `json:"model_usage"`
	} `json:"quota"`
	// Model is the model that Claude Code works with.
	Model string `json:"_claude/model"`
	// Usage counts the tokens of one call of the model, which is over.
	Usage usage `json:"usage"`
	// Phase is preparing while the model writes a call (Qwen Code).
	Phase string `json:"phase"`
	// Kind says what a diff does.
	Kind string `json:"kind"`
}

// tokenCount counts tokens with the names of Gemini CLI, or with those of the adapters of
// Claude Code and Codex.
type tokenCount struct {
	Input  int64 `json:"input_tokens"`
	Output int64 `json:"output_tokens"`
	In     int64 `json:"inputTokens"`
	Out    int64 `json:"outputTokens"`
}

func (c tokenCount) sum() int64 { return c.Input + c.Output + c.In + c.Out }

// modelUsage counts the tokens of one of the models of a turn.
type modelUsage struct {
	Model string     `json:"model"`
	Count tokenCount `json:"token_count"`
}

// item is an element of a call's content.
type item struct {
	Type       string `json:"type"`
	Content    block  `json:"content"`
	Path       string `json:"path"`
	OldText    *text  `json:"oldText"`
	NewText    text   `json:"newText"`
	TerminalID string `json:"terminalId"`
	Meta       raw    `json:"_meta"`
}

type command struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Input       struct {
		Hint string `json:"hint"`
	} `json:"input"`
}

// usage counts the tokens of a turn, or of a call of the model.
type usage struct {
	Input      int64 `json:"inputTokens"`
	Output     int64 `json:"outputTokens"`
	Total      int64 `json:"totalTokens"`
	Thought    int64 `json:"thoughtTokens"`
	CacheRead  int64 `json:"cachedReadTokens"`
	CacheWrite int64 `json:"cachedWriteTokens"`
}

// reply encodes the reply to a request of the agent's.
func reply(id raw, result any) raw {
	return agentkit.Encode(object{"jsonrpc": "2.0", "id": id, "result": result})
}

// refusal encodes the error with which a request of the agent's ends.
func refusal(id raw, err error) raw {
	e, ok := err.(jsonrpc.Error) //nolint:errorlint // the handlers here do not wrap
	if !ok {
		e = jsonrpc.Error{Code: jsonrpc.CodeInternal, Message: err.Error()}
	}
	return agentkit.Encode(object{"jsonrpc": "2.0", "id": id, "error": e})
}

// present reports whether there is a value.
func present(data raw) bool { return len(data) > 0 && string(data) != "null" }

// sentence makes a line of text end like a sentence.
func sentence(s string) string {
	s = strings.TrimSpace(s)
	if s == "" || strings.ContainsAny(s[len(s)-1:], ".!?") {
		return s
	}
	return s + "."
}
