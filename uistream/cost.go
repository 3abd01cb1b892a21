package uistream

import (
	"sync/atomic"
	"time"
)

// Cost is what it took to make streams of records: to translate and to encode, once
// for each kind of client. Records that a client reads again from the log are not
// in it.
type Cost struct {
	Records int64
	Time    time.Duration
}

type cost struct{ records, nanoseconds atomic.Int64 }

func (c *cost) spend(d time.Duration) {
	c.records.Add(1)
	c.nanoseconds.Add(int64(d))
}

// Cost is what all turns took so far.
func (rs *Rings) Cost() Cost {
	return Cost{Records: rs.cost.records.Load(), Time: time.Duration(rs.cost.nanoseconds.Load())}
}
