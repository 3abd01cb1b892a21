package gateway

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/uistream"
)

// chat is the POST of useChat: a prompt, and the stream of its turn.
func (g *gateway) chat(w http.ResponseWriter, r *http.Request) error {
	wish, err := g.wish(r)
	if err != nil {
		return err
	}
	req, err := g.read(r)
	if err != nil {
		return err
	}
	if message, is := req.continues(); is {
		return g.goOn(w, r, req, message, wish)
	}
	prompt, err := req.prompt(caller(r), r.URL.Query().Get("channelId"))
	if err != nil {
		return err
	}
	prompt.MayPermit = g.mayPermit(r)
	info, err := g.enter(r, req) // last, so that a bad request makes no session
	if err != nil {
		return err
	}
	id := info.ID
	if parts := req.answersOf(req.LastAssistant); len(parts) > 0 && !prompt.Regenerate {
		// Buttons that were pressed in an app that does not send them by itself: they
		// decide, and the message is what comes next.
		err := g.Hub.Settle(r.Context(), id, g.continuation(r, req, req.LastAssistant, parts))
		if err != nil && !errors.Is(err, session.ErrMayNotPermit) { // else the message counts as any other
			return err
		}
	}
	turn, err := g.Hub.Prompt(r.Context(), id, prompt)
	if err != nil {
		return err
	}
	g.serve(w, r, turn, uistream.Span{From: turn.From, Past: turn.Past}, wish.of(info))
	return nil
}

// enter finds the session that a POST is for. The AI SDK's own route makes it on
// first use; a route that names a session does not.
func (g *gateway) enter(r *http.Request, req chatRequest) (session.Info, error) {
	if id := r.PathValue("id"); id != "" {
		info, _, _, err := g.Hub.Get(r.Context(), id)
		return info, err
	}
	agent := r.URL.Query().Get("agent")
	if agent == "" {
		agent = req.Agent
	}
	info, err := g.Hub.Ensure(r.Context(), session.Spec{ID: req.ID, Agent: agent, By: caller(r)})
	if err != nil {
		return info, err
	}
	if agent != "" && agent != info.Agent {
		return info, &refusal{http.StatusConflict, "other_agent", "This session is with the agent " + info.Agent + ": begin a new one to talk to " + agent + "."}
	}
	return info, nil
}

// prompt says what a POST wishes. The role of its last message tells the kinds
// apart; a body with a single message falls back on trigger and ids.
func (req chatRequest) prompt(by, channel string) (session.Prompt, error) {
	if channel == "" {
		channel = req.Channel
	}
	p := session.Prompt{By: by, Channel: channel, Shown: req.Shown}
	switch {
	case req.Trigger == triggerRegenerate:
		p.Regenerate, p.Of = true, req.MessageID
		if req.User != nil {
			p.Message = *req.User
		}
		return p, nil
	case req.Trigger != "" && req.Trigger != triggerSubmit:
		return p, malformed("`trigger` must be %s or %s.", triggerSubmit, triggerRegenerate)
	case req.User == nil:
		return p, malformed("There is no user message in the request: send `messages` (or `message`) with one.")
	}
	p.Message = *req.User
	if len(p.Message.Parts) == 0 {
		return p, session.ErrEmptyPrompt
	}
	return p, nil
}

// resume streams the whole message of the turn that runs, or that ended just
// now, from its start. There is nothing to resume: 204.
func (g *gateway) resume(w http.ResponseWriter, r *http.Request) error {
	wish, err := g.wish(r)
	if err != nil {
		return err
	}
	turn, ok, err := g.Hub.Resumable(r.Context(), r.PathValue("id"), r.URL.Query().Get("turn"))
	switch {
	case errors.Is(err, session.ErrUnknownSession):
		ok = false // a chat that has not said anything yet
	case err != nil:
		return err
	}
	if !ok {
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	info, _, _, err := g.Hub.Get(r.Context(), turn.Session)
	if err != nil {
		return err
	}
	g.serve(w, r, turn, uistream.Span{From: turn.From, Past: turn.Past}, wish.of(info))
	return nil
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
		return &refusal{http.StatusMethodNotAllowed, "method_not_allowed", "Send a POST to this address to chat."}
	}
	r = r.Clone(r.Context())
	r.URL.RawQuery = query
	r.SetPathValue("id", id)
	g.Hub.Touch(id)
	return g.resume(w, r)
}

// stop ends the turn named, or the running one, for everybody.
func (g *gateway) stop(w http.ResponseWriter, r *http.Request) error {
	var body struct {
		Turn string `json:"turn"`
	}
	if err := readJSON(w, r, &body); err != nil {
		return err
	}
	id, stopped, err := g.Hub.StopTurn(r.Context(), r.PathValue("id"), body.Turn, caller(r))
	if errors.Is(err, session.ErrUnknownSession) {
		id, stopped, err = "", false, nil // nothing runs there: that is what was asked for
	}
	if err != nil {
		return err
	}
	answer := struct {
		Turn    *string `json:"turn"`
		Stopped bool    `json:"stopped"`
	}{nil, stopped}
	if id != "" {
		answer.Turn = &id
	}
	return writeJSON(w, http.StatusOK, answer)
}
