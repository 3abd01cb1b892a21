package codex

import (
	"encoding/json"

	"github.com/tributary-dev/tributary/internal/jsonrpc"
)

type (
	raw    = json.RawMessage
	object = map[string]any // a JSON object that is written
)

// message is a line of the app-server. Type is set in a line of `codex exec --json`.
type message struct {
	jsonrpc.Message
	Type string `json:"type"`
}

// params are those of every notification that the Decoder reads, and of the replies.
type params struct {
	ThreadID     string      `json:"threadId"`
	TurnID       string      `json:"turnId"`
	ItemID       string      `json:"itemId"`
	Delta        string      `json:"delta"`
	SummaryIndex int         `json:"summaryIndex"`
	ContentIndex int         `json:"contentIndex"`
	Item         item        `json:"item"`
	Turn         turnWire    `json:"turn"`
	Thread       thread      `json:"thread"`
	Changes      []change    `json:"changes"`
	Input        []userInput `json:"input"`
	Plan         []planStep  `json:"plan"`
	TokenUsage   tokenUsage  `json:"tokenUsage"`
	Error        turnError   `json:"error"`
	WillRetry    bool        `json:"willRetry"`
	ThreadName   string      `json:"threadName"`
	RequestID    raw         `json:"requestId"`
	Message      string      `json:"message"`
	FromModel    string      `json:"fromModel"`
	ToModel      string      `json:"toModel"`
	Stdin        string      `json:"stdin"`
}

type thread struct {
	ID     string `json:"id"`
	Parent string `json:"parentThreadId"`
}

type turnWire struct {
	ID     string     `json:"id"`
	Status string     `json:"status"`
	Error  *turnError `json:"error"`
	Items  []item     `json:"items"`
}

type turnError struct {
	Message string `json:"message"`
	Info    raw    `json:"codexErrorInfo"`
	Details string `json:"additionalDetails"`
}

type tokenUsage struct {
	Total  tokens `json:"total"`
	Last   tokens `json:"last"`
	Window int64  `json:"modelContextWindow"`
}

type tokens struct {
	Total      int64 `json:"totalTokens"`
	Input      int64 `json:"inputTokens"`
	Cached     int64 `json:"cachedInputTokens"`
	CacheWrite int64 `json:"cacheWriteInputTokens"`
	Output     int64 `json:"outputTokens"`
	Reasoning  int64 `json:"reasoningOutputTokens"`
}

type planStep struct {
	Step   string `json:"step"`
	Status string `json:"status"`
}

// item is a piece of a turn. Fields that only some types have are empty in the others.
type item struct {
	Type   string `json:"type"`
	ID     string `json:"id"`
	Status string `json:"status"`
	Text   string `json:"text"`

	Summary []string `json:"summary"`
	Content raw      `json:"content"` // userMessage: inputs; reasoning: texts
	Review  string   `json:"review"`

	Command  string `json:"command"`
	CWD      string `json:"cwd"`
	Output   string `json:"aggregatedOutput"`
	ExitCode *int   `json:"exitCode"`

	Changes []change `json:"changes"`

	Server       string `json:"server"`
	Namespace    string `json:"namespace"`
	Tool         string `json:"tool"`
	Arguments    raw    `json:"arguments"`
	Result       raw    `json:"result"` // mcpToolCall: an object; imageGeneration: base64
	ContentItems raw    `json:"contentItems"`
	Success      *bool  `json:"success"`
	Error        struct {
		Message string `json:"message"`
	} `json:"error"`

	Prompt    string   `json:"prompt"`
	Receivers []string `json:"receiverThreadIds"`
	States    raw      `json:"agentsStates"`
	Agent     string   `json:"agentThreadId"`
	AgentPath string   `json:"agentPath"`
	Kind      string   `json:"kind"`

	Query   string `json:"query"`
	Action  raw    `json:"action"`
	Results raw    `json:"results"`

	Path string `json:"path"`
}

// userInput is a piece of a user's message.
type userInput struct {
	Type string `json:"type"`
	Text string `json:"text,omitempty"`
	URL  string `json:"url,omitempty"`
	Path string `json:"path,omitempty"`
	Name string `json:"name,omitempty"`
}
