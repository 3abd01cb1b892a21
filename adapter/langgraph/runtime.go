package langgraph

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/agent/remote"
	"github.com/tributary-dev/tributary/internal/httpjson"
	"github.com/tributary-dev/tributary/policy/toolkind"
)

// Runtime opens sessions with an assistant of a LangGraph server.
type Runtime struct {
	// URL is the server's address.
	URL string
	// Key is sent as x-api-key, if it is not empty.
	Key string
	// Tools says what the tools of the graph do.
	Tools toolkind.Table
	ServerOptions
}

// ServerOptions are the settings of an assistant.
type ServerOptions struct {
	Options
	// Assistant is the name of a graph, or the id of an assistant.
	Assistant string `json:"assistant"`
	// Input is the template of a run's input; the prompt as a message if empty.
	Input raw `json:"input"`
	// Config, Context and Metadata go with each run.
	Config   raw            `json:"config"`
	Context  raw            `json:"context"`
	Metadata map[string]any `json:"metadata"`
}

// Adapter is the adapter of LangGraph servers.
func Adapter() agent.Adapter {
	return agent.Adapter{
		Name: "langgraph", Needs: "url", InProcess: true, Harmless: true,
		Keys: []string{"url", "token_env", "tool_kinds", "options"},
		New: func(s agent.Settings) (agent.Runtime, error) {
			key, err := s.Token()
			r := Runtime{URL: s.URL, Key: key, Tools: tools().With(s.ToolKinds)}
			if err = errors.Join(err, agent.DecodeOptions(s.Options, &r.ServerOptions)); err != nil {
				return nil, err
			}
			return r, r.validate()
		},
		Tools:   judged,
		Decoder: decoder,
	}
}

// tools is the table of a graph's tools, which are those of any application.
func tools() toolkind.Table { return toolkind.Table{}.Guess() }

// judged is the table for policies: it also knows which keys of common tools hold paths and commands.
func judged(string) toolkind.Table { return toolkind.OpenAI().Guess() }

func decoder(s agent.Settings) agent.Decoder { return &Decoder{tools: tools().With(s.ToolKinds)} }

func (r Runtime) validate() error {
	if r.Assistant == "" {
		return agent.WrongSetting("options.assistant", "is missing: write the name of a graph of the server, as in its langgraph.json")
	}
	if _, err := r.client(); err != nil {
		return agent.WrongSetting("url", "is wrong: %v", err)
	}
	return r.Options.validate()
}

var _ interface {
	agent.Runtime
	agent.Prober
	agent.Reattacher
	agent.Rewinder
} = Runtime{}

// Rewinds implements agent.Rewinder: a token is a thread and a checkpoint in it.
func (Runtime) Rewinds(token string) bool { return agentkit.Rewinds(token) }

func (r Runtime) client() (*httpjson.Client, error) {
	h := http.Header{}
	if r.Key != "" {
		h.Set("X-Api-Key", r.Key)
	}
	return httpjson.New(httpjson.Config{URL: r.URL, Header: h})
}

// about is what a server says of itself.
type about struct {
	Version string `json:"version"`
	Context string `json:"context"` // js for the server in JavaScript
	Flags   struct {
		StrictResume bool `json:"strict_resume"` // the server refuses answers to what does not wait
	} `json:"flags"`
}

// info asks a server what it is.
var info = remote.Call{Method: http.MethodGet, Path: "/info"} //nolint:gochecknoglobals // never written

func noServer(err error) error { return fmt.Errorf("no LangGraph server answers: %w", err) }

// Probe implements agent.Prober.
func (r Runtime) Probe(ctx context.Context) (string, error) {
	client, err := r.client()
	if err != nil {
		return "", err
	}
	defer client.Close()
	var found about
	if err := client.Do(ctx, httpjson.Call{Method: info.Method, Path: info.Path, Out: &found}); err != nil {
		return "", noServer(err)
	}
	return found.Version + map[string]string{"js": " (JavaScript)"}[found.Context], nil
}

// Open implements agent.Runtime.
func (r Runtime) Open(ctx context.Context, host agent.Host, cfg agent.Config) (agent.Session, error) {
	client, err := r.client()
	if err != nil {
		return nil, err
	}
	place := agentkit.ParseBookmark(cfg.Resume)
	p := &protocol{Decoder: &Decoder{o: r.Options, tools: r.Tools, live: true}, rt: r, from: place.Moment}
	p.at.thread, p.goOn = place.Conversation, p.resume
	return remote.Open(ctx, host, cfg, remote.Spec{
		Name: "LangGraph", Speaks: "LangGraph's stream", AsWritten: true, Transport: remote.HTTP{Client: client, PassCaller: r.PassToken}, Silence: time.Duration(r.Silence), Finds: true,
		New:   func(s *remote.Session) remote.Protocol { p.s = s; return p },
		Greet: p.greet,
	})
}

// Reattach implements agent.Reattacher.
func (Runtime) Reattach(ctx context.Context, s agent.Session, left agent.OpenTurn) error {
	return remote.Reattach(ctx, s, left)
}

// Takes implements agent.AnswerTaker.
func (Runtime) Takes() (input, reason bool) { return true, true }

// Describe implements agent.Describer.
func (r Runtime) Describe() (agent.Adapter, agent.Settings) {
	return Adapter(), agent.Settings{URL: r.URL}
}
