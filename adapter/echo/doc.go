// Package echo is the smallest agent: it repeats the prompt word by word. Echo has no
// memory and no tools, and never waits. So everything else that a client or a
// measurement sees comes from the gateway.
package echo
