// Package refusal has the error for a request that the gateway refuses.
package refusal

import (
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"time"
)

// Error is the reason of a refusal, as the client gets it.
type Error struct {
	Status int
	Code   string // for programs
	// Sentence says to a user what is wrong and what to do.
	Sentence string
	// Wait is the time after which the same request may succeed; zero: unknown.
	Wait time.Duration
}

func (e *Error) Error() string { return e.Sentence }

// Malformed refuses a request that is not as it must be.
func Malformed(format string, args ...any) *Error {
	return &Error{Status: http.StatusBadRequest, Code: "bad_request", Sentence: fmt.Sprintf(format, args...)}
}

// TooLarge refuses a body that is larger than its limit.
func TooLarge(format string, args ...any) *Error {
	return &Error{Status: http.StatusRequestEntityTooLarge, Code: "too_large", Sentence: fmt.Sprintf(format, args...)}
}

// TooSlow refuses a body whose next piece has not arrived within its time.
func TooSlow() *Error {
	return &Error{Status: http.StatusRequestTimeout, Code: "bad_request", Sentence: "The rest of the request body did not arrive in time: try again."}
}

// Forbidden refuses a sender whose rights are not enough.
func Forbidden(sentence string) *Error {
	return &Error{Status: http.StatusForbidden, Code: "forbidden", Sentence: sentence}
}

// TooMany refuses a request because of others of the same sender.
func TooMany(code string, wait time.Duration, format string, args ...any) *Error {
	return &Error{Status: http.StatusTooManyRequests, Code: code, Sentence: fmt.Sprintf(format, args...), Wait: wait}
}

// DefaultWait is the time to wait where nobody knows a better one.
const DefaultWait = 5 * time.Second

// RetryAfter is the header for an error that a later request may not get.
func RetryAfter(err error) string {
	wait := DefaultWait
	if e, ok := errors.AsType[*Error](err); ok && e.Wait > 0 {
		wait = e.Wait
	}
	return strconv.FormatInt(max(1, int64(math.Ceil(wait.Seconds()))), 10)
}
