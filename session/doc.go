// Package session owns what happens between a request and an agent: sessions,
// their turns, who follows them, and what ends them.
//
// A turn outlives the request that began it: [Hub.Prompt] returns as soon as the
// turn is known, and subscribers follow the log. A disconnect is not a stop; what
// it is, is a setting ([Options.OnDisconnect]). An explicit stop names its turn, is
// on record at once, and never hits a later one.
//
// # The life of a turn
//
// The package turnstate has the states of a turn and their transitions. Two rules matter to
// callers. When the end of a turn is decided, the agent is stopped first; then the stop is
// written to the log. When the stop is on record, the turn has ended, and its agent may
// still be busy. A prompt that arrives then waits for the agent, whatever the busy policy
// says, because its sender has seen the turn end.
//
// # Goroutines
//
// The Hub owns one goroutine per running turn, one that watches it, and one per
// turn that the agent began by itself. Close ends all of them and waits.
//
// # Locks
//
// One mutex per session guards its state, and one token serializes the writes to its
// history. The token is taken before the mutex, and the mutex before those of the Hub's
// parts. No caller holds a mutex while it uses the log or calls an agent. The tests check
// this order.
//
// # Memory
//
// A session is in memory while it has a turn, an agent or a running request, and
// for some time after ([Options.EvictAfter]). Its document and its records bring it
// back.
package session
