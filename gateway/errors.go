package gateway

import (
	"errors"
	"net/http"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tributary-dev/tributary/access"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/gateway/refusal"
	"github.com/tributary-dev/tributary/policy/workspace/spaces"
	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/trace"
)

// This file turns errors into answers.

// The codes of errors of which the gateway's log says more than the answer.
const internal, logUnavailable = "internal", "log_unavailable"

// handler is a handler that returns its error; one place turns it into an answer.
type handler func(w http.ResponseWriter, r *http.Request) error

func (g *gateway) handle(h handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff") // an answer has words of agents in it
		if err := h(w, r); err != nil {
			g.fail(w, r, err)
		}
	})
}

// fail answers with an error.
func (g *gateway) fail(w http.ResponseWriter, r *http.Request, err error) {
	status, code, text := g.describe(r, err)
	switch status {
	case http.StatusUnauthorized: // by the server of an agent
		w.Header().Set("WWW-Authenticate", `Bearer realm="tributary"`)
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		w.Header().Set("Retry-After", refusal.RetryAfter(err))
	case http.StatusMethodNotAllowed:
		if w.Header().Get("Allow") == "" {
			w.Header().Set("Allow", http.MethodPost) // GET /api/chat, which is a resume or nothing
		}
	}
	Refuse(w, r, status, code, text)
}

// describe is an error in the form in which the sender of the request gets it.
func (g *gateway) describe(r *http.Request, err error) (status int, code, text string) {
	status, code = statusOf(err)
	text = "Something went wrong in the gateway; its log says what."
	switch code {
	case logUnavailable:
		text = sentence(session.ErrLog.Error())
	case internal:
	default:
		return status, code, sentence(err.Error())
	}
	if r.Context().Err() == nil { // else the client has gone, and that was the error
		g.Logger.Error("request failed", "method", r.Method, "path", r.URL.Path, "error", err)
	}
	return status, code, text
}

// Refuse answers with an error: in plain text where the stock client shows it to
// the user, else as JSON.
func Refuse(w http.ResponseWriter, r *http.Request, status int, code, sentence string) {
	if isChat(r.URL.Path) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("X-Tributary-Code", code)
		w.WriteHeader(status)
		_, _ = w.Write([]byte(sentence))
		return
	}
	access.RefuseJSON(w, r, status, code, sentence)
}

// isChat reports whether the stock client's transport talks to the path.
func isChat(path string) bool {
	return path == "/api/chat" || strings.HasPrefix(path, "/api/chat/") ||
		strings.HasPrefix(path, "/api/sessions/") && (strings.HasSuffix(path, "/chat") || strings.HasSuffix(path, "/stream"))
}

// statusOf is the one table of errors and statuses.
func statusOf(err error) (status int, code string) {
	var answered *session.AnsweredError
	var choice *session.ChoiceError
	var file *trace.FileError
	var command *session.CommandError
	var list *session.ListError
	var refused *refusal.Error
	var damaged *eventlog.DamageError
	var loss *spaces.LossError
	var nobody *access.NoPersonError
	switch {
	case errors.As(err, &damaged):
		return http.StatusInternalServerError, "session_damaged"
	case errors.As(err, &refused):
		return refused.Status, refused.Code
	case errors.As(err, &answered):
		return http.StatusConflict, "already_answered"
	case errors.As(err, &nobody):
		return http.StatusBadRequest, "unknown_person"
	case errors.As(err, &command):
		return http.StatusForbidden, "forbidden"
	case errors.As(err, &choice), errors.As(err, &file):
		return http.StatusBadRequest, "bad_request"
	case errors.Is(err, session.ErrUnknownSession):
		return http.StatusNotFound, "unknown_session"
	case errors.Is(err, session.ErrUnknownRequest):
		return http.StatusNotFound, "unknown_request"
	case errors.Is(err, session.ErrUnknownTurn):
		return http.StatusNotFound, "unknown_turn"
	case errors.Is(err, session.ErrNoFiles):
		return http.StatusNotFound, "not_offered"
	case errors.As(err, &loss):
		return http.StatusConflict, "workspace_has_work"
	case errors.Is(err, session.ErrUnknownWorkspace):
		return http.StatusNotFound, "unknown_workspace"
	case errors.Is(err, session.ErrWorkspaceInUse):
		return http.StatusConflict, "workspace_in_use"
	case errors.Is(err, spaces.ErrGone):
		return http.StatusConflict, "workspace_gone"
	case errors.Is(err, session.ErrNotQueued):
		return http.StatusConflict, "not_queued"
	case errors.Is(err, session.ErrNotYourPrompt):
		return http.StatusForbidden, "not_your_prompt"
	case errors.Is(err, session.ErrUnknownGrant):
		return http.StatusNotFound, "unknown_grant"
	case errors.Is(err, session.ErrUnknownConversation):
		return http.StatusNotFound, "unknown_conversation"
	case errors.Is(err, agent.ErrNotListed):
		return http.StatusConflict, "not_listed"
	case errors.As(err, &list):
		return http.StatusBadGateway, "list_failed"
	case errors.Is(err, session.ErrUnknownMessage):
		return http.StatusNotFound, "unknown_message"
	case errors.Is(err, session.ErrTaken):
		return http.StatusConflict, "taken"
	case errors.Is(err, session.ErrKeyUsed):
		return http.StatusConflict, "key_used"
	case errors.Is(err, session.ErrStale):
		return http.StatusConflict, "stale"
	case errors.Is(err, session.ErrNotYours):
		return http.StatusConflict, "not_yours"
	case errors.Is(err, session.ErrUnknownAgent):
		return http.StatusBadRequest, "unknown_agent"
	case errors.Is(err, session.ErrEmptyPrompt):
		return http.StatusBadRequest, "empty_message"
	case errors.Is(err, session.ErrNotWaiting):
		return http.StatusConflict, "nothing_to_continue"
	case errors.Is(err, agent.ErrNotKnownThere):
		return http.StatusForbidden, "not_known_there"
	case errors.Is(err, session.ErrMayNotPermit):
		return http.StatusForbidden, "forbidden"
	case errors.Is(err, session.ErrPaused):
		return http.StatusConflict, "waiting_for_answer"
	case errors.Is(err, session.ErrBusy):
		return http.StatusConflict, "busy"
	case errors.Is(err, session.ErrExists):
		return http.StatusConflict, "session_exists"
	case errors.Is(err, session.ErrQueueFull):
		return http.StatusTooManyRequests, "queue_full"
	case errors.Is(err, session.ErrTooManyPrompts):
		return http.StatusTooManyRequests, "too_many_prompts"
	case errors.Is(err, session.ErrLargePrompts):
		return http.StatusTooManyRequests, "too_large_prompts"
	case errors.Is(err, session.ErrLog):
		return http.StatusServiceUnavailable, logUnavailable
	case errors.Is(err, session.ErrElsewhere):
		return http.StatusServiceUnavailable, "session_elsewhere"
	case errors.Is(err, session.ErrClosing), errors.Is(err, eventlog.ErrClosed):
		return http.StatusServiceUnavailable, "shutting_down"
	}
	return http.StatusInternalServerError, internal
}

// sentence makes a sentence of an error: on one line, and short also if the error repeats a
// part of the request.
func sentence(text string) string {
	const longest = 400
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
	if len(text) > longest {
		cut := longest
		for !utf8.RuneStart(text[cut]) {
			cut--
		}
		text = text[:cut] + "…"
	}
	first, n := utf8.DecodeRuneInString(text)
	text = string(unicode.ToUpper(first)) + text[n:]
	if !strings.HasSuffix(text, ".") {
		text += "."
	}
	return text
}
