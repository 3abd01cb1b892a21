package langgraph

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/remote"
	"github.com/tributary-dev/tributary/internal/httpjson"
	"github.com/tributary-dev/tributary/internal/procio"
	"github.com/tributary-dev/tributary/policy/toolkind"
)

// Backend opens sessions with a backend that publishes what its graph does, as server-sent
// events or as JSON lines: a server, or a program that runs once for each prompt.
type Backend struct {
	// URL is the address that prompts are sent to.
	URL string
	// Command is the program, if there is no URL. Env is its whole environment.
	Command   string
	Args, Env []string
	// Token is sent as a bearer token, if it is not empty.
	Token string
	// Tools says what the tools of the graph do.
	Tools toolkind.Table
	BackendOptions
}

// BackendOptions are the settings of a backend.
type BackendOptions struct {
	Options
	// Method is the method of a request, POST if empty. A GET has the fields of its body in
	// the query.
	Method string `json:"method"`
	// Body is the template of a prompt's request. If it is empty, a server gets the prompt
	// as message, the list of messages, and the session as thread_id; a program the prompt.
	Body raw `json:"body"`
	// Resume is the template of the request that answers an interrupt. Without it, an
	// interrupt ends the turn.
	Resume raw `json:"resume"`
	// Headers go with each request.
	Headers map[string]string `json:"headers"`
}

// patience is how long a backend may say nothing.
const patience = 5 * time.Minute

// BackendAdapter is the adapter of backends.
func BackendAdapter() agent.Adapter {
	return agent.Adapter{
		Name: "langgraph-events", Needs: "url or command", InProcess: true, Harmless: true,
		Keys: agent.ProcessKeys("url", "token_env", "tool_kinds", "options"),
		New: func(s agent.Settings) (agent.Runtime, error) {
			token, err := s.Token()
			b := Backend{URL: s.URL, Token: token, Command: s.Command, Args: s.Args, Env: s.Environ, Tools: tools().With(s.ToolKinds)}
			b.Silence = agent.Duration(patience)
			if err = errors.Join(err, agent.DecodeOptions(s.Options, &b.BackendOptions)); err != nil {
				return nil, err
			}
			return b, b.validate()
		},
		Tools:   func(string) toolkind.Table { return tools() },
		Decoder: decoder,
	}
}

func (b Backend) validate() error {
	if b.Command != "" && b.URL != "" {
		return agent.WrongSetting("url", "stands beside command: write one of the two")
	}
	if _, err := b.transport(agent.Config{}); err != nil {
		return agent.WrongSetting("url", "is wrong: %v", err)
	}
	return b.Options.validate()
}

// transport returns what carries calls to the backend.
func (b Backend) transport(cfg agent.Config) (remote.Transport, error) {
	if b.Command != "" {
		args := slices.Clone(b.Args)
		for i := range args {
			args[i] = strings.ReplaceAll(args[i], "{session}", cfg.SessionID)
		}
		return remote.Program{Config: procio.Config{Path: b.Command, Args: args, Dir: cfg.Cwd, Env: b.Env, StateDir: cfg.StateDir, Box: cfg.Box, Grace: time.Second}}, nil
	}
	h := http.Header{}
	for name, value := range b.Headers {
		h.Set(name, value)
	}
	client, err := httpjson.New(httpjson.Config{URL: b.URL, Bearer: b.Token, Header: h})
	return remote.HTTP{Client: client, PassCaller: b.PassToken, Lines: true}, err
}

// Open implements agent.Runtime. A backend is not asked for anything before the first
// prompt.
func (b Backend) Open(ctx context.Context, host agent.Host, cfg agent.Config) (agent.Session, error) {
	transport, err := b.transport(cfg)
	if err != nil {
		return nil, err
	}
	return remote.Open(ctx, host, cfg, remote.Spec{
		Name: "The backend", Speaks: "a form of LangGraph's events", AsWritten: true, Transport: transport, Silence: time.Duration(b.Silence),
		New: func(s *remote.Session) remote.Protocol {
			p := &publisher{Decoder: &Decoder{o: b.Options, tools: b.Tools, live: true, ends: true}, s: s, rt: b}
			if len(b.Resume) > 0 {
				p.goOn = p.resume
			}
			return p
		},
	})
}

// publisher is the protocol of a backend: one request, one stream.
type publisher struct {
	*Decoder
	s  *remote.Session
	rt Backend
}

var _ remote.Protocol = (*publisher)(nil)

// Run implements remote.Protocol.
func (p *publisher) Run(_ context.Context, prompt agent.Prompt) (remote.Call, error) {
	template := raw(`{"message": "` + placePrompt + `", "messages": "` + placeMessages + `", "thread_id": "` + placeSession + `"}`)
	switch {
	case len(p.rt.Body) > 0:
		template = p.rt.Body
	case p.rt.Command != "":
		template = raw(`"` + placePrompt + `"`)
	}
	body, err := input(template, prompt, p.s.Config().SessionID)
	return p.call(body), err
}

func (p *publisher) call(body raw) remote.Call {
	c := remote.Call{Method: cmp.Or(p.rt.Method, http.MethodPost), Body: body, Stream: true}
	if c.Method != http.MethodGet {
		return c
	}
	c.Query, c.Body = url.Values{}, nil
	for name, value := range objectOf(body) {
		if value[0] == '"' {
			value = raw(text(value))
		}
		c.Query.Set(name, string(value))
	}
	return c
}

// resume is the request with the answer to an interrupt.
func (p *publisher) resume(command raw) remote.Call {
	answer := objectOf(command)["resume"] // a pause has none
	return p.call(fill(p.rt.Resume, map[string]any{placeAnswer: answer, placeSession: p.s.Config().SessionID}))
}

// Stop implements remote.Protocol: a backend ends the run of a stream that is closed.
func (p *publisher) Stop() (remote.Call, bool) { return remote.Call{}, false }

// GoOn implements remote.Protocol. No backend can go on with a stream.
func (p *publisher) GoOn(_ context.Context, b remote.Break) (*remote.Call, error) {
	if _, over := p.status(p.s); over {
		return nil, nil //nolint:nilnil // nothing more is to come
	}
	return nil, cmp.Or(b.Err, errors.New("the stream ended before the graph did"))
}

// Takes implements agent.AnswerTaker.
func (Backend) Takes() (input, reason bool) { return true, true }

// Describe implements agent.Describer.
func (b Backend) Describe() (agent.Adapter, agent.Settings) {
	return BackendAdapter(), agent.Settings{URL: b.URL, Command: b.Command, Args: b.Args, Environ: b.Env}
}

// WithProcess implements agent.ProcessStarter.
func (b Backend) WithProcess(s agent.Settings) agent.Runtime {
	b.Env = s.Environ
	return b
}
