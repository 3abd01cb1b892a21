package inflight_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/tributary-dev/tributary/internal/inflight"
)

func TestWaitEndsWithTheLastThatIsUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c inflight.Count
		if err := c.Wait(t.Context()); err != nil || !c.None() {
			t.Errorf("nothing is under way: %v", err)
		}
		c.Begin()
		c.Begin()
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		if err := c.Wait(gone); err == nil {
			t.Error("a wait that is canceled ends without an error")
		}
		waited := make(chan error, 1)
		go func() { waited <- c.Wait(t.Context()) }()
		synctest.Wait()
		c.End()
		synctest.Wait()
		if len(waited) != 0 || c.None() {
			t.Error("the wait ended before the last one")
		}
		c.End()
		if err := <-waited; err != nil || !c.None() {
			t.Errorf("all are over: %v", err)
		}
	})
}
