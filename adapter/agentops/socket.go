package agentops

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/coder/websocket"

	"github.com/tributary-dev/tributary/agent"
)

// The times of a socket.
const (
	pingEvery   = 30 * time.Second
	pongWithin  = 30 * time.Second
	writeWithin = 10 * time.Second
)

// subprotocols are the names that the protocol has had. Some servers answer with
// one of them, some with none, and the newer ones with theirs whatever was asked.
func subprotocols() []string { return []string{"valet", olderProtocol} }

// olderProtocol is the name that the protocol had in February.
const olderProtocol = "agent-ops"

// socket is a connection to a session agent, in the name of one principal. Who
// opens it reads it until it fails, and closes it.
type socket struct {
	conn *websocket.Conn
	who  principal
	max  int64
	busy atomic.Bool // a frame is being taken: pongs are not read meanwhile
}

// dial connects to the session agent, and gives up after the time for it, however
// slowly the other side answers.
func (a *api) dial(ctx context.Context, session string, c agent.Caller, protocols ...string) (*socket, error) {
	ctx, cancel := context.WithTimeout(ctx, a.patience)
	defer cancel()
	client := *a.client
	client.Transport = offered{client.Transport}
	conn, response, err := websocket.Dial(ctx, a.at("sessions", session, "ws")+"?role=client", &websocket.DialOptions{ //nolint:bodyclose // its documentation: never needed
		HTTPClient: &client, HTTPHeader: a.header(c), Subprotocols: protocols,
	})
	switch {
	case err == nil:
		conn.SetReadLimit(a.max)
		return &socket{conn: conn, who: whoIs(c), max: a.max}, nil
	case response != nil && response.StatusCode != http.StatusSwitchingProtocols:
		return nil, refused(response)
	case ctx.Err() != nil && errors.Is(ctx.Err(), context.DeadlineExceeded):
		return nil, &failure{sentence: fmt.Sprintf("Agent Ops at %s did not open the connection within %s: is it up, and is the url right?", a.base.Host, a.patience)}
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	default:
		return nil, &failure{sentence: fmt.Sprintf("Agent Ops at %s cannot be reached: %v", a.base.Host, innermost(err))}
	}
}

// offered hides a subprotocol that was not asked for: the answer of a server that
// names one all the same is as good as any.
type offered struct{ http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (o offered) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := o.RoundTripper.RoundTrip(r)
	if err == nil && !slices.Contains(subprotocols(), response.Header.Get("Sec-Websocket-Protocol")) {
		response.Header.Del("Sec-Websocket-Protocol")
	}
	return response, err
}

// read returns the next frame. When ctx ends the connection is closed.
func (s *socket) read(ctx context.Context) ([]byte, error) {
	s.busy.Store(false)
	defer s.busy.Store(true)
	for {
		kind, data, err := s.conn.Read(ctx)
		switch {
		case err != nil && ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case err != nil:
			return nil, s.lost(err)
		case kind != websocket.MessageText:
			continue // no version of the protocol has binary frames
		case !utf8.Valid(data):
			_ = s.conn.Close(websocket.StatusInvalidFramePayloadData, "not UTF-8")
			return nil, &failure{sentence: "Agent Ops sent a frame that is not UTF-8, so the connection was closed.", final: true}
		}
		return data, nil
	}
}

// lost says why a connection ended.
func (s *socket) lost(err error) error {
	if errors.Is(err, websocket.ErrMessageTooBig) {
		return &failure{sentence: fmt.Sprintf("Agent Ops sent a frame of more than %s, so the connection was closed: raise max_frame of this agent.", size(s.max)), final: true}
	}
	closed, ok := errors.AsType[websocket.CloseError](err)
	if !ok {
		return &failure{sentence: fmt.Sprintf("The connection to Agent Ops broke: %v.", innermost(err))}
	}
	sentence := fmt.Sprintf("Agent Ops closed the connection: %d %s.", closed.Code, closeWord(closed.Code))
	if reason := oneLine(closed.Reason); reason != "" {
		sentence = fmt.Sprintf("Agent Ops closed the connection: %d, %s.", closed.Code, reason)
	}
	final := []websocket.StatusCode{
		websocket.StatusProtocolError, websocket.StatusUnsupportedData, websocket.StatusInvalidFramePayloadData,
		websocket.StatusPolicyViolation, websocket.StatusMessageTooBig, websocket.StatusMandatoryExtension,
	}
	return &failure{sentence: sentence, final: slices.Contains(final, closed.Code), personal: closed.Code == websocket.StatusPolicyViolation}
}

func closeWord(c websocket.StatusCode) string {
	words := map[websocket.StatusCode]string{
		websocket.StatusNormalClosure: "normal end", websocket.StatusGoingAway: "it goes away", websocket.StatusProtocolError: "protocol error",
		websocket.StatusUnsupportedData: "it does not take such data", websocket.StatusNoStatusRcvd: "without a reason",
		websocket.StatusInvalidFramePayloadData: "it could not read a frame", websocket.StatusPolicyViolation: "it does not allow this",
		websocket.StatusMessageTooBig: "a frame was too large for it", websocket.StatusInternalError: "internal error",
		websocket.StatusServiceRestart: "it restarts", websocket.StatusTryAgainLater: "try again later", websocket.StatusBadGateway: "bad gateway",
	}
	if w, ok := words[c]; ok {
		return w
	}
	return "a code of its own"
}

// write sends a frame. A turn that is stopped meanwhile does not end it: a write that is
// given up would end the connection, which others have too.
func (s *socket) write(ctx context.Context, frame []byte) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeWithin)
	defer cancel()
	if err := s.conn.Write(ctx, websocket.MessageText, frame); err != nil {
		return &failure{sentence: fmt.Sprintf("Agent Ops did not take what was sent: %v.", innermost(err))}
	}
	return nil
}

// watch pings until ctx ends, and closes a connection whose other side has gone
// without a word.
func (s *socket) watch(ctx context.Context) {
	for tick := time.NewTicker(pingEvery); ; {
		select {
		case <-ctx.Done():
			tick.Stop()
			return
		case <-tick.C:
		}
		if s.busy.Load() {
			continue // the pong would not be read: it is we who are slow
		}
		pong, cancel := context.WithTimeout(ctx, pongWithin)
		err := s.conn.Ping(pong)
		cancel()
		if err != nil && !s.busy.Load() {
			_ = s.conn.CloseNow()
		}
	}
}

// close ends the connection. It returns soon: whether the other side says goodbye
// is not waited for.
func (s *socket) close() { _ = s.conn.CloseNow() }
