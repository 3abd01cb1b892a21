package uiendpoint

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/remote"
	"github.com/tributary-dev/tributary/policy/toolkind"
	"github.com/tributary-dev/tributary/uistream"
)

// Func is an agent that is a function of this program. It yields the chunks of one run; an
// error ends the turn as failed. The function may leave out whatever its chunks imply:
// start and finish, steps, the beginning and end of a text.
//
// A run that yields an approval request, or a call with the form of a tool of the app, ends
// as it would at an endpoint. The function is called again when the answers are there.
type Func func(ctx context.Context, r Request) iter.Seq2[uistream.Chunk, error]

// Adapter makes the function an agent of the program, for tributary.Main.
func (f Func) Adapter(name string) agent.Adapter {
	return agent.Adapter{
		Name: name, InProcess: true, Keys: []string{"tool_kinds"},
		Tools: func(string) toolkind.Table { return tools() },
		New: func(s agent.Settings) (agent.Runtime, error) {
			return Runtime{Func: f, Tools: tools().With(s.ToolKinds)}, nil
		},
	}
}

// Request is the conversation that a Func answers.
type Request struct {
	// ID is that of the session.
	ID string `json:"id"`
	// MessageID is set if the run goes on with the last of Messages, an assistant's.
	MessageID string `json:"messageId"`
	// Messages are the conversation, oldest first.
	Messages []uistream.Message `json:"messages"`
	// Caller is the person who asks.
	Caller agent.Caller `json:"-"`
}

// Text is the text of the last message.
func (r Request) Text() (text string) {
	if len(r.Messages) > 0 {
		for _, p := range r.Messages[len(r.Messages)-1].Parts {
			if p.Type == "text" {
				text += p.Text
			}
		}
	}
	return text
}

// local is the Transport of a Func.
type local struct{ f Func }

// Stream implements remote.Transport.
func (l local) Stream(ctx context.Context, c remote.Call, by agent.Caller) (remote.Stream, error) {
	r := Request{Caller: by}
	if err := json.Unmarshal(c.Body, &r); err != nil {
		return nil, fmt.Errorf("uiendpoint: the conversation cannot be read: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	return chunks{l.f(ctx, r), cancel}, nil
}

// Do implements remote.Transport. The protocol has no calls but runs.
func (local) Do(context.Context, remote.Call, agent.Caller) (json.RawMessage, error) {
	return nil, errors.New("uiendpoint: a function takes no calls but runs")
}

// Close implements remote.Transport.
func (local) Close() {}

// chunks is the stream of one run of a Func.
type chunks struct {
	all    iter.Seq2[uistream.Chunk, error]
	cancel context.CancelFunc
}

// Close implements remote.Stream.
func (s chunks) Close() { s.cancel() }

// Events implements remote.Stream. A function that returns has finished.
func (s chunks) Events() iter.Seq2[remote.Event, error] {
	return func(yield func(remote.Event, error) bool) {
		next, stop := iter.Pull2(s.all)
		defer stop()
		for finished := false; ; {
			c, err, more := pull(next)
			switch {
			case err != nil:
				yield(remote.Event{}, err)
				return
			case !more && finished:
				return
			case !more:
				c = uistream.Finish{}
			case c == nil:
				continue
			}
			_, ends := uistream.Bare(c).(uistream.Finish)
			finished = finished || ends
			if !yield(remote.Event{Name: remote.Unnamed, Data: uistream.AppendChunk(nil, c)}, nil) {
				return
			}
		}
	}
}

// pull takes the next chunk. A function that panics has failed, and the program goes on.
func pull(next func() (uistream.Chunk, error, bool)) (c uistream.Chunk, err error, more bool) { //nolint:staticcheck // as iter.Pull2 returns them
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("the function panicked: %v", fault)
		}
	}()
	return next()
}
