package sqllog

// This file has what PostgreSQL may forget. The server acknowledges some commits before the disk has them, and a crash may take the newest
// of these. The next record names the one before, so without that one its session would be damaged.

// mostUnsynced bounds the bytes of the ops that are kept, each with some more. With one more the next commit is synced.
const mostUnsynced = 1 << 20

// unsynced is what was committed since the last commit that the disk has.
type unsynced struct {
	ops         []*op
	bytes       int
	connections int64 // that had been made before
}

// again returns the ops that the next transaction writes once more, and syncs. The server may have been started anew, or they are too
// many bytes to keep. Otherwise there are none.
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
