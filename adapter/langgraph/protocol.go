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
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/agent/remote"
	"github.com/tributary-dev/tributary/trace"
)

// protocol is a conversation on a LangGraph server: a thread.
type protocol struct {
	*Decoder
	s    *remote.Session
	rt   Runtime
	from string // the checkpoint of the session's token, until the first run
}

var (
	_ remote.Protocol   = (*protocol)(nil)
	_ remote.Reattacher = (*protocol)(nil)
)

// spot is where a conversation is.
type spot struct {
	thread string
	run    string
	prompt string // the id of the prompt of the turn
	js     bool   // the server is the one in JavaScript
	strict bool   // the server refuses answers to what does not wait
}

// path is a path below the thread's.
func (s spot) path(names ...string) string {
	all := []string{"", "threads", url.PathEscape(s.thread)}
	for _, name := range names {
		all = append(all, url.PathEscape(name))
	}
	return strings.Join(all, "/")
}

func (s spot) get(by string, names ...string) remote.Call {
	return remote.Call{Method: http.MethodGet, Path: s.path(names...), By: by}
}

// join is the stream of a run, behind an event.
func (s spot) join(by, last string) *remote.Call {
	c := s.get(by, "runs", s.run, "stream")
	c.Stream, c.Header = true, map[string]string{"Last-Event-ID": before(last)} // without it, the server would send only what is to come
	return &c
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

// status returns where the conversation is, and whether the turn has its end.
func (d *Decoder) status(session *remote.Session) (at spot, over bool) {
	session.Do(func() {
		d.settle()
		at, over = d.at, d.turn == nil
	})
	return at, over
}

// greet checks that the server is one of LangGraph, and learns of which kind. A server that
// wants a person's token says so later.
func (p *protocol) greet(ctx context.Context, s *remote.Session) error {
	var found about
	err := s.Fetch(ctx, info, &found)
	if err != nil && !(p.rt.PassToken && remote.Refused(err, http.StatusUnauthorized, http.StatusForbidden)) {
		return noServer(err)
	}
	s.Do(func() { p.at.js, p.at.strict = found.Context == "js", found.Flags.StrictResume })
	if found.Version != "" {
		s.Host().Note(trace.AgentInfo{Product: "langgraph-api", Version: found.Version}.Payload())
	}
	return nil
}

// Run implements remote.Protocol.
func (p *protocol) Run(ctx context.Context, prompt agent.Prompt) (remote.Call, error) {
	template := p.rt.Input
	if len(template) == 0 {
		template = agentkit.Encode(map[string]any{p.rt.messagesKey(): placeMessages})
	}
	filled, err := input(template, prompt, p.s.Config().SessionID)
	if err != nil {
		return remote.Call{}, err
	}
	if err := p.locate(ctx, prompt.By); err != nil {
		return remote.Call{}, err
	}
	var c remote.Call
	p.s.Do(func() {
		p.at.prompt = prompt.Message.ID
		c = p.begin(map[string]any{"input": filled})
	})
	return c, nil
}

// promptKey is the key of a run's metadata under which the id of the prompt stands.
const promptKey = "tributary_prompt"

// begin is a new run.
func (p *protocol) begin(body map[string]any) remote.Call {
	modes := []string{"messages-tuple", "updates", "custom"}
	if p.at.js {
		modes = append(modes, "tools")
	}
	metadata := map[string]any{promptKey: p.at.prompt}
	maps.Copy(metadata, p.rt.Metadata)
	maps.Copy(body, map[string]any{
		"assistant_id": p.rt.Assistant, "stream_mode": modes, "stream_subgraphs": true, "stream_resumable": true,
		"on_disconnect": "continue", "multitask_strategy": "reject", "metadata": metadata,
	})
	for key, value := range map[string]raw{"config": p.rt.Config, "context": p.rt.Context} {
		if len(value) > 0 {
			body[key] = value
		}
	}
	c := remote.Post(p.at.path("runs", "stream"), body)
	c.Stream = true
	return c
}

// resume is the run that goes on with an interrupted graph.
func (p *protocol) resume(command raw) remote.Call {
	body := map[string]any{"input": nil}
	if command != nil {
		body["command"] = command
		if p.at.strict {
			body["strict_resume"] = true
		}
	}
	return p.begin(body)
}

// locate finds the thread of the session, or makes one. A thread has one run at a time.
func (p *protocol) locate(ctx context.Context, by string) error {
	var found object
	if at, _ := p.status(p.s); at.thread != "" {
		err := p.s.Fetch(ctx, at.get(by), &found)
		switch {
		case err == nil && found.text("status") == "busy":
			return &agentkit.PromptError{Reason: "busy", Sentence: "The thread of this conversation is busy with a run that was begun elsewhere: wait for its end, or cancel it on the server."}
		case err == nil:
			return p.back(ctx, at, by)
		case !remote.Refused(err, http.StatusNotFound):
			return err
		}
		p.s.Do(func() { p.at.thread, p.notice = "", new(agentkit.SessionLost("LangGraph")) })
	}
	p.from = ""
	c := remote.Post("/threads", map[string]any{"metadata": map[string]string{"tributary_session": p.s.Config().SessionID}})
	c.By = by
	err := p.s.Exchange(ctx, c, nil)
	for wait := 100 * time.Millisecond; err != nil && !remote.Refused(err) && ctx.Err() == nil && wait < time.Second; wait *= 3 {
		time.Sleep(wait) // an empty thread that was made in vain harms nobody
		err = p.s.Exchange(ctx, c, nil)
	}
	if err != nil {
		return err
	}
	if at, _ := p.status(p.s); at.thread == "" {
		return errors.New("the server made no thread: is it a LangGraph server?")
	}
	return nil
}

// back goes back, if the session's token is older than the thread: a copy of the checkpoint
// becomes the newest one. A run that begins at an older checkpoint would not do, because the
// server would begin the runs after it there, too.
func (p *protocol) back(ctx context.Context, at spot, by string) error {
	var now object
	if p.from == "" {
		return nil
	}
	if err := p.s.Fetch(ctx, at.get(by, "state"), &now); err != nil {
		return err
	}
	if now.in("checkpoint").text("checkpoint_id") != p.from {
		c := remote.Post(at.path("state"), map[string]any{
			"values": nil, "as_node": "__copy__", "checkpoint_id": p.from, "checkpoint": map[string]string{"checkpoint_id": p.from, "checkpoint_ns": ""},
		})
		c.By = by
		err := p.s.Fetch(ctx, c, nil)
		if remote.Refused(err) {
			p.s.Do(func() { p.notice = new(agentkit.PlaceLost("LangGraph")) })
		} else if err != nil {
			return err
		}
	}
	p.from = ""
	return nil
}

// Stop implements remote.Protocol. Before the run has a name, nothing can be stopped; the
// stop is asked for again.
func (p *protocol) Stop() (remote.Call, bool) {
	at, _ := p.status(p.s)
	if at.run == "" {
		return remote.Call{}, true
	}
	return remote.Call{Method: http.MethodPost, Path: at.path("runs", at.run, "cancel"), Query: url.Values{"action": {"interrupt"}}}, true
}

// GoOn implements remote.Protocol. The end of a stream does not say how the run ended.
func (p *protocol) GoOn(ctx context.Context, b remote.Break) (*remote.Call, error) {
	at, over := p.status(p.s)
	switch {
	case over:
		return nil, nil //nolint:nilnil // nothing more is to come
	case at.run == "":
		run, err := p.newest(ctx, at, "")
		if err != nil {
			return nil, err
		}
		at.run = run.ID
	case b.Err == nil:
		for _, c := range []remote.Call{at.get("", "runs", at.run), at.get("", "state")} { // the state is the run's last one only if the run is over
			if err := p.s.Exchange(ctx, c, nil); err != nil {
				return nil, err
			}
		}
		if _, over = p.status(p.s); over {
			return nil, nil //nolint:nilnil // as above
		}
	}
	return at.join("", b.LastID), nil
}

// serverRun is a run as the server lists it.
type serverRun struct {
	ID       string         `json:"run_id"`
	Status   string         `json:"status"`
	Created  time.Time      `json:"created_at"`
	Metadata map[string]any `json:"metadata"`
}

// newest finds the newest run of the prompt. The servers differ in the order of their runs.
func (p *protocol) newest(ctx context.Context, at spot, by string) (serverRun, error) {
	var all []serverRun
	c := at.get(by, "runs")
	c.Query = url.Values{"limit": {"1000"}}
	err := p.s.Fetch(ctx, c, &all)
	all = slices.DeleteFunc(all, func(r serverRun) bool { return r.Metadata[promptKey] != at.prompt })
	if err == nil && len(all) == 0 {
		err = errors.New("the server has no run of this prompt: send the prompt again")
	}
	if err != nil {
		return serverRun{}, err
	}
	return slices.MaxFunc(all, func(a, b serverRun) int { return a.Created.Compare(b.Created) }), nil
}
