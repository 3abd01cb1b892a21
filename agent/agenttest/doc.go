// Package agenttest is the suite that every adapter passes, and what tests of
// adapters are made of: a [Host] that records and answers, a [Recorder] that
// keeps what a turn emits, and [CheckTurn], the grammar of a turn as a check.
//
// An adapter calls [Run] from a test of its own that is not parallel, because
// the suite also looks for goroutines that were left behind.
package agenttest
