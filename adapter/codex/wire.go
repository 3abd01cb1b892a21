package codex

import (
	"encoding/json"

	"github.com/tributary-dev/tributary/internal/jsonrpc"
)

// The types hold what the adapter reads of Codex's JSON. The names of fields are those of
// the wire, in any case of letters.
type (
	raw    = json.RawMessage
	object = map[string]any // a JSON object that is written
)

// message is a line of the app-server. Type is set in a line of `codex exec --json`.
type message struct {
	jsonrpc.Message
	Type string
}

// params are those of every notification that the Decoder reads, and of the replies.
type params struct {
	ThreadID, TurnID, ItemID   string
	Delta, Stdin, Message      string
	SummaryIndex, ContentIndex int
	Item                       item
	Turn                       turnWire
	Thread                     thread
	ThreadName                 string
	Changes                    []change
	Input                      []userInput
	Plan                       []planStep
	TokenUsage                 struct {
		Total, Last        tokens
		ModelContextWindow int64
	}
	Error              turnError
	WillRetry          bool
	RequestID          raw
	FromModel, ToModel string
	UserAgent          string // in the reply to initialize
	// Model and ModelProvider are those of a conversation, in the reply that opens one, or of a
	// prompt.
	Model, ModelProvider string
	ThreadSettings       struct{ Model, ModelProvider string }
	Status               raw // of a conversation, as an object
}

type thread struct {
	ID, ParentThreadID, CLIVersion, Model, ModelProvider string
	Turns                                                []turnWire // in the reply to thread/read
}

type turnWire struct {
	ID, Status string
	Error      *turnError
	Items      []item
}

type turnError struct {
	Message, AdditionalDetails string
	CodexErrorInfo             raw
}

type tokens struct{ TotalTokens, InputTokens, CachedInputTokens, CacheWriteInputTokens, OutputTokens, ReasoningOutputTokens int64 }

// planStep is a line of a plan.
type planStep struct{ Step, Status string }

// item is a piece of a turn. Fields that only some types have are empty in the others.
type item struct {
	Type, ID, Status string

	Text, Review string
	Moderation   moderation // agentMessage
	Summary      []string
	Content      raw // userMessage: inputs; reasoning: texts

	Command, CWD, AggregatedOutput string
	ExitCode                       *int
	Changes                        []change
	Path                           string // of an image

	Server, Namespace, Tool string
	Arguments               raw
	Result                  raw // mcpToolCall: an object; imageGeneration: base64
	ContentItems            raw
	Success                 *bool
	Error                   struct{ Message string }

	Prompt                         string
	ReceiverThreadIDs              []string
	AgentsStates                   raw
	AgentThreadID, AgentPath, Kind string

	Query           string
	Action, Results raw
}

// userInput is a piece of a user's message.
type userInput struct {
	Type string `json:"type"`
	Text string `json:"text,omitempty"`
	URL  string `json:"url,omitempty"`
	Path string `json:"path,omitempty"`
	Name string `json:"name,omitempty"`
}

// word is what stands for itself, or is the only key of an object that says more.
func word(data raw) (word string, more raw) {
	if json.Unmarshal(data, &word) == nil {
		return word, nil
	}
	var object map[string]raw
	if json.Unmarshal(data, &object) == nil && len(object) == 1 {
		for word, more = range object {
			return word, more
		}
	}
	return "", nil
}
