package gateway

import (
	"cmp"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/tributary-dev/tributary/access"
	"github.com/tributary-dev/tributary/gateway/authz"
	"github.com/tributary-dev/tributary/gateway/chatbody"
	"github.com/tributary-dev/tributary/gateway/refusal"
	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/uistream"
)

// This file has the chat route and its resume.

// chat is the POST of useChat: a prompt, and the stream of its turn.
func (g *gateway) chat(w http.ResponseWriter, r *http.Request) (s *stream, err error) {
	received := time.Now()
	opts, err := g.streamOptions(r)
	if err != nil {
		return nil, err
	}
	req, done, err := g.read(r)
	if err != nil {
		return nil, err
	}
	defer func() { s.keeps(done) }()
	if isWorkflow(r) {
		opts = workflowProfile(r, opts)
	}
	return g.converse(w, r, req, opts, received, time.Now()) // a slow sender is not measured
}

// converse takes a chat that was read, and finds the stream that answers it.
func (g *gateway) converse(w http.ResponseWriter, r *http.Request, req chatbody.Request, opts streamOptions, received, began time.Time) (*stream, error) {
	if s, err := g.chatToOwner(r, req); s != nil || err != nil {
		return s, err
	}
	r, info, err := g.authorizePost(r, req)
	if err != nil {
		return nil, err
	}
	message, is := req.Continues()
	if is && g.RejectToolOutputs && req.OnlyOutputs(message) {
		return nil, &refusal.Error{
			Status: http.StatusBadRequest, Code: "client_tool_output",
			Sentence: "All tools run on the server: this session takes no outputs of tools from a client.",
		}
	}
	if is {
		return g.goOn(w, r, req, message, opts.of(info), began)
	}
	prompt, err := req.Prompt(caller(r), r.URL.Query().Get("channelId"))
	if err != nil {
		return nil, err
	}
	if prompt.Key, err = requestKey(r); err != nil {
		return nil, err
	}
	prompt.MayPermit = g.authz.MayPermit(r) == nil
	prompt.Caller.Traceparent = traceparent(r.Header)
	prompt.Received, prompt.Read = received, began
	if info, err = g.sessionFor(r, req, info); err != nil { // last, so that a bad request makes no session
		return nil, err
	}
	id := info.ID
	prompt.Caller.Bearer = g.authz.Bearer(r.Context(), info.Agent)
	if parts := chatbody.Pressed(req.Answers(req.LastAssistant)); len(parts) > 0 && !prompt.Regenerate {
		// An app that does not send pressed buttons by itself sends them with the next
		// message. The buttons decide, and the message comes after them.
		err := g.Hub.Settle(r.Context(), id, g.continuation(r, req, req.LastAssistant, parts))
		if err != nil && !errors.Is(err, session.ErrMayNotPermit) { // else the message counts as any other
			return nil, err
		}
	}
	turn, err := g.Hub.Prompt(r.Context(), id, prompt)
	if err != nil {
		return nil, err
	}
	span := uistream.Span{From: turn.From, SkipPausesThrough: turn.SkipPausesThrough, Live: turn.From == 0}
	if turn.Repeated {
		span = resumed(turn)
	}
	return &stream{turn: turn, span: span, options: opts.of(info), began: began}, nil
}

// authorizePost admits the sender of a POST whose body is here. If the path names the
// session, the sender was admitted before the body was read, which may have taken
// long.
func (g *gateway) authorizePost(r *http.Request, req chatbody.Request) (*http.Request, session.Info, error) {
	if r.PathValue("id") == "" {
		return g.authz.AuthorizeNewOrExisting(r, req.ID, cmp.Or(r.URL.Query().Get("agent"), req.Agent, g.Hub.Default))
	}
	admitted, err := g.authorizeRFC(r, access.Collaborator)
	return admitted, authz.Session(admitted.Context()), err //nolint:contextcheck // it holds the session
}

