package natslog

import (
	"fmt"
	"testing"

	"github.com/tributary-dev/tributary/trace"
)

// These tests leave behind what a process leaves that is killed at a certain
// place, which killing one at random would seldom hit.

func openIn(t *testing.T, dir string) *Store {
	t.Helper()
	s, err := Open(t.Context(), Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func appendN(t *testing.T, s *Store, n int) (last uint64) {
	t.Helper()
	for i := range n {
		var err error
		if last, err = s.Append(t.Context(), "s", "t", []trace.Event{{ID: fmt.Sprint(i), Payload: trace.Message{Text: "text"}}}); err != nil {
			t.Fatal(err)
		}
	}
	return last
}

func numbersOf(t *testing.T, s *Store) (seqs []uint64) {
	t.Helper()
	for r, err := range s.After(t.Context(), "s", 0) {
		if err != nil {
			t.Fatal(err)
		}
		seqs = append(seqs, r.Seq)
	}
	return seqs
}

func reopened(t *testing.T, s *Store) *Store {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openIn(t, s.opts.Dir)
	if d := s.Damaged(); len(d) != 0 {
		t.Fatalf("damaged: %v", d)
	}
	return s
}

func TestAppendCutShort(t *testing.T) {
	t.Parallel()
	s := openIn(t, t.TempDir())
	appendN(t, s, 125)
	se, err := s.acquire(t.Context(), "s")
	if err != nil {
		t.Fatal(err)
	}
	for piece := 1; piece < 3; piece++ { // the third one never comes
		if err := s.publish(t.Context(), se, &se.wholes, frame{First: 126, Last: 126, Piece: piece, Of: 3}, []byte("half a record")); err != nil {
			t.Fatal(err)
		}
	}
	s.release(se)
	s.forget(se)
	want := uint64(126) // this number is gone
	for _, n := range []int{1, 1, 150, 1} {
		s = reopened(t, s)
		want += uint64(n)
		if last := appendN(t, s, n); last != want {
			t.Fatalf("last is %d, want %d", last, want)
		}
	}
	s = reopened(t, s)
	seqs := numbersOf(t, s)
	if len(seqs) != 278 || seqs[124] != 125 || seqs[125] != 127 {
		t.Fatalf("%d records: %v", len(seqs), seqs)
	}
}

func TestDeletionCutShort(t *testing.T) {
	t.Parallel()
	s := openIn(t, t.TempDir())
	last := appendN(t, s, 200)
	se, err := s.acquire(t.Context(), "s")
	if err != nil {
		t.Fatal(err)
	}
	body, err := indexMessage{Prev: se.wholes.prev, Last: last, Deleted: true}.encode()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.send(t.Context(), se.wholes.subject+".x", body); err != nil {
		t.Fatal(err)
	}
	s.release(se)
	s.forget(se)
	s = reopened(t, reopened(t, s))
	if seqs := numbersOf(t, s); len(seqs) != 0 {
		t.Fatalf("records are left: %v", seqs)
	}
	s = reopened(t, s)
	if again := appendN(t, s, 3); again != last+3 {
		t.Fatalf("numbers went on to %d after %d", again, last)
	}
	s = reopened(t, s)
	if seqs := numbersOf(t, s); len(seqs) != 3 {
		t.Fatalf("records: %v", seqs)
	}
}
