package openai

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/toolloop/mcptool"
	"github.com/tributary-dev/tributary/agent/toolloop/worktool"
	"github.com/tributary-dev/tributary/policy/workspace"
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
	// Provider names who serves the model, for readers of the trace.
	Provider string `json:"provider"`
	// System is the system prompt; without one the agent has a short one of its own.
	System string `json:"system"`
	// Params go to the endpoint as they are: temperature, max_tokens, reasoning_effort …
	// null removes what is sent otherwise.
	Params map[string]any `json:"params"`
	// Tools names the built-in tools that the model is offered; absent means all.
	Tools *[]string `json:"tools"`
	// MCP are servers of further tools, by name.
	MCP map[string]mcptool.Server `json:"mcp"`
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
	// ThinkTags takes what stands between <think> tags in front of a text for reasoning.
	ThinkTags bool `json:"think_tags"`
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

func (o Options) validate() error {
	if o.API != "" && o.API != apiChat && o.API != apiResponses {
		return agent.WrongSetting("options.api", "is %q: write %s or %s", o.API, apiChat, apiResponses)
	}
	var names []string
	for _, t := range builtIn(workspace.Dir{}, worktool.Shell{}) {
		names = append(names, t.Name)
	}
	for _, name := range *cmp.Or(o.Tools, &names) {
		if !slices.Contains(names, name) {
			return agent.WrongSetting("options.tools", "has %q: the tools are %s", name, strings.Join(names, ", "))
		}
	}
	for name, s := range o.MCP {
		if err := s.Check("options.mcp", name); err != nil {
			return err
		}
	}
	if (o.Budget.TurnUSD > 0 || o.Budget.SessionUSD > 0) && o.Prices == nil {
		return agent.WrongSetting("options.budget", "bounds dollars, and the prices are unknown: set options.prices, with zeros if the endpoint reports costs")
	}
	return nil
}

func (o Options) tries() int {
	usual := 3
	return max(0, *cmp.Or(o.Retries, &usual))
}
