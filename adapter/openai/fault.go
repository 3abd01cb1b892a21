package openai

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/openai/openai-go/v3/packages/ssestream"

	"github.com/tributary-dev/tributary/agent/toolloop"
)

// statusError is an answer with an HTTP status of failure.
type statusError struct {
	status        int
	code, message string
	header        http.Header
}

func (e *statusError) Error() string { return strconv.Itoa(e.status) + e.said() }

// said is what the server says of the error, with a colon before it.
func (e *statusError) said() string {
	if e.message == "" {
		return ""
	}
	return ": " + strings.TrimSuffix(e.message, ".")
}

var (
	errNotAnAPI = errors.New("the answer is a web page and no model's")
	errCutOff   = errors.New("the answer broke off before its end")
	errGarbage  = errors.New("the answer is not what a model's endpoint sends")
)

// brokenOff is an error that the endpoint reports in the middle of an answer.
type brokenOff struct{ code, message string }

func (e *brokenOff) Error() string { return strings.TrimSpace(e.message + " " + e.code) }

type silentError struct{ limit time.Duration }

func (e *silentError) Error() string { return fmt.Sprintf("the endpoint was silent for %s", e.limit) }

// longestWait bounds what an endpoint may ask us to wait.
const longestWait = 2 * time.Minute

// backOff says whether a model call can be tried again, and when.
func backOff(err error, attempt int) (time.Duration, bool) {
	wait := min(time.Second<<(attempt-1), 30*time.Second)
	wait += time.Duration(rand.Int64N(int64(wait) / 4)) //nolint:gosec // it spreads retries, and guards nothing
	status, _ := errors.AsType[*statusError](err)
	_, broken := errors.AsType[*brokenOff](err)
	_, stream := errors.AsType[*ssestream.StreamError](err)
	switch {
	case status != nil:
		if asked, ok := retryAfter(status.header); ok {
			wait = asked
		}
		busy := status.status == http.StatusTooManyRequests || status.status == http.StatusRequestTimeout || status.status >= 500
		return wait, busy && status.code != noQuota && wait <= longestWait
	case broken, stream, errors.Is(err, errCutOff):
		return wait, true
	default:
		return wait, errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET)
	}
}

func retryAfter(h http.Header) (time.Duration, bool) {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms >= 0 {
		return time.Duration(ms * float64(time.Millisecond)), true
	}
	after := h.Get("Retry-After")
	if s, err := strconv.ParseFloat(after, 64); err == nil && s >= 0 {
		return time.Duration(s * float64(time.Second)), true
	}
	if at, err := http.ParseTime(after); err == nil {
		return max(0, time.Until(at)), true
	}
	return 0, false
}

// explain says in one sentence what failed and what to do.
func (e endpoint) explain(err error) error {
	key := "agents." + e.name()
	say := func(reason, format string, args ...any) error {
		return &toolloop.Fault{Reason: reason, Sentence: fmt.Sprintf(format, args...)}
	}
	status, _ := errors.AsType[*statusError](err)
	silent, _ := errors.AsType[*silentError](err)
	broken, _ := errors.AsType[*brokenOff](err)
	stream, _ := errors.AsType[*ssestream.StreamError](err)
	_, syntax := errors.AsType[*json.SyntaxError](err)
	switch {
	case status != nil:
		return e.explainStatus(status, say)
	case silent != nil:
		return say("timeout", "The endpoint %s was silent for %s: see whether it still works, or raise %s.options.patience.", e.URL, silent.limit, key)
	case broken != nil:
		return say("error", "The endpoint broke the answer off (%s): ask again.", broken)
	case stream != nil:
		_, message := words(stream.Event.Data)
		return say("error", "The endpoint broke the answer off (%s): ask again.", message)
	case errors.Is(err, errCutOff), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET):
		return say("error", "The connection to %s ended in the middle of the answer: ask again.", e.URL)
	case errors.Is(err, errNotAnAPI):
		return say("error", "%s answers with a web page and not as a model's endpoint: correct %s.url, which often ends with /v1.", e.URL, key)
	case errors.Is(err, errGarbage), syntax:
		return say("error", "The endpoint %s sent what is no answer of a model (%v): see whether %s.url and options.api fit it.", e.URL, err, key)
	case errors.Is(err, syscall.ECONNREFUSED):
		return say("agent_unavailable", "Nothing answers at %s: start the endpoint, or correct %s.url.", e.URL, key)
	default:
		return say("agent_unavailable", "The endpoint %s cannot be reached (%v): see whether it runs, or correct %s.url.", e.URL, innermost(err), key)
	}
}

// noQuota is the code of an account that has used all that it paid for.
const noQuota = "insufficient_quota"

func (e endpoint) explainStatus(s *statusError, say func(reason, format string, args ...any) error) error {
	key, said := "agents."+e.name(), s.said()
	switch code := s.status; {
	case code == http.StatusUnauthorized, code == http.StatusForbidden:
		return say("error", "The endpoint %s refuses the key (%d%s): set %s.token_env to an environment variable with a valid key.", e.URL, code, said, key)
	case tooLong(s.code, said):
		return say("context_length", "The conversation is longer than the model %s can read: begin a new session, or set %s.options.context_tokens so that the oldest turns are left out.", e.Model, key)
	case strings.Contains(said, "does not support tools"):
		return say("error", "The model %s cannot call tools: set %s.options.tools to [] or choose another model.", e.Model, key)
	case code == http.StatusNotFound:
		return say("error", "The endpoint %s does not know the model %s, or has no such address (404%s): correct %s.model or %s.url.", e.URL, e.Model, said, key, key)
	case s.code == noQuota:
		return say("error", "The endpoint's account has no quota left (%d%s): see to its billing.", code, said)
	case code == http.StatusTooManyRequests:
		return say("error", "The endpoint takes no more requests for now (429%s): ask again later.", said)
	case code >= 500:
		return say("error", "The endpoint failed (%d%s): ask again later.", code, said)
	default:
		return say("error", "The endpoint refused the request (%d%s): see whether model, options.api and options.params of %s fit it.", code, said, key)
	}
}

func tooLong(code, said string) bool {
	if code == "context_length_exceeded" {
		return true
	}
	said = strings.ToLower(said)
	for _, words := range []string{"context length", "context_length", "maximum context", "context size", "context window", "prompt is too long"} {
		if strings.Contains(said, words) {
			return true
		}
	}
	return false
}

// words finds the code and the words in the body of an error.
func words(body []byte) (code, text string) {
	var b struct {
		Error   json.RawMessage `json:"error"`
		Message string          `json:"message"`
		Detail  string          `json:"detail"`
	}
	if json.Unmarshal(body, &b) != nil {
		return "", strings.TrimSpace(strings.ToValidUTF8(string(body[:min(len(body), 200)]), ""))
	}
	var inner struct {
		Message string `json:"message"`
		Code    any    `json:"code"`
	}
	if json.Unmarshal(b.Error, &text) != nil && json.Unmarshal(b.Error, &inner) == nil {
		code, _ = inner.Code.(string)
		text = inner.Message
	}
	return code, cmp.Or(text, b.Message, b.Detail)
}

// innermost leaves out the address, which the sentence names already.
func innermost(err error) error {
	for {
		next := errors.Unwrap(err)
		if next == nil {
			return err
		}
		err = next
	}
}
