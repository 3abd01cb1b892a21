package limit

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tributary-dev/tributary/gateway/refusal"
)

// The bucket fills again, and a refusal says when.
//
//evidence:for limit-burst limit-requests
func TestTheBucketFillsAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := New(Options{Requests: 2, Burst: 3})
		take := func(want int) {
			t.Helper()
			for range want {
				if err := l.Request("ada"); err != nil {
					t.Errorf("one of %d: %v", want, err)
				}
			}
			if err := l.Request("ada"); err == nil || refusal.RetryAfter(err) != "1" {
				t.Errorf("one more than %d: %v", want, err)
			}
		}
		take(3)
		time.Sleep(time.Second)
		take(2)
		time.Sleep(time.Hour)
		take(3)
	})
	slow := New(Options{Requests: 1, Burst: 1})
	_ = slow.Request("ada")
	if got := refusal.RetryAfter(slow.Request("ada")); got != "1" {
		t.Errorf("to come back after %s s", got)
	}
}

// Idle principals are evicted, however many there have been.
//
//evidence:for limit-memory promise-nothing-left
func TestIdlePrincipalsAreEvicted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := New(Options{})
		leave, err := l.Stream("stays")
		if err != nil {
			t.Fatal(err)
		}
		for i := range 100_000 {
			if err := l.Request(fmt.Sprint("principal", i)); err != nil {
				t.Fatal(err)
			}
			if left, err := l.Stream(fmt.Sprint("principal", i)); err == nil {
				left()
			}
			time.Sleep(10 * time.Millisecond)
		}
		if n := len(l.of); n > 4000 {
			t.Errorf("%d are remembered", n)
		}
		if s := l.of["stays"]; s == nil || s.streams != 1 {
			t.Error("who has a stream was forgotten")
		}
		leave()
		done, err := l.Client("s")
		if err != nil {
			t.Fatal(err)
		}
		done()
		if len(l.clients) != 0 {
			t.Error("a session that nobody follows is remembered")
		}
	})
}
