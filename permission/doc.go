// Package permission is how it is decided whether a tool call may run: a
// [Policy] is asked first, then somebody, once, and request and answer are a
// pair on record.
//
// A [Desk] is where requests and questions wait. Its contract: what was opened
// has exactly one end (an answer, or its withdrawal), whoever is first; the end
// is on record before anybody who waits learns of it; everybody who comes later
// is told who was first, when and how, until the turn is forgotten.
//
// Options are chosen by what they mean, never by their ids, and "always" only
// where somebody named it.
package permission
