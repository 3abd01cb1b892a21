package agentops

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tributary-dev/tributary/agent"
	wire "github.com/tributary-dev/tributary/agentops"
	"github.com/tributary-dev/tributary/internal/httpjson"
	"github.com/tributary-dev/tributary/internal/size"
)

// api is the other side's HTTP. Nothing is tried twice.
type api struct {
	base     *url.URL
	http     *httpjson.Client
	client   *http.Client // opens sockets
	service  Credential
	patience time.Duration // for an answer
	max      int64         // of an answer or a frame
}

// principal tells callers apart without keeping what they are known by in sight.
type principal string

func whoIs(c agent.Caller) principal { return principal(c.Bearer) }

// String keeps the token out of what is printed.
func (principal) String() string { return "principal" }

func (r Runtime) newAPI() (*api, error) {
	base, err := parseURL(r.URL)
	if err != nil {
		return nil, err
	}
	dial := r.Dial
	if dial == nil {
		dial = (&net.Dialer{Timeout: r.connectTime()}).DialContext
	}
	transport := &http.Transport{
		Proxy: http.ProxyFromEnvironment, DialContext: dial, TLSHandshakeTimeout: r.connectTime(),
		IdleConnTimeout: time.Minute, MaxResponseHeaderBytes: 64 << 10,
	}
	client, err := httpjson.New(httpjson.Config{URL: r.URL, Timeout: r.connectTime(), MaxBody: r.maxFrame(), Transport: transport})
	if err != nil {
		return nil, fmt.Errorf("agentops: %w", err)
	}
	return &api{
		base: base, http: client, service: r.Token, patience: r.connectTime(), max: r.maxFrame(),
		client: &http.Client{
			Transport: transport,
			// A token goes to the address in the configuration and nowhere else.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}, nil
}

// parseURL reads the base address.
func parseURL(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, errors.New("agentops: the url of the agent must be the base address of an Agent Ops server, such as https://agents.example.com")
	}
	return u, nil
}

// as returns the caller with the token that is to be used: the service token if
// there is one.
func (a *api) as(c agent.Caller) (agent.Caller, error) {
	token, err := a.service.token()
	switch {
	case err != nil:
		return c, err
	case token != "":
		c.Bearer = token
	case c.Bearer == "":
		return c, &failure{sentence: "Agent Ops needs a token: sign in with one of its own, or give the agent a service token (token_env or token_file).", final: true}
	}
	return c, nil
}

// pathOf makes the path of an endpoint.
func pathOf(segments ...string) string {
	path := []string{"/api"}
	for _, s := range segments {
		path = append(path, url.PathEscape(s))
	}
	return strings.Join(path, "/")
}

// addressable reports whether an id can stand in an address: a dot or two would
// lead elsewhere, and orchestrator is another session for each caller.
func addressable(id string) bool { return id != "" && id != "." && id != ".." && id != "orchestrator" }

func (a *api) header(c agent.Caller) http.Header {
	h := http.Header{"Authorization": {"Bearer " + c.Bearer}}
	if c.Traceparent != "" {
		h.Set("Traceparent", c.Traceparent)
	}
	return h
}

// call makes one request. in is sent as JSON unless it is nil; the answer is
// decoded into out unless that is nil.
func (a *api) call(ctx context.Context, c agent.Caller, method, path string, in, out any) error {
	return a.do(ctx, c, httpjson.Call{Method: method, Path: path, In: in, Out: out})
}

func (a *api) do(ctx context.Context, c agent.Caller, call httpjson.Call) error {
	call.Header = a.header(c)
	err := a.http.Do(ctx, call)
	failed, is := errors.AsType[*httpjson.Error](err)
	switch {
	case !is:
		return err
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case failed.Status == 0:
		return &failure{sentence: fmt.Sprintf("Agent Ops at %s cannot be reached: %s.", a.base.Host, failed.Message)}
	case failed.Status/100 != 2:
		return refused(failed.Status, failed.Message)
	case errors.Unwrap(failed) == nil:
		return &failure{sentence: fmt.Sprintf("Agent Ops answered with more than %s: raise max_frame of this agent.", size.Bytes(a.max)), final: true}
	}
	return &failure{sentence: fmt.Sprintf("Agent Ops at %s answered with something else than its JSON: is the url right?", a.base.Host), final: true, foreign: true}
}

// encode writes JSON as it is: text for a model is full of what HTML escapes.
func encode(v any) ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("agentops: write JSON: %w", err)
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}

// interrupt stops the running turn of the session.
func (a *api) interrupt(ctx context.Context, c agent.Caller, session string) error {
	return a.call(ctx, c, http.MethodPost, pathOf("sessions", session, "prompt"), map[string]bool{"interrupt": true}, nil)
}

// thread finds the thread in which a conversation without one goes on. It is ""
// where the other side has no threads yet.
func (a *api) thread(ctx context.Context, c agent.Caller, session string) (string, error) {
	var found struct {
		ID     string `json:"id"`
		Thread struct {
			ID string `json:"id"`
		} `json:"thread"`
	}
	err := a.call(ctx, c, http.MethodGet, pathOf("sessions", session, "threads", "active"), nil, &found)
	if err == nil && found.Thread.ID == "" {
		err = a.call(ctx, c, http.MethodPost, pathOf("sessions", session, "threads"), map[string]any{}, &found)
	}
	switch {
	case lacksRoute(err):
		return "", nil
	case err != nil:
		return "", err
	case found.Thread.ID != "":
		return found.Thread.ID, nil
	}
	return found.ID, nil
}

// mostMessages is how many messages are read at once.
const mostMessages = 20_000

// messages reads what was said since a time, or all of it. The newest messages matter, so
// that a list which is too long is not read in part.
func (a *api) messages(ctx context.Context, c agent.Caller, session string, since time.Time) ([]wire.Message, error) {
	var found struct {
		Messages wire.List[json.RawMessage] `json:"messages"`
	}
	call := httpjson.Call{Method: http.MethodGet, Path: pathOf("sessions", session, "messages"), Out: &found}
	if !since.IsZero() {
		call.Query = url.Values{"after": {strconv.FormatInt(since.Unix(), 10)}}
	}
	if err := a.do(ctx, c, call); err != nil {
		return nil, err
	}
	if len(found.Messages) >= mostMessages {
		return nil, &failure{sentence: fmt.Sprintf("Agent Ops tells more than %d messages of the session at once, which is the most that is read of it.", mostMessages), final: true}
	}
	all := make([]wire.Message, 0, len(found.Messages))
	for _, m := range found.Messages {
		if f, err := wire.Decode(wire.ToBrowser, slices.Concat([]byte(`{"type":"message","data":`), m, []byte(`}`))); err == nil {
			all = append(all, f.(wire.MessageAdded).Data) //nolint:forcetypeassert // the type is in the frame
		}
	}
	return all, nil
}

// decide answers an approval.
func (a *api) decide(ctx context.Context, c agent.Caller, invocation string, allowed bool, reason string) error {
	if !addressable(invocation) {
		return &failure{sentence: "Agent Ops asks for an approval under an id that no address can hold.", final: true}
	}
	verb := "deny"
	if allowed {
		verb = "approve"
	}
	body := map[string]string{}
	if reason != "" {
		body["reason"] = reason
	}
	return a.call(ctx, c, http.MethodPost, pathOf("action-invocations", invocation, verb), body, nil)
}
