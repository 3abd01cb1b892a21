package runner_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/adapter/agentops/runner"
	"github.com/tributary-dev/tributary/adapter/agentops/wire"
)

// pipe is a connection without a network, in the place of a WebSocket. The gateway has the tests of
// WebSockets.
type pipe struct {
	in, out chan []byte // as the gateway sees it
	once    sync.Once
	closed  chan struct{}
	reason  string
	slow    func() // is done while a frame is written that is out already; nil: nothing
}

func newPipe() *pipe {
	return &pipe{in: make(chan []byte), out: make(chan []byte, 1000), closed: make(chan struct{})}
}

var errOver = errors.New("the connection is over")

func (p *pipe) Read(ctx context.Context) ([]byte, error) {
	select {
	case data := <-p.in:
		return data, nil
	case <-p.closed:
		return nil, errOver
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Write ends the connection if its context ends meanwhile, as that of a WebSocket does.
func (p *pipe) Write(ctx context.Context, frame []byte) error {
	select {
	case p.out <- frame:
	case <-p.closed:
		return errOver
	}
	if p.slow != nil {
		p.slow()
	}
	if ctx.Err() != nil {
		_ = p.Close("a write was given up")
	}
	return nil
}

func (p *pipe) Close(reason string) error {
	p.once.Do(func() {
		p.reason = reason
		close(p.closed)
	})
	return nil
}

// program is a runner in the test's hands.
type program struct {
	t *testing.T
	*pipe
	served chan struct{} // closed when the runtime has let it go
}

const token = "runner-0123456789"

// connect makes a runner of the session that is there.
func connect(t *testing.T, r *runner.Runtime) *program {
	t.Helper()
	serve, err := r.Admit("session", token)
	if err != nil {
		t.Fatal(err)
	}
	p := &program{t: t, pipe: newPipe(), served: make(chan struct{})}
	go func() {
		defer close(p.served)
		serve(context.Background(), p.pipe)
	}()
	t.Cleanup(func() {
		_ = p.Close("")
		<-p.served
	})
	return p
}

// ready is a runner that has had what it starts with and says that it is idle.
func ready(t *testing.T, r *runner.Runtime) *program {
	t.Helper()
	p := connect(t, r)
	for range 4 {
		p.receive()
	}
	p.send(wire.AgentStatus{Status: wire.StatusIdle})
	return p
}

func (p *program) send(frames ...wire.Frame) {
	p.t.Helper()
	for _, f := range frames {
		data, err := wire.Encode(f)
		if err != nil {
			p.t.Fatal(err)
		}
		p.sendRaw(string(data))
	}
}

func (p *program) sendRaw(data string) {
	select {
	case p.in <- []byte(data):
	case <-p.served:
	}
}

// receive returns the next frame that the runner gets, or nil once it gets none.
func (p *program) receive() wire.Frame {
	p.t.Helper()
	select {
	case data := <-p.out:
		f, err := wire.Decode(wire.ToRunner, data)
		if err != nil {
			p.t.Errorf("%s: %v", data, err)
		}
		return f
	case <-p.closed:
		return nil
	case <-time.After(10 * time.Minute): // of a bubble's own time, mostly
		return nil
	}
}

// prompt is the prompt that the runner gets next.
func (p *program) prompt() wire.RunnerPrompt {
	p.t.Helper()
	f := p.receive()
	prompt, is := f.(wire.RunnerPrompt)
	if !is {
		p.t.Fatalf("the runner got %T %+v and no prompt", f, f)
	}
	return prompt
}

// sendTurn says a whole turn.
func (p *program) sendTurn(prompt, turn string, deltas ...string) {
	p.t.Helper()
	p.send(wire.MessageCreate{TurnID: turn})
	for _, d := range deltas {
		p.send(delta(turn, d))
	}
	p.send(wire.Finalize{TurnID: turn, Reason: wire.ReasonEndTurn, FinalText: delta("", strings.Join(deltas, "")).Delta})
	p.send(wire.Complete{MessageID: prompt}, wire.AgentStatus{Status: wire.StatusIdle})
}

func delta(turn, text string) wire.TextDelta {
	d := wire.TextDelta{TurnID: turn}
	quoted, _ := json.Marshal(text)
	_ = json.Unmarshal(quoted, &d.Delta)
	return d
}

// serve is a runner that does what its prompts say, until it is closed.
func (p *program) serve() {
	stop := make(chan struct{}) // closed to abort what it plays
	answers := make(chan string, 1)
	var playing sync.WaitGroup
	defer func() {
		close(stop)
		playing.Wait()
	}()
	for turn := 1; ; {
		switch f := p.receive().(type) {
		case nil:
			return
		case wire.RunnerPrompt:
			id := fmt.Sprint("turn-", turn)
			turn++
			mine := stop
			playing.Go(func() { p.play(f, id, mine, answers) })
		case wire.Answer:
			select {
			case answers <- f.Answer.String():
			default:
			}
		case wire.Abort:
			close(stop)
			playing.Wait()
			stop = make(chan struct{})
			p.send(wire.Aborted{}, wire.AgentStatus{Status: wire.StatusIdle})
			p.send(wire.Finalize{Reason: wire.ReasonError, Error: "The operation was aborted."}, wire.Complete{}, wire.AgentStatus{Status: wire.StatusIdle})
		}
	}
}

func (p *program) play(f wire.RunnerPrompt, id string, stop <-chan struct{}, answers <-chan string) {
	switch {
	case strings.Contains(f.Content, "slow"):
		p.send(wire.MessageCreate{TurnID: id})
		for i := range 6000 {
			select {
			case <-stop:
				return
			case <-time.After(10 * time.Millisecond):
				p.send(delta(id, fmt.Sprint("word ", i, " ")))
			}
		}
		p.sendTurn(f.MessageID, id)
	case strings.Contains(f.Content, "ask"):
		p.send(wire.MessageCreate{TurnID: id}, wire.Question{QuestionID: "q-" + id, Text: "Which?", Options: []string{"red", "blue"}, MessageID: f.MessageID})
		select {
		case a := <-answers:
			p.sendTurn(f.MessageID, id, "You said "+a+".")
		case <-stop:
		}
	case strings.Contains(f.Content, "tool"):
		p.send(wire.ToolUpdate{TurnID: id, CallID: "c1", ToolName: "read", Status: wire.ToolCompleted, Args: json.RawMessage(`{"filePath":"a"}`), Result: json.RawMessage(`"x"`)})
		p.sendTurn(f.MessageID, id, "Read.")
	default:
		p.sendTurn(f.MessageID, id, "Hello, ", "this is the runner.")
	}
}
