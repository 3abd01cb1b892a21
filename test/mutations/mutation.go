package main

import (
	"bytes"
	"fmt"
)

// mutation is one broken promise.
type mutation struct {
	name    string
	promise string // in the words of docs/internals/promises.md
	file    string
	text    string // stands exactly once in the file
	other   string // what takes its place
	// tests are the tests that run, as for -run of go test; "" is all of the packages.
	tests    string
	packages []string // whose tests must notice, the nearest first
}

// apply returns the broken file.
func (m mutation) apply(source []byte) ([]byte, error) {
	if n := bytes.Count(source, []byte(m.text)); n != 1 {
		return nil, fmt.Errorf("%s has the text of the mutation %d times, not once: write the mutation anew\n\t%s", m.file, n, m.text)
	}
	return bytes.Replace(source, []byte(m.text), []byte(m.other), 1), nil
}
