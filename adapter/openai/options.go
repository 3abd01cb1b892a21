package openai

import (
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/tributary-dev/tributary/agent"
)

// The two interfaces of an endpoint.
const (
	apiChat      = "chat"
	apiResponses = "responses"
)

// Options are the agent's settings in the configuration.
type Options struct {
	// API is chat (the default) or responses.
	API string `json:"api"`
	// System is the system prompt; without one the agent has a short one of its own.
	System string `json:"system"`
	// Params go to the endpoint as they are: temperature, max_tokens, reasoning_effort …
	// null removes what is sent otherwise.
	Params map[string]any `json:"params"`
	// Tools names the built-in tools that the model is offered; absent means all.
	Tools *[]string `json:"tools"`
	// MCP are servers of further tools, by name.
	MCP map[string]Server `json:"mcp"`
	// ContextTokens bounds the input of a model call; 0 leaves that to the endpoint.
	ContextTokens int64 `json:"context_tokens"`
	// MaxSteps bounds the model calls of a turn.
	MaxSteps int `json:"max_steps"`
	// Retries is how often a model call is tried again; 3 if absent.
	Retries *int `json:"retries"`
	// Patience is how long the endpoint may be silent; 5 minutes if absent.
	Patience agent.Duration `json:"patience"`
	// CommandTime bounds a command of the tool bash; 2 minutes if absent.
	CommandTime agent.Duration `json:"command_time"`
	Prices      *Prices        `json:"prices"`
	Budget      Budget         `json:"budget"`
}

// Prices are in US dollars per million tokens. CachedInput is Input if zero.
type Prices struct {
	Input       float64 `json:"input"`
	CachedInput float64 `json:"cached_input"`
	Output      float64 `json:"output"`
}

// Budget bounds what a turn and a session use; zero is no bound.
type Budget struct {
	TurnTokens    int64   `json:"turn_tokens"`
	TurnUSD       float64 `json:"turn_usd"`
	SessionTokens int64   `json:"session_tokens"`
	SessionUSD    float64 `json:"session_usd"`
}

// Server says how an MCP server is reached: a command, or a URL.
type Server struct {
	Command string            `json:"command"`
	Args    []string          `json:"args"`
	Env     map[string]string `json:"env"`
	URL     string            `json:"url"`
	// TokenEnv names the environment variable of the gateway with a bearer token for URL.
	TokenEnv string `json:"token_env"`
}

const longestServer = 32

// serverName keeps mcp__SERVER__TOOL unambiguous: a grant or a rule for one server's tool
// is none for another's.
//
//nolint:gochecknoglobals // compiled once
var serverName = regexp.MustCompile(`^[a-zA-Z0-9-]+(_[a-zA-Z0-9-]+)*$`)

func (o Options) validate() error {
	if o.API != "" && o.API != apiChat && o.API != apiResponses {
		return agent.WrongSetting("options.api", "is %q: write %s or %s", o.API, apiChat, apiResponses)
	}
	for _, name := range o.offered() {
		if !slices.Contains(builtIn(), name) {
			return agent.WrongSetting("options.tools", "has %q: the tools are %s", name, strings.Join(builtIn(), ", "))
		}
	}
	for name, s := range o.MCP {
		if !serverName.MatchString(name) || len(name) > longestServer {
			return agent.WrongSetting("options.mcp", "has a server %q: use letters, digits, - and single _, at most 32, so that its tools are told from those of the others", name)
		}
		if (s.Command == "") == (s.URL == "") {
			return agent.WrongSetting("options.mcp."+name, "needs either a command or a url")
		}
		if s.TokenEnv != "" && os.Getenv(s.TokenEnv) == "" {
			return agent.WrongSetting("options.mcp."+name+".token_env", "names %s, and there is no such environment variable: set it", s.TokenEnv)
		}
	}
	if (o.Budget.TurnUSD > 0 || o.Budget.SessionUSD > 0) && o.Prices == nil {
		return agent.WrongSetting("options.budget", "bounds dollars, and the prices are unknown: set options.prices, with zeros if the endpoint reports costs")
	}
	return nil
}

func builtIn() []string {
	return []string{"read_file", "write_file", "edit_file", "list_dir", "grep", "bash"}
}

func (o Options) offered() []string {
	if o.Tools == nil {
		return builtIn()
	}
	return *o.Tools
}

func (o Options) tries() int {
	if o.Retries == nil {
		return 3
	}
	return max(0, *o.Retries)
}
