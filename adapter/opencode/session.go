package opencode

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/internal/httpjson"
	"github.com/tributary-dev/tributary/trace"
)

// session is a conversation. A server that died comes back with the next prompt.
type session struct {
	*agentkit.Session
	rt   Runtime
	host agent.Host
	cfg  agent.Config
	dec  *Decoder

	connecting sync.Mutex // taken before state
	state      sync.Mutex // guards what follows
	srv        *server
	id         string
	mode       string // OpenCode calls it an agent
	model      string
	modes      []trace.Mode
	models     []trace.Model
	shut       bool
}

var (
	_ agent.Session      = (*session)(nil)
	_ agent.Controllable = (*session)(nil)
)

func newSession(r Runtime, host agent.Host, cfg agent.Config) *session {
	s := &session{rt: r, host: host, cfg: cfg, dec: NewDecoder(Options{Tools: r.Tools}), mode: r.Settings.Agent, model: cfg.Model}
	s.Session = agentkit.New(host, cfg, agentkit.Options{Name: r.name(), Decoder: s.dec, Send: s.post, StopTime: r.StopTime})
	return s
}

// post sends a request that the Decoder has encoded.
func (s *session) post(ctx context.Context, data []byte) error {
	var c call
	if err := json.Unmarshal(data, &c); err != nil {
		return fmt.Errorf("opencode: a request was lost: %w", err)
	}
	srv, _ := s.current()
	if srv == nil {
		return agentkit.ErrClosed
	}
	return srv.do(ctx, c.Method, c.Path, c.Body, nil)
}

func (s *session) current() (*server, string) {
	s.state.Lock()
	defer s.state.Unlock()
	return s.srv, s.id
}

// path is a path below the conversation's.
func (s *session) path(what string) string {
	_, id := s.current()
	return "/session/" + id + "/" + what
}

// connect returns a server that has the conversation.
func (s *session) connect(ctx context.Context) (*server, error) {
	s.connecting.Lock()
	defer s.connecting.Unlock()
	if srv, _ := s.current(); srv != nil && !srv.gone() {
		return srv, nil
	}
	srv, err := s.reach(ctx)
	if err != nil {
		return nil, err
	}
	s.state.Lock()
	shut := s.shut
	s.srv = srv
	s.state.Unlock()
	if shut {
		srv.close()
		return nil, agentkit.ErrClosed
	}
	var agents []about
	err = srv.do(ctx, http.MethodGet, "/agent", nil, &agents)
	if err == nil {
		err = s.locate(ctx, srv, s.rules(agents))
	}
	if err == nil {
		err = s.follow(ctx, srv)
	}
	if err != nil {
		srv.close()
		return nil, err
	}
	s.describe(ctx, srv, agents)
	return srv, nil
}

// reach starts or finds the server.
func (s *session) reach(ctx context.Context) (srv *server, err error) {
	if s.rt.URL != "" {
		srv, err = s.rt.attach()
	} else {
		srv, err = s.rt.launch(ctx, s.cfg.Cwd, s.cfg.StateDir)
	}
	if err != nil {
		return nil, err
	}
	if s.rt.Settings.Directory != "" {
		srv.query = url.Values{"directory": {s.rt.Settings.Directory}}
	}
	version, err := srv.health(ctx)
	if err != nil {
		srv.close()
		return nil, err
	}
	s.cfg.Logger.Debug("opencode: connected", "version", version)
	return srv, nil
}

// locate finds the conversation, and goes back if the token names an earlier moment.
func (s *session) locate(ctx context.Context, srv *server, permission []rule) error {
	id, moment, _ := strings.Cut(s.Token(), "/")
	if id != "" {
		err := s.call(ctx, srv, http.MethodPatch, "/session/"+id, map[string]any{"permission": permission})
		refused, _ := errors.AsType[*httpjson.Error](err)
		switch {
		case refused != nil && refused.Status == http.StatusNotFound:
			s.Notice(trace.Error{Code: "place_lost", Message: s.rt.name() + " does not find this conversation any more and begins a new one."})
			id = ""
		case err != nil:
			return err
		}
	}
	if id == "" {
		var made info
		if err := s.answer(ctx, srv, http.MethodPost, "/session", map[string]any{"permission": permission}, &made); err != nil {
			return err
		}
		id, moment = made.ID, ""
	}
	s.state.Lock()
	s.id = id
	s.state.Unlock()
	var past []entry
	if err := s.answer(ctx, srv, http.MethodGet, "/session/"+id+"/message", nil, &past); err != nil || moment == "" {
		return err
	}
	return s.goBack(ctx, srv, id, moment, past)
}

// goBack removes the prompts after a message.
func (s *session) goBack(ctx context.Context, srv *server, id, moment string, past []entry) error {
	found := false
	for _, e := range past {
		if found && e.Info.Role == "user" {
			return srv.do(ctx, http.MethodPost, "/session/"+id+"/revert", map[string]string{"messageID": e.Info.ID}, nil)
		}
		found = found || e.Info.ID == moment
	}
	if !found {
		s.Notice(trace.Error{Code: "place_lost", Message: s.rt.name() + " does not find its place in this conversation any more, so it may still remember what was removed."})
	}
	return nil
}

// call makes a call that the Decoder takes part in.
func (s *session) call(ctx context.Context, srv *server, method, path string, in any) error {
	return s.answer(ctx, srv, method, path, in, nil)
}

// answer is call, with an answer that the session needs too.
func (s *session) answer(ctx context.Context, srv *server, method, path string, in, out any) error {
	if in != nil {
		if err := s.Sent(agent.Message{Dir: agent.In, Data: encode(call{Method: method, Path: path, Body: encode(in)})}); err != nil { //nolint:contextcheck // effects end with the session
			return err
		}
	}
	var body raw
	into := any(&body)
	if method == http.MethodPost && strings.HasSuffix(path, "/prompt_async") {
		into = nil // it has no answer
	}
	if err := srv.do(ctx, method, path, in, into); err != nil {
		return err
	}
	if out != nil {
		if err := json.Unmarshal(body, out); err != nil {
			return fmt.Errorf("opencode: the server's answer to %s %s has another form than expected: %w", method, path, err)
		}
	}
	return s.Received(agent.Message{Dir: agent.Out, Channel: "http-res", Data: encode(call{Path: path, Status: http.StatusOK, Body: body})}) //nolint:contextcheck // effects end with the session
}

// Prompt implements agent.Session.
func (s *session) Prompt(ctx context.Context, p agent.Prompt, b *trace.Builder) error {
	return s.Run(ctx, b, &link{s: s, prompt: p})
}

// Close implements agent.Session.
func (s *session) Close() error {
	s.state.Lock()
	s.shut = true
	srv, id := s.srv, s.id
	s.state.Unlock()
	if srv != nil {
		busy := false
		s.Do(func() { busy = s.dec.Running() })
		if busy && srv.proc == nil && !srv.gone() {
			ctx, cancel := context.WithTimeout(context.Background(), time.Second)
			_ = srv.do(ctx, http.MethodPost, "/session/"+id+"/abort", nil, nil)
			cancel()
		}
		srv.close()
		s.Lost(trace.Stop{Reason: "closed", Outcome: trace.OutcomeCanceled})
	}
	s.Session.Close()
	return nil
}
