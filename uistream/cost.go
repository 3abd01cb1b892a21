package uistream

import (
	"sync/atomic"
	"time"
)

// This file counts the time that encoding takes.

// Cost is what it took to translate and encode records: once for each kind of client,
// and once more for a client that has to read the log.
type Cost struct {
	Records int64
	Time    time.Duration
}

type cost struct{ records, nanoseconds atomic.Int64 }

func (c *cost) spend(records int, d time.Duration) {
	c.records.Add(int64(records))
	c.nanoseconds.Add(int64(d))
}

// Cost is what all turns took so far.
func (bc *Broadcaster) Cost() Cost {
	return Cost{Records: bc.cost.records.Load(), Time: time.Duration(bc.cost.nanoseconds.Load())}
}
