package openai

import (
	"bytes"
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

	"github.com/tributary-dev/tributary/internal/httpjson"
	"github.com/tributary-dev/tributary/trace"
)

// failure is an error that the endpoint reports: by the status of its answer, or within the
// answer, where a status is known only if the endpoint names it.
type failure struct {
	status              int
	late                bool // the answer had begun
	code, kind, message string
	header              http.Header
}

// newFailure reads the body of an error. Servers write errors in many forms, and most have no
// code.
func newFailure(body []byte) *failure {
	type coded struct {
		Code, Type word
		Metadata   struct{ Raw word } // OpenRouter: the words of the provider behind it
	}
	var b struct {
		coded
		Error coded
	}
	var all []raw
	inner := body
	if json.Unmarshal(body, &all) == nil && len(all) > 0 {
		inner = all[0]
	}
	_ = json.Unmarshal(inner, &b) // what could be read of it counts
	f := &failure{message: httpjson.Sentence(body), code: string(cmp.Or(b.Error.Code, b.Code)), kind: string(cmp.Or(b.Error.Type, b.Type))}
	if said := httpjson.Sentence([]byte(b.Error.Metadata.Raw)); said != "" && said != f.message {
		f.message = strings.TrimSpace(f.message + ": " + said)
	}
	if status, err := strconv.Atoi(f.code); err == nil && status >= 400 && status <= 599 {
		f.status = status
	}
	return f
}

// failureOf reads the value of a key named error; nil if the value tells of no error.
func failureOf(value raw) *failure {
	switch string(bytes.TrimSpace(value)) {
	case "", "null", `""`, "{}", "[]", "false":
		return nil
	}
	return newFailure([]byte(`{"error":` + string(value) + `}`))
}

// failureIn finds an error in an event or an object of a server; nil if it is none. Of a form that is
// not known, a sentence alone is an error.
func failureIn(name string, value raw, known bool) *failure {
	if known && name != "error" && !bytes.Contains(value, []byte("error")) {
		return nil // as nearly all events
	}
	var all []raw
	if json.Unmarshal(value, &all) == nil && len(all) > 0 {
		value = all[0]
	}
	var e struct {
		Error                raw
		Message, Detail, Msg word
		ErrorMessage         word `json:"error_message"`
		ErrorType            word `json:"error_type"`
		Object, Type         word
	}
	if json.Unmarshal(value, &e) != nil && name != "error" {
		return nil
	}
	switch {
	case e.ErrorMessage != "":
		return &failure{message: string(e.ErrorMessage), kind: string(e.ErrorType)}
	case failureOf(e.Error) != nil, name == "error", e.Object == "error", e.Type == "error", !known && e.Message+e.Detail+e.Msg != "":
		return newFailure(value)
	}
	return nil
}

// Error implements error.
func (f *failure) Error() string {
	text := strings.TrimSuffix(f.message, ".")
	switch {
	case f.status == 0:
		return cmp.Or(text, f.code, f.kind, "no reason was given")
	case text == "":
		return strconv.Itoa(f.status)
	default:
		return strconv.Itoa(f.status) + ": " + text
	}
}

var (
	errNotAnAPI   = errors.New("the answer is a web page and no model's")
	errNothing    = errors.New("the answer was empty")
	errUnfinished = errors.New("the answer stopped without a sign of its end")
)

type silentError struct{ limit time.Duration }

func (e silentError) Error() string { return fmt.Sprintf("silent for %s", e.limit) }

// strangeError is an answer that is none of a model.
type strangeError struct{ quote string }

func (e strangeError) Error() string { return e.quote }

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
		return wait, isBroken(err)
	}
	if asked, ok := retryAfter(f.header); ok {
		wait = asked
	}
	return wait, f.mayPass() && wait <= longestWait
}

// mayPass reports whether the same request may succeed later.
func (f *failure) mayPass() bool {
	switch f.header.Get("X-Should-Retry") { // OpenAI's own word
	case "true":
		return true
	case "false":
		return false
	}
	switch f.status {
	case 0:
		class := f.class()
		return f.code != noQuota && class != trace.ClassRequest && class != trace.ClassContext && class != trace.ClassAuth
	case http.StatusTooManyRequests, http.StatusRequestTimeout, http.StatusConflict:
		return f.code != noQuota
	default:
		return f.status >= 500 && f.code != noQuota
	}
}

// retryAfter is how long the endpoint asks us to wait.
func retryAfter(h http.Header) (time.Duration, bool) {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil {
		return time.Duration(ms * float64(time.Millisecond)), ms >= 0
	}
	if at, err := http.ParseTime(h.Get("Retry-After")); err == nil {
		return max(0, time.Until(at)), true
	}
	s, err := strconv.ParseFloat(h.Get("Retry-After"), 64)
	return time.Duration(s * float64(time.Second)), err == nil && s >= 0
}

// isBroken reports whether the connection broke.
func isBroken(err error) bool {
	return errors.Is(err, errNothing) || errors.Is(err, errUnfinished) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET)
}

// innermost leaves out the address, which the sentence names already.
func innermost(err error) error {
	for next := err; next != nil; next = errors.Unwrap(next) {
		err = next
	}
	return err
}
