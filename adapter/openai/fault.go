package openai

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/tributary-dev/tributary/agent/toolloop"
	"github.com/tributary-dev/tributary/internal/address"
	"github.com/tributary-dev/tributary/internal/httpjson"
	"github.com/tributary-dev/tributary/trace"
)

// failure is an error that the endpoint reports: by the status of its answer, or, if
// status is 0, in the middle of the answer.
type failure struct {
	status              int
	code, kind, message string
	header              http.Header
}

// newFailure reads the body of an error.
func newFailure(body []byte) *failure {
	var b struct{ Error struct{ Code, Type any } }
	_ = json.Unmarshal(body, &b) // servers write errors in many forms, and most have no code
	f := &failure{message: httpjson.Sentence(body)}
	if f.code, _ = b.Error.Code.(string); b.Error.Code != nil && f.code == "" {
		f.code = fmt.Sprint(b.Error.Code) // some write a status
	}
	f.kind, _ = b.Error.Type.(string)
	return f
}

// Error implements error.
func (f *failure) Error() string {
	text := strings.TrimSuffix(f.message, ".")
	switch {
	case f.status == 0:
		return cmp.Or(text, f.code)
	case text == "":
		return strconv.Itoa(f.status)
	default:
		return strconv.Itoa(f.status) + ": " + text
	}
}

var (
	errNotAnAPI = errors.New("the answer is a web page and no model's")
	errCutOff   = errors.New("the answer broke off before its end")
)

type silentError struct{ limit time.Duration }

func (e silentError) Error() string { return fmt.Sprintf("silent for %s", e.limit) }

// noQuota is the code of an account that has used all that it paid for.
const noQuota = "insufficient_quota"

// longestWait bounds what an endpoint may ask us to wait.
const longestWait = 2 * time.Minute

// backOff says whether a model call can be tried again, and when.
func backOff(err error, attempt int) (time.Duration, bool) {
	wait := min(time.Second<<(attempt-1), 30*time.Second)
	wait += time.Duration(rand.Int64N(int64(wait) / 4)) //nolint:gosec // it spreads retries, and guards nothing
	f, ok := errors.AsType[*failure](err)
	if !ok {
		return wait, isBroken(err) || errors.Is(err, io.EOF)
	}
	if asked, ok := retryAfter(f.header); ok {
		wait = asked
	}
	busy := f.status == 0 || f.status == http.StatusTooManyRequests || f.status == http.StatusRequestTimeout || f.status >= 500
	return wait, busy && f.code != noQuota && wait <= longestWait
}

// retryAfter is how long the endpoint asks us to wait.
func retryAfter(h http.Header) (time.Duration, bool) {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil {
		return time.Duration(ms * float64(time.Millisecond)), ms >= 0
	}
	s, err := strconv.ParseFloat(h.Get("Retry-After"), 64)
	return time.Duration(s * float64(time.Second)), err == nil && s >= 0
}

// explain says in one sentence what failed and what to do.
func (e endpoint) explain(err error) error {
	reason, sentence := sentenceFor(err)
	fill := strings.NewReplacer("{url}", address.Public(e.URL), "{model}", e.Model, "{agent}", "agents."+e.name(), "{why}", address.Redact(innermost(err).Error(), e.URL))
	return &toolloop.Fault{Reason: reason, Class: classOf(err), Sentence: fill.Replace(sentence)}
}

func sentenceFor(err error) (reason, sentence string) {
	_, silent := errors.AsType[silentError](err)
	_, syntax := errors.AsType[*json.SyntaxError](err)
	_, form := errors.AsType[*json.UnmarshalTypeError](err)
	f, failed := errors.AsType[*failure](err)
	switch {
	case failed:
		return f.sentence()
	case silent:
		return "timeout", "The endpoint {url} was {why}: see whether it still works, or raise {agent}.options.patience."
	case isBroken(err):
		return "error", "The connection to {url} ended in the middle of the answer: ask again."
	case errors.Is(err, errNotAnAPI):
		return "error", "{url} answers with a web page and not as a model's endpoint: correct {agent}.url, which often ends with /v1."
	case syntax, form:
		return "error", "The endpoint {url} sent what is no answer of a model ({why}): see whether {agent}.url and options.api fit it."
	case errors.Is(err, syscall.ECONNREFUSED):
		return "agent_unavailable", "Nothing answers at {url}: start the endpoint, or correct {agent}.url."
	default:
		return "agent_unavailable", "The endpoint {url} cannot be reached ({why}): see whether it runs, or correct {agent}.url."
	}
}

// tooLong recognises the words of servers that have no code for it.
var tooLong = regexp.MustCompile(`(?i)context[ _]length|maximum context|context size|context window|prompt is too long`)

func (f *failure) sentence() (reason, sentence string) {
	switch {
	case f.status == 0:
		return "error", "The endpoint broke the answer off ({why}): ask again."
	case f.status == http.StatusUnauthorized, f.status == http.StatusForbidden:
		return "error", "The endpoint {url} refuses the key ({why}): set {agent}.token_env to an environment variable with a valid key."
	case tooLong.MatchString(f.code + " " + f.message):
		return "context_length", "The conversation is longer than the model {model} can read: begin a new session, or set {agent}.options.context_tokens so that the oldest turns are left out."
	case strings.Contains(f.message, "does not support tools"):
		return "error", "The model {model} cannot call tools: set {agent}.options.tools to [] or choose another model."
	case f.status == http.StatusNotFound:
		return "error", "The endpoint {url} does not know the model {model}, or has no such address ({why}): correct {agent}.model or {agent}.url."
	case f.code == noQuota:
		return "error", "The endpoint's account has no quota left ({why}): see to its billing."
	case f.status == http.StatusTooManyRequests:
		return "error", "The endpoint takes no more requests for now ({why}): ask again later."
	case f.status >= 500:
		return "error", "The endpoint failed ({why}): ask again later."
	default:
		return "error", "The endpoint refused the request ({why}): see whether model, options.api and options.params of {agent} fit it."
	}
}

// classOf is the kind of failure of a model call.
func classOf(err error) trace.Class {
	_, syntax := errors.AsType[*json.SyntaxError](err)
	_, form := errors.AsType[*json.UnmarshalTypeError](err)
	f, failed := errors.AsType[*failure](err)
	switch {
	case failed:
		return f.class()
	case syntax, form, errors.Is(err, errNotAnAPI):
		return "" // it may be no endpoint of a model at all
	default:
		return trace.ClassNetwork
	}
}

// class is the kind of failure that the endpoint reports. Servers report some errors with a
// status that says less than their code.
func (f *failure) class() trace.Class {
	words := f.code + " " + f.kind
	inStream, _ := strconv.Atoi(f.code) //nolint:errcheck // most codes are words
	switch class := trace.ClassOfStatus(f.status); {
	case class == trace.ClassAuth:
		return class
	case tooLong.MatchString(words + " " + f.message):
		return trace.ClassContext
	case strings.Contains(words, "quota"), strings.Contains(words, "rate_limit"):
		return trace.ClassRateLimit
	case class != "":
		return class
	case strings.Contains(words, "server_error"), strings.Contains(words, "overloaded"):
		return trace.ClassOverloaded
	case strings.Contains(words, "invalid"):
		return trace.ClassRequest
	default:
		return trace.ClassOfStatus(inStream)
	}
}

// isBroken reports whether the connection broke.
func isBroken(err error) bool {
	return errors.Is(err, errCutOff) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET)
}

// innermost leaves out the address, which the sentence names already.
func innermost(err error) error {
	for next := err; next != nil; next = errors.Unwrap(next) {
		err = next
	}
	return err
}
