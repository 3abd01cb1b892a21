package codex

import (
	"bytes"
	"encoding/json"
)

type raw = json.RawMessage

// message is a line of the app-server: a request, a notification or a reply. Type is
// set in a line of `codex exec --json` instead.
type message struct {
	ID     raw       `json:"id"`
	Method string    `json:"method"`
	Params raw       `json:"params"`
	Result raw       `json:"result"`
	Error  *rpcError `json:"error"`
	Type   string    `json:"type"`
}

type rpcError struct {
	Message string `json:"message"`
}

// params are those of every notification and request that the Decoder reads.
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
	Error        *struct {
		Message string `json:"message"`
	} `json:"error"`

	Prompt    string   `json:"prompt"`
	Model     string   `json:"model"`
	Receivers []string `json:"receiverThreadIds"`
	States    raw      `json:"agentsStates"`
	Agent     string   `json:"agentThreadId"`
	AgentPath string   `json:"agentPath"`
	Kind      string   `json:"kind"`

	Query   string `json:"query"`
	Action  raw    `json:"action"`
	Results raw    `json:"results"`

	Path   string `json:"path"`
	Review string `json:"review"`
}

// encode makes JSON of a value, with <, > and & as they are.
func encode(v any) raw {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return raw("null")
	}
	return bytes.TrimSpace(b.Bytes())
}

// object is a JSON object that is written.
type object = map[string]any
