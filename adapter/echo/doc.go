// Package echo is the smallest agent there is: it says what it was told, word by
// word, and nothing else. It has no memory, no tools and no waiting, so whatever
// else a client or a measurement sees is the gateway's.
package echo
