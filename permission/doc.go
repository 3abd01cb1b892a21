// Package permission decides whether a tool call may run. A [Policy] judges first. If the
// policy does not decide, a person does, once. The request and the answer go on record as
// a pair.
//
// Requests and questions wait on a [Desk]. The Desk has three rules. Every request has
// exactly one end, its answer or its withdrawal, and the first one counts. The end is on
// record before a waiting caller gets it. A later caller learns who was first, when and
// how, until the turn is forgotten.
//
// The package chooses options by their meaning, never by their ids. It chooses "always"
// only if the person has named it.
package permission
