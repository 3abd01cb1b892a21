// Package reader makes the durable records of one session into turns, for programs that show or
// judge what an agent did: the calls of its model, its calls of tools, and what was asked.
//
// [Turns] reads the records one by one, in their order, and hands out each turn when it has
// stopped. One open turn is in memory at a time, or as many as run beside each other. What only
// the whole session tells, such as which messages a later edit has removed, is found by [Survey],
// which reads the records once before. The package knows no agent.
package reader
