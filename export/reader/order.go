package reader

import (
	"bytes"
	"cmp"
	"fmt"
	"iter"
	"slices"

	"github.com/tributary-dev/tributary/trace"
)

// This file makes a session of records that are in memory.

// Kept yields the records, at each call from the first on.
func Kept(records []trace.Record) func() iter.Seq2[trace.Record, error] {
	return func() iter.Seq2[trace.Record, error] {
		return func(yield func(trace.Record, error) bool) {
			for _, r := range records {
				if !yield(r, nil) {
					return
				}
			}
		}
	}
}

// Ordered returns the records of one session by their numbers, each once, of a file that somebody may
// have cut, joined or sorted. An error is a sentence: two
// records have one number, or a turn goes on after its stop, so that nobody knows what happened.
func Ordered(records []trace.Record) ([]trace.Record, error) {
	all := slices.Clone(records)
	slices.SortStableFunc(all, func(a, b trace.Record) int { return cmp.Compare(a.Seq, b.Seq) })
	out := all[:0]
	stopped := map[string]bool{}
	var before []byte
	for _, r := range all {
		line, err := r.AppendJSON(nil)
		if err != nil {
			return nil, err //nolint:wrapcheck // a sentence
		}
		if n := len(out); n > 0 && out[n-1].Seq == r.Seq {
			if bytes.Equal(line, before) {
				continue
			}
			return nil, fmt.Errorf("two records of the session have the number %d: the file is of two sessions, or of two lives of one; separate them", r.Seq)
		}
		if r.Turn != "" && stopped[r.Turn] {
			return nil, fmt.Errorf("the record %d is of the turn %s, which has stopped before: the file is no trace of one session", r.Seq, r.Turn)
		}
		_, stop := r.Payload.(trace.Stop)
		stopped[r.Turn] = stopped[r.Turn] || stop
		out, before = append(out, r), line
	}
	return out, nil
}
