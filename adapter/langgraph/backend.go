package langgraph

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"os"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/agent/remote"
	"github.com/tributary-dev/tributary/internal/httpjson"
	"github.com/tributary-dev/tributary/toolkind"
)

// Backend opens sessions with a backend that publishes what its graph does, as server-sent
// events or as JSON lines.
type Backend struct {
	// URL is the address that prompts are sent to.
	URL string
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
	// Body is the template of a prompt's request. If it is empty, the body holds the prompt
	// as message, the list of messages, and the session as thread_id.
	Body raw `json:"body"`
	// Resume is the template of the request that answers an interrupt. Without it, an
	// interrupt ends the turn.
	Resume raw `json:"resume"`
	// Headers go with each request.
	Headers map[string]string `json:"headers"`
	// PassToken sends the token of the person who asks, instead of one of the gateway's.
	PassToken bool `json:"pass_token"`
	// Silence is how long a graph may say nothing before its turn fails; 5 minutes if
	// empty.
	Silence agent.Duration `json:"silence"`
}

// patience is how long a backend may say nothing.
const patience = 5 * time.Minute

// BackendAdapter is the adapter of backends.
func BackendAdapter() agent.Adapter {
	return agent.Adapter{
		Name: "langgraph-events", Needs: "url", InProcess: true, Harmless: true,
		Keys: []string{"url", "token_env", "tool_kinds", "options"},
		New: func(s agent.Settings) (agent.Runtime, error) {
			b := Backend{URL: s.URL, Token: os.Getenv(s.TokenEnv), Tools: toolkind.Table{}.With(s.ToolKinds), BackendOptions: BackendOptions{Silence: agent.Duration(patience)}}
			if err := agent.DecodeOptions(s.Options, &b.BackendOptions); err != nil {
				return nil, err
			}
			return b, b.validate(s.TokenEnv)
		},
		Decoder: func(string) agent.Decoder { return NewDecoder(Options{}) },
	}
}

func (b Backend) validate(tokenEnv string) error {
	if tokenEnv != "" && b.Token == "" {
		return agent.WrongSetting("token_env", "names %s, and there is no such environment variable: set it", tokenEnv)
	}
	client, _, err := b.client()
	if err != nil {
		return agent.WrongSetting("url", "is wrong: %v", err)
	}
	client.Close()
	return b.Options.validate()
}

// client returns a client, and the query of the address.
func (b Backend) client() (*httpjson.Client, url.Values, error) {
	at, err := url.Parse(b.URL)
	if err != nil {
		return nil, nil, errors.New("it is no address")
	}
	query := at.Query()
	at.RawQuery = ""
	h := http.Header{}
	for name, value := range b.Headers {
		h.Set(name, value)
	}
	client, err := httpjson.New(httpjson.Config{URL: at.String(), Bearer: b.Token, Header: h})
	return client, query, err
}

// Open implements agent.Runtime. A backend is not asked for anything before the first
// prompt.
func (b Backend) Open(ctx context.Context, host agent.Host, cfg agent.Config) (agent.Session, error) {
	client, query, err := b.client()
	if err != nil {
		return nil, err
	}
	return remote.Open(ctx, host, cfg, remote.Spec{
		Name: "The backend", Transport: remote.HTTP{Client: client, PassCaller: b.PassToken, Lines: true}, Silence: time.Duration(b.Silence),
		New: func(s *remote.Session) remote.Protocol {
			p := &publisher{Decoder: &Decoder{o: b.Options, tools: b.Tools, live: true, ends: true}, Session: s, rt: b, query: query}
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
	*remote.Session
	rt    Backend
	query url.Values
}

var _ remote.Protocol = (*publisher)(nil)

// Decode implements agent.Decoder.
func (p *publisher) Decode(m agent.Message, t agent.Turns) ([]agent.Effect, error) {
	return p.Decoder.Decode(m, t)
}

// Run implements remote.Protocol.
func (p *publisher) Run(_ context.Context, prompt agent.Prompt) (remote.Call, error) {
	if len(prompt.Message.Parts) == 0 {
		return remote.Call{}, &agentkit.PromptError{Reason: "empty_prompt", Sentence: "The prompt holds nothing that a graph can read."}
	}
	template := p.rt.Body
	if len(template) == 0 {
		template = agentkit.Encode(map[string]any{"message": placePrompt, "messages": placeMessages, "thread_id": placeSession})
	}
	return p.call(fill(template, values(prompt, p.Config().SessionID))), nil
}

func (p *publisher) call(body raw) remote.Call {
	c := remote.Call{Method: p.rt.Method, Query: p.query, Body: body, Stream: true}
	if c.Method == "" {
		c.Method = http.MethodPost
	}
	if c.Method != http.MethodGet {
		return c
	}
	c.Query, c.Body = maps.Clone(p.query), nil
	var fields map[string]any
	_ = json.Unmarshal(body, &fields) // a body that is no object has no place in an address
	for name, value := range fields {
		s, ok := value.(string)
		if !ok {
			s = string(agentkit.Encode(value))
		}
		c.Query.Set(name, s)
	}
	return c
}

// resume is the request with the answer to an interrupt.
func (p *publisher) resume(command raw) remote.Call {
	var f struct {
		Resume any `json:"resume"`
	}
	_ = json.Unmarshal(command, &f) // a pause has no answer
	return p.call(fill(p.rt.Resume, map[string]any{placeAnswer: f.Resume, placeSession: p.Config().SessionID}))
}

// Stop implements remote.Protocol: a backend ends the run of a stream that is closed.
func (p *publisher) Stop() (remote.Call, bool) { return remote.Call{}, false }

// GoOn implements remote.Protocol. No backend can go on with a stream.
func (p *publisher) GoOn(_ context.Context, b remote.Break) (*remote.Call, error) {
	over, waits := false, false
	p.Do(func() { over, waits = p.turn == nil || p.over, p.waitsFor() && p.goOn != nil })
	switch {
	case over, waits && b.Err == nil:
		return nil, nil //nolint:nilnil // nothing more is to come
	case b.Err != nil:
		return nil, b.Err
	}
	return nil, errors.New("the stream ended before the graph did")
}
