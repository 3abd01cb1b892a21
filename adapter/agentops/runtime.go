package agentops

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/policy/toolkind"
)

// defaultFrame is the largest frame where a Runtime says nothing.
const defaultFrame = 64 << 20

// Runtime opens sessions that exist on an Agent Ops server, under their ids there.
type Runtime struct {
	// URL is the base address of the server, http or https.
	URL string
	// Token is the service token for all sessions. Without one, callers use their own tokens.
	Token Credential
	// PerTurn opens a connection for each turn and closes it afterwards. Else one connection, in the
	// name of one principal, reads the session for all as long as the session is open. Another
	// principal opens a connection only to send a frame in its own name.
	PerTurn bool
	// Strict never connects again by itself: a connection that is lost in the middle
	// of a turn ends the turn.
	Strict bool
	// ConnectTime bounds how long the server may take to answer, WakeTime how long a
	// session may take to wake; 30 s and 10 min if zero.
	ConnectTime, WakeTime time.Duration
	// MaxFrame bounds what the server may send at once; 64 MB if zero.
	MaxFrame int64
	// Tools says what the tools do; toolkind.OpenCode() if nil.
	Tools *toolkind.Table
	// Dial opens connections; that of net.Dialer if nil.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

var _ interface {
	agent.Runtime
	agent.Prober
	agent.Reattacher
	agent.AccessByToken
} = Runtime{}

func (r Runtime) connectTime() time.Duration { return cmp.Or(r.ConnectTime, answerTime) }
func (r Runtime) wakeTime() time.Duration    { return cmp.Or(r.WakeTime, wakeTime) }
func (r Runtime) maxFrame() int64            { return cmp.Or(r.MaxFrame, defaultFrame) }

// Open implements agent.Runtime. It connects to nobody: in whose name that is to be
// done only a prompt says.
func (r Runtime) Open(_ context.Context, host agent.Host, cfg agent.Config) (agent.Session, error) {
	a, err := r.newAPI()
	if err != nil {
		return nil, err
	}
	if !addressable(cfg.SessionID) {
		return nil, errors.New("agentops: a session here has the id that it has in Agent Ops, and this is none: open it under its own id")
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	return newSession(r, a, host, cfg), nil
}

// Probe implements agent.Prober: it asks the server who the service token is for,
// or, without one, whether it is there.
func (r Runtime) Probe(ctx context.Context) (string, error) {
	a, err := r.newAPI()
	if err != nil {
		return "", err
	}
	defer a.close()
	token, err := r.Token.token()
	if err != nil {
		return "", err
	}
	_, err = a.me(ctx, agent.Caller{Bearer: cmp.Or(token, "none")})
	if token == "" && statusOf(err) == http.StatusUnauthorized {
		err = nil // it is there, and wants to know who calls
	}
	if err != nil {
		return "", err
	}
	return "at " + a.host, nil
}

// Takes implements agent.AnswerTaker.
func (Runtime) Takes() (input, reason bool) { return false, true }
