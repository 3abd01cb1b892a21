package gateway

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

// The bucket fills again, and a refusal says when.
//
//evidence:for limit-burst limit-requests
func TestTheBucketFillsAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(Limits{Requests: 2, Burst: 3})
		take := func(want int) {
			t.Helper()
			for range want {
				if err := l.request("ada"); err != nil {
					t.Errorf("one of %d: %v", want, err)
				}
			}
			if err := l.request("ada"); err == nil || retryAfter(err) != "1" {
				t.Errorf("one more than %d: %v", want, err)
			}
		}
		take(3)
		time.Sleep(time.Second)
		take(2)
		time.Sleep(time.Hour)
		take(3)
	})
	slow := newLimiter(Limits{Requests: 1, Burst: 1})
	_ = slow.request("ada")
	if got := retryAfter(slow.request("ada")); got != "1" {
		t.Errorf("to come back after %s s", got)
	}
}

// However many there have been, only those are remembered who have something.
//
//evidence:for limit-memory promise-nothing-left
func TestWhoRestsIsForgotten(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(Limits{})
		leave, err := l.stream("stays")
		if err != nil {
			t.Fatal(err)
		}
		for i := range 100_000 {
			if err := l.request(fmt.Sprint("principal", i)); err != nil {
				t.Fatal(err)
			}
			if left, err := l.stream(fmt.Sprint("principal", i)); err == nil {
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
		done, err := l.follow("s")
		if err != nil {
			t.Fatal(err)
		}
		done()
		if len(l.clients) != 0 {
			t.Error("a session that nobody follows is remembered")
		}
	})
}
