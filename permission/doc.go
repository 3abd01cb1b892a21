// Package permission is how it is decided whether a tool call may run: a
// [Policy] is asked first, then somebody, once, and request and answer are a
// pair on record.
//
// A [Desk] is where requests and questions wait. Its contract has three rules.
// Every opened request has exactly one end, its answer or its withdrawal, and the
// first counts. The end is on record before a waiting caller learns of it. Later
// callers learn who was first, when and how, until the turn is forgotten.
//
// Options are chosen by what they mean, never by their ids, and "always" only
// where somebody named it.
package permission
