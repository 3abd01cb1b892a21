package sqllog

// This file has what PostgreSQL may forget: it acknowledges some commits before the disk has them, and a crash takes the newest of these.
// What follows such a record names it, so the session would be damaged.

// mostUnsynced bounds the bytes of the ops that are kept, each with some more. With one more the next commit is synced.
const mostUnsynced = 1 << 20

// unsynced is what was committed since the last commit that the disk has.
type unsynced struct {
	ops         []*op
	bytes       int
	connections int64 // that had been made before
}

// again is what the next transaction writes once more, in a commit that is synced, because the server may have been started anew
// or because it is much; nil: nothing.
func (u *unsynced) again(connections int64) []*op {
	if u.connections == connections && u.bytes <= mostUnsynced {
		return nil
	}
	return u.ops
}

// keep takes the ops of a commit.
func (u *unsynced) keep(ops []*op, synced bool, connections int64) {
	if synced {
		u.ops, u.bytes = nil, 0
		return
	}
	if u.ops == nil {
		u.connections = connections
	}
	for _, o := range ops {
		if o.rows != nil || o.lazy && o.se != nil {
			u.bytes += o.size() + 1000
			for _, c := range o.checkpoints {
				u.bytes += len(c.body)
			}
			u.ops = append(u.ops, &op{se: o.se, turn: o.turn, under: o.under, rows: o.rows, checkpoints: o.checkpoints, lazy: o.lazy, do: o.do, tried: true, committed: true})
		}
	}
}
