package agentkit

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/internal/jsonrpc"
)

// Consult starts an agent that speaks JSON-RPC, asks it something for which no session is
// needed, and ends the process. Requests of the agent are refused.
func Consult(ctx context.Context, cfg agent.Config, spec Spec, o jsonrpc.Options, ask func(ctx context.Context, rpc *jsonrpc.Conn) error) error {
	spec.New = func(c Conn, _ string) Protocol { return &consultation{jsonrpc.New(c.Send, o), ask} }
	s, err := Open(ctx, nil, cfg, spec)
	if err != nil {
		return err
	}
	return s.Close()
}

// consultation is a process without a session.
type consultation struct {
	rpc *jsonrpc.Conn
	ask func(ctx context.Context, rpc *jsonrpc.Conn) error
}

// Decode implements agent.Decoder: a process without a session has no events.
func (*consultation) Decode(agent.Message, agent.Turns) ([]agent.Effect, error) { return nil, nil }

// Received implements Receiver.
func (c *consultation) Received(line json.RawMessage) { _, _ = c.rpc.Take(line) }

// Greet implements Protocol.
func (c *consultation) Greet(ctx context.Context, _ string) error { return c.ask(ctx, c.rpc) }

// Prompt implements Protocol.
func (*consultation) Prompt(context.Context, agent.Prompt) (json.RawMessage, error) {
	return nil, errors.New("a process without a session takes no prompt")
}

// Stop implements Protocol.
func (*consultation) Stop() json.RawMessage { return nil }

// Close implements io.Closer.
func (c *consultation) Close() error {
	c.rpc.Close(ErrEnded)
	return nil
}
