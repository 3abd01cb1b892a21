package agentops

import (
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

	"github.com/coder/websocket"

	"github.com/tributary-dev/tributary/adapter/agentops/wire"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/internal/httpjson"
	"github.com/tributary-dev/tributary/internal/size"
	"github.com/tributary-dev/tributary/internal/wsconn"
)

// api is the server's HTTP. No call is tried twice.
type api struct {
	host    string
	url     string
	http    *httpjson.Client
	client  *http.Client // opens sockets
	service Credential
	timeout time.Duration // of an answer
	max     int64         // of an answer or a frame
}

// principal tells callers apart, and keeps their tokens out of what is printed.
type principal string

func whoIs(c agent.Caller) principal { return principal(c.Bearer) }

// String implements fmt.Stringer.
func (principal) String() string { return "principal" }

func (r Runtime) newAPI() (*api, error) {
	u, err := url.Parse(r.URL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, errors.New("agentops: the url of the agent must be the base address of an Agent Ops server, such as https://agents.example.com")
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
		host: u.Host, url: r.URL, http: client, service: r.Token, timeout: r.connectTime(), max: r.maxFrame(),
		client: &http.Client{
			Transport: transport,
			// A token goes to the address in the configuration and nowhere else.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}, nil
}

// close ends the idle connections.
func (a *api) close() { a.client.CloseIdleConnections() }

// as returns the caller with the token to use: the service token if there is one.
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

// pathOf makes the path of an address.
func pathOf(segments ...string) string {
	path := []string{"/api"}
	for _, s := range segments {
		path = append(path, url.PathEscape(s))
	}
	return strings.Join(path, "/")
}

// addressable reports whether an id can stand in an address: dots lead elsewhere, and
// orchestrator is another session for each caller.
func addressable(id string) bool {
	return !slices.Contains([]string{"", ".", "..", "orchestrator"}, id)
}

func header(c agent.Caller) http.Header {
	h := http.Header{"Authorization": {"Bearer " + c.Bearer}}
	if c.Traceparent != "" {
		h.Set("Traceparent", c.Traceparent)
	}
	return h
}

func (a *api) get(ctx context.Context, c agent.Caller, out any, segments ...string) error {
	return a.do(ctx, c, httpjson.Call{Method: http.MethodGet, Path: pathOf(segments...), Out: out})
}

func (a *api) post(ctx context.Context, c agent.Caller, in, out any, segments ...string) error {
	return a.do(ctx, c, httpjson.Call{Method: http.MethodPost, Path: pathOf(segments...), In: in, Out: out})
}

func (a *api) do(ctx context.Context, c agent.Caller, call httpjson.Call) error {
	call.Header = header(c)
	err := a.http.Do(ctx, call)
	failed, is := errors.AsType[*httpjson.Error](err)
	switch {
	case !is:
		return err
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case failed.Status == 0:
		return &failure{sentence: fmt.Sprintf("Agent Ops at %s cannot be reached: %s.", a.host, failed.Message)}
	case failed.Status/100 != 2:
		return refused(failed.Status, failed.Message)
	case errors.Unwrap(failed) == nil:
		return &failure{sentence: fmt.Sprintf("Agent Ops answered with more than %s: raise max_frame of this agent.", size.Bytes(a.max)), final: true}
	}
	return &failure{sentence: fmt.Sprintf("Agent Ops at %s answered with something else than its JSON: is the url right?", a.host), final: true}
}

// member is a user of the server.
type member struct {
	ID string `json:"id"`
}

// me asks who the caller is.
func (a *api) me(ctx context.Context, c agent.Caller) (member, error) {
	var me struct {
		User member `json:"user"`
	}
	err := a.get(ctx, c, &me, "auth", "me")
	return me.User, err
}

// interrupt stops the running turn of the session.
func (a *api) interrupt(ctx context.Context, c agent.Caller, session string) error {
	return a.post(ctx, c, map[string]bool{"interrupt": true}, nil, "sessions", session, "prompt")
}

// thread finds the thread of prompts without a channel; "" on a server without threads.
func (a *api) thread(ctx context.Context, c agent.Caller, session string) (string, error) {
	var found struct {
		member
		Thread member `json:"thread"`
	}
	err := a.get(ctx, c, &found, "sessions", session, "threads", "active")
	if err == nil && found.Thread.ID == "" {
		err = a.post(ctx, c, map[string]any{}, &found, "sessions", session, "threads")
	}
	if lacksRoute(err) {
		return "", nil
	}
	if found.Thread.ID != "" {
		found.ID = found.Thread.ID
	}
	return found.ID, err
}

// mostMessages is how many messages are read at once.
const mostMessages = 20_000

// messages reads the history since a time, or all of it. The newest messages matter, so a list
// that is too long is not read in part. A gateway in the place of a session agent knows by the
// parameter that its client is one of Agent Ops.
func (a *api) messages(ctx context.Context, c agent.Caller, session string, since time.Time) ([]wire.Message, error) {
	var found struct {
		Messages wire.List[json.RawMessage] `json:"messages"`
	}
	after := url.Values{"after": {strconv.FormatInt(max(0, since.Unix()), 10)}}
	err := a.do(ctx, c, httpjson.Call{Method: http.MethodGet, Path: pathOf("sessions", session, "messages"), Query: after, Out: &found})
	if err != nil {
		return nil, err
	}
	if len(found.Messages) >= mostMessages {
		return nil, &failure{sentence: fmt.Sprintf("Agent Ops sent more than %d messages of the session at once, and the gateway reads no more.", mostMessages), final: true}
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
	verb, body := wire.ActionDeny, map[string]string{}
	if allowed {
		verb = wire.ActionApprove
	}
	if reason != "" {
		body["reason"] = reason
	}
	return a.post(ctx, c, body, nil, "action-invocations", invocation, verb)
}

// socket is a connection to the session agent, in the name of one principal.
type socket struct {
	conn *wsconn.Conn
	who  principal
	max  int64
}

// dial connects to the session agent.
func (a *api) dial(ctx context.Context, session string, c agent.Caller) (*socket, error) {
	conn, err := wsconn.Dial(ctx, strings.TrimSuffix(a.url, "/")+pathOf("sessions", session, "ws")+"?role=client", wsconn.Config{
		Client: a.client, Header: header(c), Subprotocols: []string{"valet", "agent-ops"}, MaxFrame: a.max, OpenTime: a.timeout,
	})
	failed, _ := errors.AsType[*wsconn.Error](err)
	switch {
	case err == nil:
		return &socket{conn: conn, who: whoIs(c), max: a.max}, nil
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case failed.Status != 0:
		return nil, refused(failed.Status, string(failed.Body))
	}
	return nil, &failure{sentence: fmt.Sprintf("Agent Ops at %s cannot be reached: %v.", a.host, err)}
}

// read returns the next frame. The end of ctx closes the connection.
func (s *socket) read(ctx context.Context) ([]byte, error) {
	data, err := s.conn.Read(ctx)
	if err == nil {
		return data, nil
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	failed, _ := errors.AsType[*wsconn.Error](err)
	f := &failure{sentence: fmt.Sprintf("The connection to Agent Ops ended: %s.", failed.Message), final: failed.Final(), personal: failed.Code == websocket.StatusPolicyViolation}
	if failed.Code == websocket.StatusMessageTooBig {
		f.sentence = fmt.Sprintf("Agent Ops sent a frame of more than %s, so the connection was closed: raise max_frame of this agent.", size.Bytes(s.max))
	}
	return nil, f
}

// write sends a frame.
func (s *socket) write(ctx context.Context, frame []byte) error {
	if err := s.conn.Write(ctx, frame); err != nil {
		return &failure{sentence: fmt.Sprintf("Agent Ops did not take what was sent: %v.", err)}
	}
	return nil
}
