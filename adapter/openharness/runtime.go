package openharness

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/remote"
	"github.com/tributary-dev/tributary/internal/address"
	"github.com/tributary-dev/tributary/internal/httpjson"
	"github.com/tributary-dev/tributary/policy/toolkind"
)

// The protocols.
const (
	Kernel   = "kernel"   // the WebSocket of January 2026
	HTTP02   = "http-0.2" // the HTTP server of version 0.2
	Scaffold = "scaffold" // Open Scaffold
)

// Runtime opens sessions with a server of Open Harness.
type Runtime struct {
	// URL is the server's address.
	URL string
	// Token is sent as a bearer token, if it is not empty.
	Token string
	// Tools says what the tools of the agents do.
	Tools toolkind.Table
	Options
}

// Options are the settings that only this adapter knows.
type Options struct {
	// Protocol is what the server speaks; by default Kernel for ws addresses, and Scaffold
	// for http addresses.
	Protocol string `json:"protocol"`
	// PassToken sends the token of the person who asks, instead of the gateway's.
	PassToken bool `json:"pass_token"`
	// Silence is how long a server may say nothing. A session then asks Open Scaffold whether
	// the workflow still runs (30 s if zero), and opens other connections again (30 minutes).
	Silence agent.Duration `json:"silence"`
}

// Adapter is the adapter of Open Harness.
func Adapter() agent.Adapter {
	return agent.Adapter{
		Name: "openharness", Needs: "url", InProcess: true, Harmless: true,
		Keys: []string{"url", "token_env", "tool_kinds", "options"}, Schemes: []string{"ws", "wss", "http", "https"},
		New: func(s agent.Settings) (agent.Runtime, error) {
			token, err := s.Token()
			r := Runtime{URL: s.URL, Token: token, Tools: toolkind.Claude().With(s.ToolKinds)}
			if err = errors.Join(err, agent.DecodeOptions(s.Options, &r.Options)); err != nil {
				return nil, err
			}
			r, err = r.checked()
			if err == nil && r.Protocol == Scaffold {
				return lasting{r}, nil
			}
			return r, err
		},
		Decoder: func(s agent.Settings) agent.Decoder { return &Decoder{tools: toolkind.Claude().With(s.ToolKinds)} },
	}
}

// checked fills in the protocol and refuses settings that cannot be meant.
func (r Runtime) checked() (Runtime, error) {
	ws := strings.HasPrefix(r.URL, "ws")
	if r.Protocol == "" {
		r.Protocol = map[bool]string{true: Kernel, false: Scaffold}[ws]
	}
	bySocket, known := map[string]bool{Kernel: true, HTTP02: false, Scaffold: false}[r.Protocol]
	switch at, err := url.Parse(r.URL); {
	case !known:
		return r, agent.WrongSetting("options.protocol", "is %.40q: write %s, %s or %s", r.Protocol, Kernel, HTTP02, Scaffold)
	case ws != bySocket:
		return r, agent.WrongSetting("url", "is %.100q, and the protocol %s has other addresses: change one of them", address.Public(r.URL), r.Protocol)
	case ws && err == nil && at.Path == "":
		r.URL = at.JoinPath(socketPath).String()
	}
	return r, nil
}

// Open implements agent.Runtime.
func (r Runtime) Open(ctx context.Context, host agent.Host, cfg agent.Config) (agent.Session, error) {
	r, err := r.checked()
	if err != nil {
		return nil, err
	}
	d := &Decoder{tools: r.Tools, live: true}
	spec := remote.Spec{Name: "Open Harness", Silence: cmp.Or(time.Duration(r.Silence), 30*time.Minute)}
	if r.Protocol == Kernel {
		spec.Transport = &remote.Socket{URL: r.URL, Bearer: r.Token, PassCaller: r.PassToken}
		spec.New = func(s *remote.Session) remote.Protocol { return &flow{d, s} }
		return remote.Open(ctx, host, cfg, spec)
	}
	client, err := httpjson.New(httpjson.Config{URL: r.URL, Bearer: r.Token})
	if err != nil {
		return nil, err
	}
	transport := remote.HTTP{Client: client, PassCaller: r.PassToken}
	if r.Protocol == HTTP02 {
		t := &webTransport{HTTP: transport}
		spec.Transport = t
		spec.New = func(s *remote.Session) remote.Protocol { return &web{d, s, t} }
		spec.Greet = func(ctx context.Context, s *remote.Session) error {
			return s.Fetch(ctx, remote.Call{Method: http.MethodGet, Path: "/health"}, nil)
		}
		return remote.Open(ctx, host, cfg, spec)
	}
	spec.Name, spec.Transport, spec.Silence = "Open Scaffold", transport, cmp.Or(time.Duration(r.Silence), 30*time.Second)
	spec.New = func(s *remote.Session) remote.Protocol { return &workflow{Decoder: d, s: s} }
	return remote.Open(ctx, host, cfg, spec)
}

// lasting is the Runtime of servers whose workflows outlive the gateway.
type lasting struct{ Runtime }

// Reattach implements agent.Reattacher.
func (lasting) Reattach(ctx context.Context, s agent.Session, was agent.OpenTurn) error {
	return remote.Reattach(ctx, s, was)
}

// Describe implements agent.Describer.
func (r Runtime) Describe() (agent.Adapter, agent.Settings) {
	return Adapter(), agent.Settings{URL: r.URL}
}
