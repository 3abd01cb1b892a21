package claude

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/tributary-dev/tributary/trace"
)

// line is a JSON object that Claude Code writes or reads, one a line. Fields
// that only some types have are empty in the others.
type line struct {
	Type      string `json:"type"`
	Subtype   string `json:"subtype"`
	UUID      string `json:"uuid"`
	SessionID string `json:"session_id"`
	// Parent is the tool call whose sub-agent speaks.
	Parent string `json:"parent_tool_use_id"`

	// stream_event
	Event     event      `json:"event"`
	Abandoned *abandoned `json:"abandoned_blocks"`

	// assistant, user
	Message    message `json:"message"`
	Synthetic  bool    `json:"isSynthetic"`
	Replay     bool    `json:"isReplay"` // an echo, sent when the agent takes the message up
	Origin     origin  `json:"origin"`
	IsAPIError bool    `json:"is_api_error_message"`
	Error      raw     `json:"error"`
	Status     int     `json:"api_error_status"`
	APIError   string  `json:"api_error"`

	// user with results
	ToolUseResult  raw          `json:"tool_use_result"`
	ToolResultMeta []resultMeta `json:"tool_result_meta"`

	// control_request, control_response, control_cancel_request
	RequestID string          `json:"request_id"`
	Request   controlRequest  `json:"request"`
	Response  controlResponse `json:"response"`
}

// talk reports whether a line is of a type that the fields of line are for. Others use the same names for values of other
// forms: a system line of Claude Code 2.1.332 has a text as its event.
func (l line) talk() bool {
	switch l.Type {
	case "stream_event", "assistant", "user", "result", "control_request", "control_response", "control_cancel_request":
		return true
	}
	return false
}

// origin is where a message or a result comes from, if no person asked for it.
type origin struct {
	Kind string `json:"kind"`
}

// backgroundTask is the origin of a report of a background task.
const backgroundTask = "task-notification"

// raw is JSON that is looked at later, or never.
type raw = json.RawMessage

// message is a message of the Messages API.
type message struct {
	ID      string  `json:"id"`
	Model   string  `json:"model"`
	Content content `json:"content"`
	Usage   usage   `json:"usage"`
	// StopReason is missing as long as the model writes.
	StopReason string `json:"stop_reason"`
}

// content is a list of blocks; the API lets a plain string stand for one text.
type content []block

// UnmarshalJSON implements json.Unmarshaler.
func (c *content) UnmarshalJSON(data []byte) error {
	if bytes.HasPrefix(data, []byte(`"`)) {
		var text trace.JSONText
		if err := json.Unmarshal(data, &text); err != nil {
			return err
		}
		*c = content{{Type: "text", Text: text}}
		return nil
	}
	var blocks []block
	if err := json.Unmarshal(data, &blocks); err != nil {
		return err
	}
	*c = blocks
	return nil
}

// text returns the texts of the content, one a line.
func (c content) text() string {
	var texts []string
	for _, b := range c {
		if b.Type == "text" {
			texts = append(texts, string(b.Text))
		}
	}
	return strings.Join(texts, "\n")
}

// block is a content block.
type block struct {
	Type string `json:"type"`

	Text      trace.JSONText `json:"text"`
	Thinking  trace.JSONText `json:"thinking"`
	Signature string         `json:"signature"`
	Citations []citation     `json:"citations"`

	// tool_use and its relatives
	ID     string `json:"id"`
	Name   string `json:"name"`
	Server string `json:"server_name"`
	Input  raw    `json:"input"`

	// tool_result and its relatives
	ToolUseID string `json:"tool_use_id"`
	Content   raw    `json:"content"`
	IsError   bool   `json:"is_error"`

	// image, document
	Source *source `json:"source"`
	Title  string  `json:"title"`
}

// source is where the bytes of an image or a document are.
type source struct {
	Type      string `json:"type"`
	MediaType string `json:"media_type"`
	Data      string `json:"data"`
	URL       string `json:"url"`
}

// citation is what a text refers to.
type citation struct {
	URL           string `json:"url"`
	Title         string `json:"title"`
	DocumentTitle string `json:"document_title"`
}

// event is an event of the Messages API's stream.
type event struct {
	Type    string     `json:"type"`
	Index   int        `json:"index"`
	Message message    `json:"message"`
	Block   block      `json:"content_block"`
	Delta   eventDelta `json:"delta"`
	Usage   *usage     `json:"usage"`
	Error   apiError   `json:"error"`
}

type eventDelta struct {
	Type        string         `json:"type"`
	Text        trace.JSONText `json:"text"`
	Thinking    trace.JSONText `json:"thinking"`
	Signature   string         `json:"signature"`
	PartialJSON trace.JSONText `json:"partial_json"`
	Citation    citation       `json:"citation"`
	StopReason  string         `json:"stop_reason"`
}

type apiError struct {
	Type    string `json:"type"`
	Message string `json:"message"`
}

// abandoned names the blocks of a message that was cut off and comes again.
type abandoned struct {
	FromBlock int `json:"from_block_index"`
}

// usage counts tokens.
type usage struct {
	Input      int64 `json:"input_tokens"`
	Output     int64 `json:"output_tokens"`
	CacheRead  int64 `json:"cache_read_input_tokens"`
	CacheWrite int64 `json:"cache_creation_input_tokens"`
	Details    struct {
		Thinking int64 `json:"thinking_tokens"`
	} `json:"output_tokens_details"`
}

// resultMeta says why a call has the result that it has.
type resultMeta struct {
	ID       string `json:"id"`
	NotRun   string `json:"non_execution_kind"`
	Decision struct {
		Decision string `json:"decision"`
	} `json:"permission_decision"`
}

// controlRequest is what one side asks of the other.
type controlRequest struct {
	Subtype   string `json:"subtype"`
	ToolName  string `json:"tool_name"`
	ToolUseID string `json:"tool_use_id"`
	Input     raw    `json:"input"`
	Mode      string `json:"mode"`
}

// controlResponse answers a controlRequest.
type controlResponse struct {
	Subtype   string `json:"subtype"`
	RequestID string `json:"request_id"`
	Error     raw    `json:"error"`
	Response  raw    `json:"response"`
}
