//go:build !linux

package main

// systemTrials are the rows that need Linux.
func (b *bench) systemTrials(sizes) []trial { return nil }
