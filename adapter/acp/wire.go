package acp

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"

	"github.com/tributary-dev/tributary/internal/jsonrpc"
	"github.com/tributary-dev/tributary/trace"
)

// raw is JSON that is looked at later, or never.
type raw = json.RawMessage

// The methods of the protocol that this package knows.
const (
	methodInitialize   = "initialize"
	methodAuthenticate = "authenticate"
	methodNew          = "session/new"
	methodLoad         = "session/load"
	methodResume       = "session/resume"
	methodClose        = "session/close"
	methodSetMode      = "session/set_mode"
	methodSetModel     = "session/set_model"
	methodSetOption    = "session/set_config_option"
	methodPrompt       = "session/prompt"
	methodCancel       = "session/cancel"
	methodUpdate       = "session/update"
	methodPermission   = "session/request_permission"
	methodElicit       = "elicitation/create"
	methodRead         = "fs/read_text_file"
	methodWrite        = "fs/write_text_file"
	methodTermCreate   = "terminal/create"
	methodTermOutput   = "terminal/output"
	methodTermWait     = "terminal/wait_for_exit"
	methodTermKill     = "terminal/kill"
	methodTermRelease  = "terminal/release"
	methodWithdraw     = "$/cancel_request"
)

// text is a string that may hold half a character.
type text = trace.JSONText

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
	Meta      meta   `json:"_meta"`
	toolCall

	Entries []struct {
		Content text             `json:"content"`
		Status  trace.PlanStatus `json:"status"`
	} `json:"entries"`
	Commands      []command `json:"availableCommands"`
	ModeID        string    `json:"currentModeId"`
	ConfigOptions []option  `json:"configOptions"`
	Used          *int64    `json:"used"`
	Size          int64     `json:"size"`
	Cost          *struct {
		Amount   float64 `json:"amount"`
		Currency string  `json:"currency"`
	} `json:"cost"`
}

// toolCall is a call, or what is new about it.
type toolCall struct {
	ID        string `json:"toolCallId"`
	Name      string `json:"name"`
	Title     *text  `json:"title"`
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
	ToolName      string       `json:"toolName"`
	VibeName      string       `json:"tool_name"`
	Parent        string       `json:"parentToolCallId"`
	TerminalDelta terminalMeta `json:"terminal_output_delta"`
	Terminal      terminalMeta `json:"terminal_output"`
}

type terminalMeta struct {
	Data text `json:"data"`
}

// UnmarshalJSON implements json.Unmarshaler: an agent may put anything in there.
func (m *meta) UnmarshalJSON(data []byte) error {
	type plain meta
	var p plain
	if json.Unmarshal(data, &p) == nil {
		*m = meta(p)
	}
	return nil
}

// item is an element of a call's content.
type item struct {
	Type       string  `json:"type"`
	Content    block   `json:"content"`
	Path       string  `json:"path"`
	OldText    *text   `json:"oldText"`
	NewText    text    `json:"newText"`
	TerminalID string  `json:"terminalId"`
	Meta       rawKind `json:"_meta"`
}

// rawKind says what a diff does to its file, if the agent says so.
type rawKind struct {
	Kind string `json:"kind"`
}

// UnmarshalJSON implements json.Unmarshaler, as above.
func (k *rawKind) UnmarshalJSON(data []byte) error {
	type plain rawKind
	var p plain
	if json.Unmarshal(data, &p) == nil {
		*k = rawKind(p)
	}
	return nil
}

type command struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Input       *struct {
		Hint string `json:"hint"`
	} `json:"input"`
}

// UnmarshalJSON implements json.Unmarshaler: what is no command is left out later.
func (c *command) UnmarshalJSON(data []byte) error {
	type plain command
	var p plain
	if json.Unmarshal(data, &p) == nil {
		*c = command(p)
	}
	return nil
}

// usage counts the tokens of a turn.
type usage struct {
	Input      int64 `json:"inputTokens"`
	Output     int64 `json:"outputTokens"`
	Total      int64 `json:"totalTokens"`
	Thought    int64 `json:"thoughtTokens"`
	CacheRead  int64 `json:"cachedReadTokens"`
	CacheWrite int64 `json:"cachedWriteTokens"`
}

// promptReply is the reply to session/prompt.
type promptReply struct {
	StopReason string `json:"stopReason"`
	Usage      *usage `json:"usage"`
	Meta       struct {
		Quota struct {
			Count struct {
				Input  int64 `json:"input_tokens"`
				Output int64 `json:"output_tokens"`
			} `json:"token_count"`
		} `json:"quota"`
	} `json:"_meta"`
}

// encode makes JSON of a value, with <, > and & as they are.
func encode(v any) raw {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return raw("null")
	}
	return bytes.TrimSpace(b.Bytes())
}

// reply encodes the reply to a request of the agent's.
func reply(id raw, result any) raw {
	return encode(map[string]any{"jsonrpc": "2.0", "id": id, "result": result})
}

// object reports whether JSON is an object with members.
func object(data raw) bool {
	data = bytes.TrimSpace(data)
	return len(data) > 2 && data[0] == '{' && !bytes.Equal(data, raw("{ }"))
}

func present(data raw) bool { return len(data) > 0 && !bytes.Equal(data, raw("null")) }

// sentence makes a line of text end like a sentence.
func sentence(s string) string {
	s = strings.TrimSpace(s)
	if s == "" || strings.ContainsAny(s[len(s)-1:], ".!?") {
		return s
	}
	return s + "."
}

// join makes a command line of a program and its arguments, for people.
func join(line []string) string {
	quoted := make([]string, len(line))
	for i, word := range line {
		quoted[i] = word
		if word == "" || strings.ContainsAny(word, " \t\n'\"$`\\;&|<>(){}*?#~!") {
			quoted[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
	}
	return strings.Join(quoted, " ")
}

// failureOf makes a reply of an error.
func failureOf(err error) jsonrpc.Error {
	if e, ok := errors.AsType[jsonrpc.Error](err); ok {
		return e
	}
	return jsonrpc.Error{Code: jsonrpc.CodeInternal, Message: err.Error()}
}
