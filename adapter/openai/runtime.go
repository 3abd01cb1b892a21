package openai

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

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

// Probe implements agent.Prober: it asks the endpoint for its models.
func (r Runtime) Probe(ctx context.Context) (string, error) {
	e, err := r.endpoint()
	if err != nil {
		return "", err
	}
	defer e.wire.CloseIdleConnections()
	models := sdk.NewModelService(e.opts...)
	_, err = models.List(ctx)
	if f, ok := errors.AsType[*failure](err); err != nil && (!ok || f.status != http.StatusNotFound) { // not every server lists its models
		return "", e.explain(err)
	}
	return cmp.Or(r.Model, "any model") + " at " + address.Public(r.URL), nil
}

func (r Runtime) name() string { return cmp.Or(r.Agent, "openai") }

// endpoint is how the model is reached.
type endpoint struct {
	Runtime
	opts []option.RequestOption
	wire *http.Transport // its idle connections are closed with the session
}

func (r Runtime) endpoint() (endpoint, error) {
	key := os.Getenv(r.TokenEnv)
	if r.TokenFile != "" {
		raw, err := os.ReadFile(r.TokenFile)
		if err != nil {
			return endpoint{}, fmt.Errorf("%s: the key cannot be read: %w", r.name(), err)
		}
		key = strings.TrimSpace(string(raw))
	}
	// The services are made without sdk.NewClient, which would send the gateway's own
	// OPENAI_API_KEY to whatever address is configured.
	wire := http.DefaultTransport.(*http.Transport).Clone() //nolint:forcetypeassert,errcheck // the standard library says so
	e := endpoint{Runtime: r, wire: wire, opts: []option.RequestOption{
		option.WithHTTPClient(&http.Client{Transport: wire}), option.WithBaseURL(r.URL), option.WithMaxRetries(0), option.WithMiddleware(onlyStreams),
	}}
	if key != "" {
		e.opts = append(e.opts, option.WithAPIKey(key))
	}
	for name, value := range r.Params {
		if value == nil {
			e.opts = append(e.opts, option.WithJSONDel(name))
		} else {
			e.opts = append(e.opts, option.WithJSONSet(name, value))
		}
	}
	return e, nil
}

// mostList bounds a list of models in bytes.
const mostList = 4 << 20

// onlyStreams turns an answer that is no stream into an error: servers write errors in more
// forms than the SDK reads, and a wrong address often answers with a page.
func onlyStreams(r *http.Request, next option.MiddlewareNext) (*http.Response, error) {
	res, err := next(r)
	if err != nil {
		return nil, err
	}
	page := strings.HasPrefix(res.Header.Get("Content-Type"), "text/html")
	if !page && res.StatusCode < http.StatusMultipleChoices {
		if r.Method == http.MethodGet { // the list of models, which is read as a whole
			res.Body = struct {
				io.Reader
				io.Closer
			}{io.LimitReader(res.Body, mostList), res.Body}
		}
		return res, nil
	}
	defer res.Body.Close() //nolint:errcheck // it was read
	if page {
		return nil, errNotAnAPI
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, 64<<10))
	if err != nil {
		return nil, err
	}
	f := newFailure(body)
	f.status, f.header = res.StatusCode, res.Header
	return nil, f
}

// Takes implements agent.AnswerTaker.
func (Runtime) Takes() (input, reason bool) { return true, true }
