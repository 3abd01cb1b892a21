package sqllog

// Shared lets several stores use one database.
func Shared(o Options) Options {
	o.shared = true
	return o
}

// AwaitInspection returns when everything was looked at that is inspected after the start.
func AwaitInspection(s *Store) { <-s.inspected }

// Sweep does what happens each second. After two sweeps no durable record is in memory.
func Sweep(s *Store) { s.sweep() }

// AwaitIndex returns when all sessions are in the index of words that were not.
func AwaitIndex(s *Store) { <-s.reindexed }
