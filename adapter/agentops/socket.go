package agentops

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/coder/websocket"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/internal/httpjson"
	"github.com/tributary-dev/tributary/internal/size"
	"github.com/tributary-dev/tributary/internal/wsconn"
)

// subprotocols are the names that the protocol has had. Some servers answer with
// one of them, some with none, and the newer ones with theirs whatever was asked.
func subprotocols() []string { return []string{"valet", olderProtocol} }

// olderProtocol is the name that the protocol had in February.
const olderProtocol = "agent-ops"

// socket is a connection to a session agent, in the name of one principal. The goroutine
// that opens a socket reads it until it fails, and closes it.
type socket struct {
	conn *wsconn.Conn
	who  principal
	max  int64
}

// dial connects to the session agent.
func (a *api) dial(ctx context.Context, session string, c agent.Caller, protocols ...string) (*socket, error) {
	client, said := *a.client, ""
	client.Transport = offered{client.Transport, &said}
	conn, err := wsconn.Dial(ctx, a.base.JoinPath(pathOf("sessions", session, "ws")).String()+"?role=client", wsconn.Config{
		Client: &client, Header: a.header(c), Subprotocols: protocols, MaxFrame: a.max, OpenTime: a.patience,
	})
	if err == nil {
		return &socket{conn: conn, who: whoIs(c), max: a.max}, nil
	}
	failed, _ := errors.AsType[*wsconn.Error](err)
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case failed.Status != 0:
		return nil, refused(failed.Status, said)
	}
	return nil, &failure{sentence: fmt.Sprintf("Agent Ops at %s cannot be reached: %v.", a.base.Host, err)}
}

// offered hides a subprotocol that was not asked for: the answer of a server that
// names one all the same is as good as any. It keeps the words of a refusal.
type offered struct {
	http.RoundTripper
	said *string
}

// RoundTrip implements http.RoundTripper.
func (o offered) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := o.RoundTripper.RoundTrip(r)
	if err == nil && response.StatusCode != http.StatusSwitchingProtocols {
		body, _ := io.ReadAll(io.LimitReader(response.Body, 16<<10)) // what could be read is enough for a sentence
		if said := httpjson.Sentence(body); !strings.HasPrefix(said, "<") {
			*o.said = said
		}
	}
	if err == nil && !slices.Contains(subprotocols(), response.Header.Get("Sec-Websocket-Protocol")) {
		response.Header.Del("Sec-Websocket-Protocol")
	}
	return response, err
}

// read returns the next frame. When ctx ends the connection is closed.
func (s *socket) read(ctx context.Context) ([]byte, error) {
	data, err := s.conn.Read(ctx)
	switch {
	case err == nil:
		return data, nil
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	}
	lost, _ := errors.AsType[*wsconn.Error](err)
	f := &failure{sentence: fmt.Sprintf("The connection to Agent Ops ended: %s.", lost.Message), final: lost.Final(), personal: lost.Code == websocket.StatusPolicyViolation}
	if lost.Code == websocket.StatusMessageTooBig {
		f.sentence = fmt.Sprintf("Agent Ops sent a frame of more than %s, so the connection was closed: raise max_frame of this agent.", size.Bytes(s.max))
	}
	return nil, f
}

// write sends a frame. A turn that is stopped meanwhile does not end it: a write that is
// given up would end the connection, which others have too.
func (s *socket) write(ctx context.Context, frame []byte) error {
	if err := s.conn.Write(ctx, frame); err != nil {
		return &failure{sentence: fmt.Sprintf("Agent Ops did not take what was sent: %v.", err)}
	}
	return nil
}

// close ends the connection at once.
func (s *socket) close() { s.conn.Cut() }