// sessionFor finds the session of a POST. The AI SDK's own route makes the session on first
// use. A route that names a session does not: there the sender was admitted to it.
func (g *gateway) sessionFor(r *http.Request, req chatbody.Request, info session.Info) (_ session.Info, err error) {
	if r.PathValue("id") != "" {
		return info, g.authz.MayUse(r.Context(), info.Agent)
	}
	agent := cmp.Or(r.URL.Query().Get("agent"), req.Agent)
	if err := g.authz.MayUse(r.Context(), cmp.Or(info.Agent, agent)); err != nil {
		return info, err
	}
	if info.ID == "" {
		if err := g.authz.MayCreate(r.Context(), agent); err != nil {
			return info, err
		}
		info, err = g.Hub.Ensure(r.Context(), session.Spec{ID: req.ID, Agent: agent, By: caller(r), Prompted: true, Looked: info})
		p, _ := access.From(r.Context())
		if err == nil && !g.authz.Role(p, info.ID, info.ACL()).Allows(access.Collaborator) {
			err = authz.ErrForeign // another request has made it just now
		}
	}
	if err == nil && agent != "" && agent != info.Agent {
		err = &refusal.Error{
			Status: http.StatusConflict, Code: "other_agent",
			Sentence: "This session is with the agent " + info.Agent + ": begin a new one to talk to " + agent + ".",
		}
	}
	if err == nil {
		err = g.authz.MayUse(r.Context(), info.Agent) // which may be another one's, made just now
	}
	return info, err
}

// resume streams the whole message of the turn that runs, or that ended just
// now, from its start. There is nothing to resume: 204. For a client that reads the
// history then, ?ended=0 leaves the ended ones out.
func (g *gateway) resume(w http.ResponseWriter, r *http.Request) (*stream, error) {
	opts, err := g.streamOptions(r)
	if err != nil {
		return nil, err
	}
	s, err := g.resumable(r, opts)
	if err == nil && s == nil {
		w.WriteHeader(http.StatusNoContent)
	}
	return s, err
}

// resumable finds what resume streams; nil if there is nothing.
func (g *gateway) resumable(r *http.Request, opts streamOptions) (*stream, error) {
	turn, ok, err := g.Hub.Resumable(r.Context(), r.PathValue("id"), r.URL.Query().Get("turn"))
	switch {
	case errors.Is(err, session.ErrUnknownSession):
		ok = false // a chat that has not said anything yet
	case err != nil:
		return nil, err
	}
	if !ok || !turn.Running && r.URL.Query().Get("ended") == "0" {
		return nil, nil //nolint:nilnil // there is none
	}
	s := &stream{turn: turn, span: resumed(turn), options: opts.of(authz.Session(r.Context()))}
	if at, is := positionOf(r); is {
		s.subscription = uistream.NewSubscription(turn.ID, s.options, s.span)
		s.subscription.GoOn(at)
	}
	return s, nil
}

// resumed is what a client gets of a turn that it has not followed from its start.
func resumed(t session.Turn) uistream.Span {
	return uistream.Span{From: t.From, SkipPausesThrough: t.SkipPausesThrough, Upto: t.Upto}
}

// resumeRoute is resume for those who may see the session.
func (g *gateway) resumeRoute() handler {
	return g.toOwner("", g.member(access.Viewer, g.streaming(g.served(g.resume)), noStream))
}

// resumeBehindQuery is resume for clients that append /{id}/stream to an api URL
// with a query: GET /api/chat?client=5/abc/stream. AI SDK 5.0.0, 6.0.0 and 7.0.0
// do (conformance, case resume-with-query); 7 does not since 7.0.107, says its
// changelog.
func (g *gateway) resumeBehindQuery(w http.ResponseWriter, r *http.Request) error {
	query, path, ok := strings.Cut(r.URL.RawQuery, "/")
	id, isStream := strings.CutSuffix(path, "/stream")
	id, err := url.PathUnescape(id)
	if !ok || !isStream || id == "" || err != nil {
		return &refusal.Error{Status: http.StatusMethodNotAllowed, Code: "method_not_allowed", Sentence: "Send a POST to this address to chat."}
	}
	r = r.Clone(r.Context())
	r.URL.RawQuery = query
	nameStream(r, id)
	return g.resumeRoute()(w, r)
}
