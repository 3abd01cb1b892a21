package main

import (
	"runtime"
	"testing"
)

func TestTheCollectorHasSlackUnlessGoIsTold(t *testing.T) {
	for _, c := range []struct {
		gogc, limit string
		reserved    bool
	}{{"", "", true}, {"100", "", false}, {"off", "", false}, {"", "1GiB", false}} {
		t.Setenv("GOGC", c.gogc)
		t.Setenv("GOMEMLIMIT", c.limit)
		before := livingHeap()
		release := reserveSlack()
		if got := livingHeap()-before > slackSize/2; got != c.reserved {
			t.Errorf("with GOGC=%q and GOMEMLIMIT=%q it is %v that there is slack", c.gogc, c.limit, got)
		}
		release()
	}
}

// livingHeap is how much lives in the heap.
func livingHeap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
