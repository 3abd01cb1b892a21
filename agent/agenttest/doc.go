// Package agenttest is the suite that every adapter passes. It also has the tools
// for tests of adapters. A [Host] records and answers, a [Recorder] keeps the
// events of a turn, and [CheckTurn] checks the grammar of a turn.
//
// An adapter calls [Run] from a test of its own that is not parallel, because
// the suite also looks for goroutines that were left behind.
package agenttest
