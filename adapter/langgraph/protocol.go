package langgraph

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/agent/remote"
	"github.com/tributary-dev/tributary/internal/httpjson"
)

// protocol is a conversation on a LangGraph server: a thread.
type protocol struct {
	*Decoder
	*remote.Session
	rt Runtime

	mu     sync.Mutex // guards what follows
	thread string
	js     bool
	from   string // the checkpoint of the session's token, until the first run
	prompt string // the id of the prompt of the turn
	place  string // the newest event when a stream was opened again
}

var (
	_ remote.Protocol   = (*protocol)(nil)
	_ remote.Reattacher = (*protocol)(nil)
)

// Decode implements agent.Decoder.
func (p *protocol) Decode(m agent.Message, t agent.Turns) ([]agent.Effect, error) {
	return p.Decoder.Decode(m, t)
}

// greet checks that the server is one of LangGraph, and learns of which kind. A server that
// wants a person's token says so later.
func (p *protocol) greet(ctx context.Context, s *remote.Session) error {
	var a about
	err := s.Fetch(ctx, remote.Call{Method: http.MethodGet, Path: "/info"}, &a)
	if refused, ok := errors.AsType[*httpjson.Error](err); ok && p.rt.PassToken && (refused.Status == http.StatusUnauthorized || refused.Status == http.StatusForbidden) {
		return nil
	}
	if err != nil {
		return noServer(err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.js = a.js()
	return nil
}

// Run implements remote.Protocol.
func (p *protocol) Run(ctx context.Context, prompt agent.Prompt) (remote.Call, error) {
	if len(prompt.Message.Parts) == 0 {
		return remote.Call{}, &agentkit.PromptError{Reason: "empty_prompt", Sentence: "The prompt holds nothing that a graph can read."}
	}
	p.mu.Lock()
	p.prompt = prompt.Message.ID
	p.mu.Unlock()
	if err := p.locate(ctx, prompt.By); err != nil {
		return remote.Call{}, err
	}
	input := p.rt.Input
	if len(input) == 0 {
		input = agentkit.Encode(map[string]any{p.rt.messagesKey(): placeMessages})
	}
	body := p.body()
	body["input"] = fill(input, values(prompt, p.Config().SessionID))
	return p.begin(body), nil
}

// body is what all runs have in common.
func (p *protocol) body() map[string]any {
	p.mu.Lock()
	defer p.mu.Unlock()
	modes := []string{"messages-tuple", "updates", "custom"}
	if p.js {
		modes = append(modes, "tools")
	}
	body := map[string]any{
		"assistant_id": p.rt.Assistant, "stream_mode": modes, "stream_subgraphs": true, "stream_resumable": true,
		"on_disconnect": "continue", "multitask_strategy": "reject",
	}
	for key, value := range map[string]raw{"config": p.rt.Config, "context": p.rt.Context} {
		if len(value) > 0 {
			body[key] = value
		}
	}
	metadata := maps.Clone(p.rt.Metadata)
	if metadata == nil {
		metadata = map[string]any{}
	}
	metadata[promptKey] = p.prompt
	body["metadata"] = metadata
	return body
}

func (p *protocol) begin(body map[string]any) remote.Call {
	c := remote.Post(p.path("runs", "stream"), body)
	c.Stream = true
	return c
}

// resume is the run that goes on with an interrupted graph.
func (p *protocol) resume(command raw) remote.Call {
	body := p.body()
	body["input"] = nil
	if command != nil {
		body["command"] = command
	}
	return p.begin(body)
}

// path is a path below the thread's.
func (p *protocol) path(names ...string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := []string{"", "threads", url.PathEscape(p.thread)}
	for _, name := range names {
		all = append(all, url.PathEscape(name))
	}
	return strings.Join(all, "/")
}

// locate finds the thread of the session, or makes one. A thread has one run at a time.
func (p *protocol) locate(ctx context.Context, by string) error {
	var found struct {
		ID     string `json:"thread_id"`
		Status string `json:"status"`
	}
	p.mu.Lock()
	known := p.thread
	p.mu.Unlock()
	if known != "" {
		err := p.Fetch(ctx, remote.Call{Method: http.MethodGet, Path: p.path(), By: by}, &found)
		if refused, ok := errors.AsType[*httpjson.Error](err); ok && refused.Status == http.StatusNotFound {
			p.Do(func() {
				p.notice = new(agentkit.SessionLost("LangGraph"))
			})
			known = ""
		} else if err != nil {
			return err
		}
	}
	switch {
	case known != "" && found.Status == "busy":
		return &agentkit.PromptError{Reason: "busy", Sentence: "The thread of this conversation is busy with a run that was begun elsewhere: wait for its end, or cancel it on the server."}
	case known != "":
		return p.back(ctx, by)
	}
	c := remote.Post("/threads", map[string]any{"metadata": map[string]string{"tributary_session": p.Config().SessionID}})
	c.By = by
	if err := p.Exchange(ctx, c); err != nil {
		return err
	}
	p.Do(func() { found.ID = p.Decoder.thread })
	if found.ID == "" {
		return errors.New("the server made no thread: is it a LangGraph server?")
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.thread, p.from = found.ID, ""
	return nil
}

// back goes back, if the session's token is older than the thread: a copy of the checkpoint
// becomes the newest one. A run that begins at an older checkpoint would not do, because the
// server would begin the runs after it there, too.
func (p *protocol) back(ctx context.Context, by string) error {
	p.mu.Lock()
	from := p.from
	p.mu.Unlock()
	if from == "" {
		return nil
	}
	var now struct {
		Point struct {
			ID string `json:"checkpoint_id"`
		} `json:"checkpoint"`
	}
	if err := p.Fetch(ctx, remote.Call{Method: http.MethodGet, Path: p.path("state"), By: by}, &now); err != nil {
		return err
	}
	if now.Point.ID != from {
		c := remote.Post(p.path("state"), map[string]any{
			"values": nil, "as_node": "__copy__", "checkpoint_id": from, "checkpoint": map[string]string{"checkpoint_id": from, "checkpoint_ns": ""},
		})
		c.By = by
		err := p.Fetch(ctx, c, nil)
		if refused, ok := errors.AsType[*httpjson.Error](err); ok && refused.Status/100 == 4 {
			p.Do(func() { p.notice = new(agentkit.PlaceLost("LangGraph")) })
		} else if err != nil {
			return err
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.from = ""
	return nil
}

// status is what the protocol asks of its Decoder.
type status struct {
	over, waits bool
	run         string
}

func (p *protocol) status() (s status) {
	p.Do(func() { s = status{over: p.turn == nil || p.over, waits: p.waitsFor(), run: p.run} })
	return s
}

// Stop implements remote.Protocol. Before the run has a name, nothing can be stopped; the
// stop is asked for again.
func (p *protocol) Stop() (remote.Call, bool) {
	s := p.status()
	if s.run == "" {
		return remote.Call{}, true
	}
	return remote.Call{Method: http.MethodPost, Path: p.path("runs", s.run, "cancel"), Query: url.Values{"action": {"interrupt"}}}, true
}

// GoOn implements remote.Protocol. The end of a stream does not say how the run ended.
func (p *protocol) GoOn(ctx context.Context, b remote.Break) (*remote.Call, error) {
	s := p.status()
	switch {
	case s.over, s.waits && b.Err == nil:
		return nil, nil //nolint:nilnil // nothing more is to come
	case s.run == "":
		run, err := p.newest(ctx, "")
		if err != nil {
			return nil, err
		}
		return p.join(run, b.LastID), nil
	case b.Err != nil:
		p.wait(ctx, b.LastID)
		return p.join(s.run, b.LastID), nil //nolint:nilerr // the run goes on where its stream broke off
	}
	for _, path := range []string{p.path("state"), p.path("runs", s.run)} { // the place to go back to is known before the turn ends
		if err := p.Exchange(ctx, remote.Call{Method: http.MethodGet, Path: path}); err != nil {
			return nil, err
		}
	}
	if p.status().over {
		return nil, nil //nolint:nilnil // as above
	}
	p.wait(ctx, b.LastID)
	return p.join(s.run, b.LastID), nil
}

// wait holds back a stream that ends again and again without a word.
func (p *protocol) wait(ctx context.Context, at string) {
	p.mu.Lock()
	again := p.place == at
	p.place = at
	p.mu.Unlock()
	if !again {
		return
	}
	select {
	case <-time.After(time.Second):
	case <-ctx.Done():
	}
}

// join is the stream of a run, behind an event.
func (p *protocol) join(run, last string) *remote.Call {
	return &remote.Call{
		Method: http.MethodGet, Path: p.path("runs", run, "stream"), Stream: true,
		Header: map[string]string{"Last-Event-ID": before(last)}, // without it, the server would send only what is to come
	}
}

// before is the place from which a stream brings everything that may be missing. The ids of
// Python's server are times, and events of one millisecond have one id; those that have come
// are dropped.
func before(id string) string {
	ms, _, isTime := strings.Cut(id, "-")
	if n, err := strconv.ParseInt(ms, 10, 64); isTime && err == nil && n > 0 {
		return fmt.Sprintf("%d-%d", n-1, uint64(math.MaxUint64))
	}
	return cmp.Or(id, "-1")
}

// promptKey is the key of a run's metadata under which the id of the prompt stands.
const promptKey = "tributary_prompt"

// newest finds the newest run of the prompt, whose stream broke off before it had a name.
func (p *protocol) newest(ctx context.Context, by string) (string, error) {
	type run struct {
		Run      string         `json:"run_id"`
		Created  time.Time      `json:"created_at"`
		Metadata map[string]any `json:"metadata"`
	}
	var all []run
	err := p.Fetch(ctx, remote.Call{Method: http.MethodGet, Path: p.path("runs"), Query: url.Values{"limit": {"1000"}}, By: by}, &all)
	if err != nil {
		return "", err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	slices.SortFunc(all, func(a, b run) int { return b.Created.Compare(a.Created) }) // the servers differ in their order
	for _, r := range all {
		if r.Metadata[promptKey] == p.prompt {
			return r.Run, nil
		}
	}
	return "", errors.New("the connection broke before the run had begun: send the prompt again")
}

func lostRun(run string) error {
	return fmt.Errorf("the server does not know the run %s any more: send the prompt again", run)
}
