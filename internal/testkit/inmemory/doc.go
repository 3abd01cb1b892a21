// Package inmemory has the tests of a package make their files in memory.
package inmemory
