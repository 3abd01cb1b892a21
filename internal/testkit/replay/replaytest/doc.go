// Package replaytest is what the tests of decoders have in common: recordings that are
// played and held to golden files.
package replaytest
