package uistream

import (
	"sync/atomic"
	"time"
)

// This file counts the time that encoding takes.

// Cost is what it took to translate and encode records, once for each client.
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
func (st *Streams) Cost() Cost {
	return Cost{Records: st.cost.records.Load(), Time: time.Duration(st.cost.nanoseconds.Load())}
}
