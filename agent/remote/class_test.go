package remote_test

import (
	"testing"

	"github.com/tributary-dev/tributary/agent/remote"
	"github.com/tributary-dev/tributary/trace"
)

func TestTheClassOfAFailureOfAServer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		words []string
		want  trace.Class
	}{
		{[]string{"401"}, trace.ClassAuth},
		{[]string{"AuthenticationError", "no key"}, trace.ClassAuth},
		{[]string{"", "RateLimitError"}, trace.ClassRateLimit},
		{[]string{"run_failed", "Error code: 429 - {'error': {}}"}, trace.ClassRateLimit},
		{[]string{"status_code: 503, model_name: m, body: None"}, trace.ClassOverloaded},
		{[]string{"overloaded_error"}, trace.ClassOverloaded},
		{[]string{"APIConnectionError"}, trace.ClassNetwork},
		{[]string{"context_length_exceeded"}, trace.ClassContext},
		{[]string{"GraphRecursionError"}, trace.ClassLimit},
		{[]string{"BadRequestError", "RateLimitError"}, trace.ClassRequest},
		{[]string{"PermissionError", "TimeoutError", "timeout", "Connection error"}, ""}, // of Python, or of the application
		{[]string{"permission_error"}, trace.ClassAuth},
		{[]string{"200"}, ""},
		{[]string{"ValueError", "the tool says 429", "Error code: "}, ""}, // of the application
		{nil, ""},
	} {
		if got := remote.ClassOf(c.words...); got != c.want {
			t.Errorf("%q is %q, want %q", c.words, got, c.want)
		}
	}
}
