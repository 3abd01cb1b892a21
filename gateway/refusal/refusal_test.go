package refusal_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/gateway/refusal"
)

// The header has whole seconds, at least one, and a default for errors without a time.
func TestRetryAfterIsInWholeSeconds(t *testing.T) {
	t.Parallel()
	for want, err := range map[string]error{
		"1": refusal.TooMany("x", time.Millisecond, "Wait."),
		"2": fmt.Errorf("wrapped: %w", refusal.TooMany("x", 1001*time.Millisecond, "Wait.")),
		"5": errors.New("another error"),
	} {
		if got := refusal.RetryAfter(err); got != want {
			t.Errorf("%v: %s s, not %s", err, got, want)
		}
	}
}
