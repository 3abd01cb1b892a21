package uiendpoint

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/remote"
	"github.com/tributary-dev/tributary/internal/httpjson"
	"github.com/tributary-dev/tributary/policy/toolkind"
)

// Settings are the options of an endpoint.
type Settings struct {
	// Resume says that GET URL/ID/stream goes on with a run whose stream has broken off.
	Resume bool `json:"resume"`
	// Stop says that POST URL/ID/stop ends a run. Else the end of its connection does.
	Stop bool `json:"stop"`
	// Send says which messages go with a request: all, which is the default, or last.
	Send string `json:"send"`
	// Body are further fields of each request, and Headers further headers.
	Body    map[string]json.RawMessage `json:"body"`
	Headers map[string]string          `json:"headers"`
	// PassToken sends the token of the person who asks, instead of one of the gateway's.
	PassToken bool `json:"pass_token"`
	// Silence is how long a stream may say nothing; 5 minutes if empty.
	Silence agent.Duration `json:"silence"`
}

const patience = 5 * time.Minute

// Runtime opens sessions with an endpoint, or with a function in its place.
type Runtime struct {
	URL, Token string
	Func       Func
	Settings   Settings
	Tools      toolkind.Table
}

var _ interface {
	agent.Runtime
	agent.Rewinder
	agent.Waiter
} = Runtime{}

// Adapter is the adapter of endpoints.
func Adapter() agent.Adapter {
	return agent.Adapter{
		Name: "uiendpoint", Needs: "url", InProcess: true, Harmless: true,
		Keys: []string{"url", "token_env", "tool_kinds", "options"},
		New: func(s agent.Settings) (agent.Runtime, error) {
			token, err := s.Token()
			r := Runtime{URL: s.URL, Token: token, Tools: tools().With(s.ToolKinds), Settings: Settings{Silence: agent.Duration(patience)}}
			if err = cmp.Or(err, agent.DecodeOptions(s.Options, &r.Settings)); err != nil {
				return nil, err
			}
			return r, r.validate()
		},
		Tools:   func(string) toolkind.Table { return tools() },
		Decoder: func(s agent.Settings) agent.Decoder { return NewDecoder(tools().With(s.ToolKinds)) },
	}
}

// tools is the table of an endpoint's tools, which are those of any application.
func tools() toolkind.Table { return toolkind.Table{}.Guess() }

func (r Runtime) validate() error {
	if !slices.Contains([]string{"", "all", "last"}, r.Settings.Send) {
		return agent.WrongSetting("options.send", "is %q: write all or last", r.Settings.Send)
	}
	client, err := r.client()
	if err != nil {
		return agent.WrongSetting("url", "is wrong: %v", err)
	}
	client.Close()
	return nil
}

func (r Runtime) client() (*httpjson.Client, error) {
	h := http.Header{}
	for name, value := range r.Settings.Headers {
		h.Set(name, value)
	}
	return httpjson.New(httpjson.Config{URL: r.URL, Bearer: r.Token, Header: h, Timeout: 2 * time.Minute})
}

// Open implements agent.Runtime. An endpoint is asked for nothing before the first prompt.
func (r Runtime) Open(ctx context.Context, host agent.Host, cfg agent.Config) (agent.Session, error) {
	spec := remote.Spec{Name: "The agent", Transport: local{r.Func}}
	if r.Func == nil {
		client, err := r.client()
		if err != nil {
			return nil, err
		}
		spec = remote.Spec{
			Name: "The endpoint", Speaks: "the UI message stream of AI SDK 5 and later, as toUIMessageStreamResponse() writes it",
			Transport: remote.HTTP{Client: client, PassCaller: r.Settings.PassToken, Types: []string{"text/plain", "application/octet-stream"}}, Silence: time.Duration(r.Settings.Silence),
		}
	}
	spec.AsWritten = true
	spec.New = func(s *remote.Session) remote.Protocol {
		d := NewDecoder(r.Tools)
		d.live, d.session, d.settings = true, cfg.SessionID, r.Settings
		return &protocol{Decoder: d, session: s}
	}
	host.Resume(inHistory)
	return remote.Open(ctx, host, cfg, spec)
}

// inHistory is the resume token of every session: the log has the conversation.
const inHistory = "history"

// Rewinds implements agent.Rewinder: an endpoint knows what it is sent.
func (Runtime) Rewinds(string) bool { return true }

// OnlyWaits implements agent.Waiter.
func (r Runtime) OnlyWaits() bool { return !r.Settings.Resume }

// Reattach implements agent.Reattacher.
func (r Runtime) Reattach(ctx context.Context, s agent.Session, left agent.OpenTurn) error {
	return remote.Reattach(ctx, s, left)
}

// Takes implements agent.AnswerTaker.
func (Runtime) Takes() (input, reason bool) { return false, true }

// Describe implements agent.Describer.
func (r Runtime) Describe() (agent.Adapter, agent.Settings) {
	return Adapter(), agent.Settings{URL: r.URL}
}
