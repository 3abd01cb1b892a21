package agui

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/remote"
	"github.com/tributary-dev/tributary/internal/httpjson"
	"github.com/tributary-dev/tributary/policy/toolkind"
)

// Runtime opens sessions with an endpoint.
type Runtime struct {
	// URL is the address that runs are posted to.
	URL string
	// Token is sent as a bearer token, if it is not empty.
	Token string
	// Table says what the tools of the agent do.
	Table toolkind.Table
	Options
}

// Options are the agent's settings in the configuration.
type Options struct {
	// Tools are tools of the app. A call of one is a question to the client.
	Tools []Tool `json:"tools"`
	// Context is what the agent should know in each run.
	Context []Context `json:"context"`
	// State is the state that a conversation begins with.
	State map[string]any `json:"state"`
	// Forwarded goes with each run as forwardedProps.
	Forwarded map[string]any `json:"forwarded_props"`
	// Legacy is for endpoints before 1.0 that refuse what they do not know.
	Legacy bool `json:"legacy"`
	// PassToken sends the token of the person who asks, instead of the gateway's.
	PassToken bool `json:"pass_token"`
	// Silence is how long a run may say nothing before it counts as lost.
	Silence agent.Duration `json:"silence"`
	// StartTime bounds the time until a run's stream begins; 2 minutes if absent.
	StartTime agent.Duration `json:"start_time"`
}

// Adapter is the adapter of AG-UI endpoints.
func Adapter() agent.Adapter {
	return agent.Adapter{
		Name: "agui", Needs: "url", InProcess: true, Harmless: true,
		Keys: []string{"url", "token_env", "tool_kinds", "options"},
		New: func(s agent.Settings) (agent.Runtime, error) {
			token, err := s.Token()
			r := Runtime{URL: s.URL, Token: token, Table: tools().With(s.ToolKinds)}
			if err = cmp.Or(err, agent.DecodeOptions(s.Options, &r.Options)); err != nil {
				return nil, err
			}
			return r, r.validate()
		},
		Tools:   func(string) toolkind.Table { return tools() },
		Decoder: func(s agent.Settings) agent.Decoder { return &Decoder{tools: tools().With(s.ToolKinds)} },
	}
}

// tools is the table of an endpoint's tools, which are those of any application.
func tools() toolkind.Table { return toolkind.Table{}.Guess() }

func (r Runtime) validate() error {
	for n, t := range r.Tools {
		if t.Name == "" {
			return agent.WrongSetting(fmt.Sprintf("options.tools[%d].name", n), "is missing: name the tool of the app")
		}
	}
	if _, err := r.client(); err != nil {
		return agent.WrongSetting("url", "is wrong: %v", err)
	}
	return nil
}

var _ interface {
	agent.Runtime
	agent.Rewinder
	agent.Waiter
} = Runtime{}

// OnlyWaits implements agent.Waiter: the protocol has no way back into a run.
func (Runtime) OnlyWaits() bool { return true }

// Reattach implements agent.Reattacher.
func (Runtime) Reattach(ctx context.Context, s agent.Session, left agent.OpenTurn) error {
	return remote.Reattach(ctx, s, left)
}

func (r Runtime) client() (*httpjson.Client, error) {
	return httpjson.New(httpjson.Config{URL: r.URL, Bearer: r.Token, Timeout: cmp.Or(time.Duration(r.StartTime), 2*time.Minute)})
}

// Rewinds implements agent.Rewinder: each run gets the gateway's history.
func (Runtime) Rewinds(string) bool { return true }

// Open implements agent.Runtime. An endpoint can be asked nothing but to run, so Open asks
// nothing.
func (r Runtime) Open(ctx context.Context, host agent.Host, cfg agent.Config) (agent.Session, error) {
	client, err := r.client()
	if err != nil {
		return nil, err
	}
	return remote.Open(ctx, host, cfg, remote.Spec{
		Name: "The AG-UI agent", Speaks: "AG-UI", AsWritten: true, Transport: remote.HTTP{Client: client, PassCaller: r.PassToken}, Silence: time.Duration(r.Silence),
		New: func(s *remote.Session) remote.Protocol {
			return &protocol{Session: s, Options: r.Options, Decoder: &Decoder{tools: r.Table, live: true}}
		},
	})
}

// Takes implements agent.AnswerTaker.
func (Runtime) Takes() (input, reason bool) { return true, true }

// Describe implements agent.Describer.
func (r Runtime) Describe() (agent.Adapter, agent.Settings) {
	return Adapter(), agent.Settings{URL: r.URL}
}
