package gateway

import (
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tributary-dev/tributary/access"
	"github.com/tributary-dev/tributary/session"
)

// handler is a handler that returns its error; one place turns it into an answer.
type handler func(w http.ResponseWriter, r *http.Request) error

// refusal is an answer that the gateway itself decides on.
type refusal struct {
	status   int
	code     string
	sentence string
}

func (e *refusal) Error() string { return e.sentence }

func (g *gateway) handle(h handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		err := h(w, r)
		if err == nil {
			return
		}
		status, code, text := g.told(r, err)
		Refuse(w, r, status, code, text)
	})
}

// told is what the sender of a request is told of an error.
func (g *gateway) told(r *http.Request, err error) (status int, code, text string) {
	status, code = statusOf(err)
	if status != http.StatusInternalServerError {
		return status, code, sentence(err.Error())
	}
	if r.Context().Err() == nil { // else the client has gone, and that was the error
		g.Logger.Error("request failed", "method", r.Method, "path", r.URL.Path, "error", err)
	}
	return status, code, "Something went wrong in the gateway; its log says what."
}

// Refuse answers with an error: in plain text where the stock client shows it to
// the user, else as JSON.
func Refuse(w http.ResponseWriter, r *http.Request, status int, code, sentence string) {
	w.Header().Set("Cache-Control", "no-store")
	if isChat(r.URL.Path) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
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
	var body *bodyError
	var answered *session.AnsweredError
	var choice *session.ChoiceError
	var own *refusal
	switch {
	case errors.As(err, &own):
		return own.status, own.code
	case errors.As(err, &body) && body.status == http.StatusRequestEntityTooLarge:
		return body.status, "too_large"
	case errors.As(err, &body):
		return body.status, "bad_request"
	case errors.As(err, &answered):
		return http.StatusConflict, "already_answered"
	case errors.As(err, &choice):
		return http.StatusBadRequest, "bad_request"
	case errors.Is(err, session.ErrUnknownSession):
		return http.StatusNotFound, "unknown_session"
	case errors.Is(err, session.ErrUnknownRequest):
		return http.StatusNotFound, "unknown_request"
	case errors.Is(err, session.ErrUnknownMessage):
		return http.StatusNotFound, "unknown_message"
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
	case errors.Is(err, session.ErrMayNotPermit):
		return http.StatusForbidden, "forbidden"
	case errors.Is(err, session.ErrParked):
		return http.StatusConflict, "waiting_for_answer"
	case errors.Is(err, session.ErrBusy):
		return http.StatusConflict, "busy"
	case errors.Is(err, session.ErrExists):
		return http.StatusConflict, "session_exists"
	case errors.Is(err, session.ErrQueueFull):
		return http.StatusTooManyRequests, "queue_full"
	case errors.Is(err, session.ErrLog):
		return http.StatusServiceUnavailable, "log_unavailable"
	case errors.Is(err, session.ErrClosing):
		return http.StatusServiceUnavailable, "shutting_down"
	}
	return http.StatusInternalServerError, "internal"
}

// sentence makes an error's words a sentence.
func sentence(text string) string {
	first, n := utf8.DecodeRuneInString(text)
	text = string(unicode.ToUpper(first)) + text[n:]
	if !strings.HasSuffix(text, ".") {
		text += "."
	}
	return text
}

func writeJSON(w http.ResponseWriter, status int, v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, err = w.Write(append(body, '\n'))
	if err != nil {
		return nil //nolint:nilerr // the client has gone, nobody is left to tell
	}
	return nil
}

// readJSON reads a small body; an empty one leaves v as it is.
func readJSON(w http.ResponseWriter, r *http.Request, v any) error {
	const limit = 1 << 20
	dec := json.NewDecoder(http.MaxBytesReader(w, r.Body, limit))
	dec.DisallowUnknownFields()
	err := dec.Decode(v)
	var tooLarge *http.MaxBytesError
	switch {
	case err == nil, err.Error() == "EOF":
		return nil
	case errors.As(err, &tooLarge):
		return &bodyError{413, "The request body is larger than 1 MB."}
	case errors.Is(err, os.ErrDeadlineExceeded):
		return errTooSlow
	default:
		return malformed("The request body cannot be read: %s.", strings.TrimPrefix(err.Error(), "json: "))
	}
}
