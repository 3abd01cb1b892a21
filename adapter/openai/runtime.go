package openai

import (
	"cmp"
	"context"
	"encoding/json"
	"net/url"
	"os"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/toolloop"
	"github.com/tributary-dev/tributary/internal/address"
	"github.com/tributary-dev/tributary/policy/toolkind"
)

// Runtime opens sessions with the model of an endpoint.
type Runtime struct {
	// Agent is the agent's name in the configuration, for error messages.
	Agent string
	// URL is the base address of the endpoint, such as http://127.0.0.1:11434/v1.
	URL string
	// Model is the model's name at the endpoint, unless a session has its own.
	Model string
	// TokenEnv names an environment variable with the key for the endpoint, TokenFile a
	// file; without both no key is sent.
	TokenEnv, TokenFile string
	// Env is the whole environment of commands and of MCP servers.
	Env []string
	// Tools says what the tools do.
	Tools toolkind.Table
	// Own are tools of the program, which the model is offered in every session.
	Own []toolloop.Tool
	Options
}

// Adapter is the adapter of this package under a name. Its agents are offered the
// program's own tools beside those of their configuration.
func Adapter(name string, own ...toolloop.Tool) agent.Adapter {
	return agent.Adapter{
		Name: name, Needs: "url", InProcess: true, Files: true, KeepsClosed: true,
		Keys: []string{"url", "token_env", "token_file", "model", "env", "pass_env", "tool_kinds", "options"},
		New: func(s agent.Settings) (agent.Runtime, error) {
			r := Runtime{
				Agent: s.Name, URL: s.URL, Model: s.Model, TokenEnv: s.TokenEnv, TokenFile: s.TokenFile, Env: s.Environ,
				Tools: toolkind.OpenAI().With(s.ToolKinds), Own: own,
			}
			if err := agent.DecodeOptions(s.Options, &r.Options); err != nil {
				return nil, err
			}
			return r, r.validate()
		},
	}
}

func (r Runtime) validate() error {
	switch u, err := url.Parse(r.URL); {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return agent.WrongSetting("url", "is %q: write a base address such as http://127.0.0.1:11434/v1", address.Public(r.URL))
	case r.TokenEnv != "" && os.Getenv(r.TokenEnv) == "":
		return agent.WrongSetting("token_env", "names %s, and there is no such environment variable: set it", r.TokenEnv)
	case r.Model == "":
		return agent.WrongSetting("model", "is missing: name a model of %s", address.Public(r.URL))
	}
	return r.Options.validate()
}

var _ interface {
	agent.Runtime
	agent.Prober
	agent.Rewinder
} = Runtime{}

// inHistory is the resume token of every session: the conversation is the gateway's.
const inHistory = "history"

// Rewinds implements agent.Rewinder: the gateway's history is always what the model knows.
func (Runtime) Rewinds(string) bool { return true }

// Open implements agent.Runtime.
func (r Runtime) Open(_ context.Context, host agent.Host, cfg agent.Config) (agent.Session, error) {
	r.Model = cmp.Or(cfg.Model, r.Model)
	e, err := r.endpoint()
	if err != nil {
		return nil, err
	}
	return newSession(e, host, cfg), nil
}

func (r Runtime) name() string { return cmp.Or(r.Agent, "openai") }

// Takes implements agent.AnswerTaker.
func (Runtime) Takes() (input, reason bool) { return true, true }

// Describe implements agent.Describer.
func (r Runtime) Describe() (agent.Adapter, agent.Settings) {
	options, _ := json.Marshal(r.Options) // they were read from JSON, and name variables with tokens
	return Adapter("openai", r.Own...), agent.Settings{URL: r.URL, Environ: r.Env, TokenEnv: r.TokenEnv, TokenFile: r.TokenFile, Options: options}
}

// WithProcess implements agent.ProcessStarter.
func (r Runtime) WithProcess(s agent.Settings) agent.Runtime {
	r.Env = s.Environ
	return r
}
