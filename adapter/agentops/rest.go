package agentops

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/internal/size"
)

// api is the other side's HTTP. Nothing is tried twice.
type api struct {
	base     *url.URL
	client   *http.Client
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
	return &api{
		base: base, service: r.Token, patience: r.connectTime(), max: r.maxFrame(),
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

// at makes the address of an endpoint.
func (a *api) at(segments ...string) string {
	address := []string{strings.TrimSuffix(a.base.String(), "/"), "api"}
	for _, s := range segments {
		address = append(address, url.PathEscape(s))
	}
	return strings.Join(address, "/")
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
func (a *api) call(ctx context.Context, c agent.Caller, method, address string, in, out any) error {
	ctx, cancel := context.WithTimeout(ctx, a.patience)
	defer cancel()
	var body io.Reader
	header := a.header(c)
	if in != nil {
		data, err := encode(in)
		if err != nil {
			return err
		}
		body = bytes.NewReader(data)
		header.Set("Content-Type", "application/json")
	}
	request, err := http.NewRequestWithContext(ctx, method, address, body)
	if err != nil {
		return fmt.Errorf("agentops: %w", err)
	}
	request.Header = header
	response, err := a.client.Do(request)
	switch {
	case err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded):
		return &failure{sentence: fmt.Sprintf("Agent Ops at %s did not answer within %s.", a.base.Host, a.patience)}
	case err != nil && ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return &failure{sentence: fmt.Sprintf("Agent Ops at %s cannot be reached: %v.", a.base.Host, innermost(err))}
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode < 200 || response.StatusCode > 299 {
		return refused(response.StatusCode, saidIn(response.Body))
	}
	data, err := io.ReadAll(io.LimitReader(response.Body, a.max+1))
	switch {
	case err != nil:
		return &failure{sentence: fmt.Sprintf("The answer of Agent Ops broke off: %v.", innermost(err))}
	case int64(len(data)) > a.max:
		return &failure{sentence: fmt.Sprintf("Agent Ops answered with more than %s: raise max_frame of this agent.", size.Bytes(a.max)), final: true}
	case out == nil:
		return nil
	}
	if err := json.Unmarshal(data, out); errors.Is(err, errTooMany) {
		return errTooMany
	} else if err != nil {
		return &failure{sentence: fmt.Sprintf("Agent Ops at %s answered with something else than its JSON: is the url right?", a.base.Host), final: true, foreign: true}
	}
	return nil
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
	return a.call(ctx, c, http.MethodPost, a.at("sessions", session, "prompt"), map[string]bool{"interrupt": true}, nil)
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
	err := a.call(ctx, c, http.MethodGet, a.at("sessions", session, "threads", "active"), nil, &found)
	if err == nil && found.Thread.ID == "" {
		err = a.call(ctx, c, http.MethodPost, a.at("sessions", session, "threads"), map[string]any{}, &found)
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

// messages reads what was said since a time, or all of it. They are as they came.
func (a *api) messages(ctx context.Context, c agent.Caller, session string, since time.Time) ([]json.RawMessage, error) {
	address := a.at("sessions", session, "messages")
	if !since.IsZero() {
		address += "?after=" + strconv.FormatInt(since.Unix(), 10)
	}
	var found struct {
		Messages told `json:"messages"`
	}
	err := a.call(ctx, c, http.MethodGet, address, nil, &found)
	return found.Messages, err
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
	return a.call(ctx, c, http.MethodPost, a.at("action-invocations", invocation, verb), body, nil)
}
