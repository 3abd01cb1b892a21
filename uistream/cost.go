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

// Cost is what all turns took so far.
func (st *Streams) Cost() Cost {
	return Cost{Records: st.cost.records.Load(), Time: time.Duration(st.cost.nanoseconds.Load())}
}
