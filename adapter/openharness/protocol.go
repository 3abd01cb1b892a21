package openharness

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/agent/remote"
	"github.com/tributary-dev/tributary/trace"
)

// promptText is the text of a prompt. No server of Open Harness takes anything else.
func promptText(p agent.Prompt, inside func(path string) bool) (string, error) {
	for _, part := range p.Message.Parts {
		if part.Type != trace.InputText {
			return "", &agentkit.PromptError{Reason: "no_files", Sentence: "Open Harness takes text only: send the prompt without files."}
		}
	}
	if strings.TrimSpace(p.Text()) == "" {
		return "", &agentkit.PromptError{Reason: "empty_prompt", Sentence: "The prompt holds nothing that Open Harness can read."}
	}
	return agentkit.PromptText(p, inside), nil
}

// The paths. Calls with the path of the socket are commands of a WebSocket.
const (
	socketPath   = "/ws"
	chatPath     = "/api/chat"
	commandsPath = "/api/commands"
	sessionsPath = "/sessions"
)

// flow is the protocol of the kernel's WebSocket. The flow has no memory of its events: an
// event that comes while there is no connection is lost.
type flow struct {
	*Decoder
	s *remote.Session
}

// call is a call with a command.
func (c command) call() remote.Call { return remote.Post(socketPath, envelope{"command", c}) }

// abort is the command that ends a flow for good.
func abort(reason string) command {
	return command{Type: "abort", Resumable: new(false), Reason: reason}
}

// Run implements remote.Protocol. The connection is there before the command is sent.
func (p *flow) Run(_ context.Context, prompt agent.Prompt) (remote.Call, error) {
	text, err := promptText(prompt, p.s.Inside)
	c := command{Type: "send", Message: &text, RunID: newID()}.call()
	c.Stream = true
	return c, err
}

// Stop implements remote.Protocol.
func (p *flow) Stop() (remote.Call, bool) { return abort("stopped by the user").call(), true }

// GoOn implements remote.Protocol.
func (p *flow) GoOn(_ context.Context, b remote.Break) (_ *remote.Call, err error) {
	p.s.Do(func() { err = p.hopeless(b) })
	return &remote.Call{Method: http.MethodGet, Path: socketPath, Stream: true}, err
}

// web is the protocol of the HTTP server of version 0.2.
type web struct {
	*Decoder
	s         *remote.Session
	transport *webTransport
}

// Run implements remote.Protocol.
func (p *web) Run(_ context.Context, prompt agent.Prompt) (remote.Call, error) {
	text, err := promptText(prompt, p.s.Inside)
	message := trace.UserMessage{ID: prompt.Message.ID, Parts: []trace.InputPart{{Type: trace.InputText, Text: text}}}
	c := remote.Post(chatPath, chat{[]chatMessage{{"user", message}}})
	c.Stream = true
	return c, err
}

// Stop implements remote.Protocol.
func (p *web) Stop() (remote.Call, bool) {
	return remote.Post(commandsPath, command{Type: "stop"}), true
}

// GoOn implements remote.Protocol.
func (p *web) GoOn(_ context.Context, b remote.Break) (_ *remote.Call, err error) {
	p.s.Do(func() { err = p.hopeless(b) })
	c := p.transport.events(p.transport.known())
	return &c, err
}

// workflow is the protocol of Open Scaffold. Each prompt is a workflow with a session of its
// own at the server.
type workflow struct {
	*Decoder
	s  *remote.Session
	id string // of the newest session there; see session
}

func (p *workflow) session() (id string) {
	p.s.Do(func() { id = p.id })
	return id
}

var _ remote.Reattacher = (*workflow)(nil)

// Run implements remote.Protocol.
func (p *workflow) Run(ctx context.Context, prompt agent.Prompt) (remote.Call, error) {
	text, err := promptText(prompt, p.s.Inside)
	if err != nil {
		return remote.Call{}, err
	}
	var made struct {
		ID string `json:"sessionId"`
	}
	c := remote.Post(sessionsPath, map[string]string{"input": text})
	c.By = prompt.By
	if err := p.s.Fetch(ctx, c, &made); err != nil {
		return remote.Call{}, err
	}
	if made.ID == "" || strings.ContainsAny(made.ID, "/?#") {
		return remote.Call{}, errors.New("the server began a workflow and named no session of it: is this Open Scaffold?")
	}
	p.s.Do(func() { p.id = made.ID })
	return p.events(0), nil
}

func (p *workflow) events(position int) remote.Call {
	q := url.Values{"history": {"1"}}
	if position > 0 {
		q.Set("fromPosition", strconv.Itoa(position))
	}
	return remote.Call{Method: http.MethodGet, Path: "/sessions/" + p.session() + "/events", Query: q, Stream: true}
}

// Stop implements remote.Protocol: the server has no other end that keeps the log.
func (p *workflow) Stop() (remote.Call, bool) {
	id := p.session()
	return remote.Post("/sessions/"+id+"/pause", nil), id != ""
}

// GoOn implements remote.Protocol. A stream does not end with its workflow, and a workflow
// that fails says nothing. So the session asks for the state of a workflow that is silent.
func (p *workflow) GoOn(ctx context.Context, _ remote.Break) (*remote.Call, error) {
	var now struct {
		Running bool `json:"running"`
	}
	if err := p.s.Fetch(ctx, remote.Call{Method: http.MethodGet, Path: "/sessions/" + p.session()}, &now); err != nil {
		return nil, err
	}
	var over bool
	var why string
	var position int
	look := func() {
		if t := p.turn; t != nil {
			over, why, position = t.b.Over(), t.why, len(t.seen)
			if now.Running {
				t.b.Touch()
			}
		}
	}
	if p.s.Do(look); now.Running {
		c := p.events(position)
		return &c, nil
	}
	if err := p.s.Exchange(ctx, remote.Call{Method: http.MethodGet, Path: "/sessions/" + p.session() + "/state"}, nil); err != nil {
		return nil, err
	}
	if p.s.Do(look); over {
		return nil, nil //nolint:nilnil // the turn is over
	}
	if why != "" {
		return nil, errors.New(why)
	}
	return nil, errors.New("the server does not run this workflow any more: the workflow failed or was paused, or the server was started again")
}

// Reattach implements remote.Reattacher.
func (p *workflow) Reattach(ctx context.Context, was agent.OpenTurn) (*remote.Call, error) {
	id := p.s.Token()
	if id == "" {
		return nil, errors.New("the session at the server was not known yet")
	}
	var log struct {
		Events []entry `json:"events"`
	}
	if err := p.s.Fetch(ctx, remote.Call{Method: http.MethodGet, Path: "/sessions/" + id + "/state"}, &log); err != nil {
		return nil, err
	}
	on := earlier{OpenTurn: was, answered: map[string]bool{}}
	if n := len(was.Native); n > 0 {
		on.step = was.Native[n-1]
	}
	for _, e := range log.Events {
		if e.Name == "input:received" {
			on.answered[e.Payload.ID] = true
		}
	}
	p.s.Do(func() { p.id, p.earlier = id, on })
	c := p.events(0)
	return &c, nil
}
