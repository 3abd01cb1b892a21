// Package permission decides whether a tool call may run. A [Policy] judges first. If the
// policy does not decide, a person does, once. The request and the answer go on record as
// a pair; trace.Builder owns the requests that wait.
//
// The package chooses options by their meaning, never by their ids. It chooses "always"
// only if the person has named it.
package permission
