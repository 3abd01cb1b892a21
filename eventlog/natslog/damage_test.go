package natslog_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/tributary-dev/tributary/eventlog/natslog"
	"github.com/tributary-dev/tributary/trace"
)

// TestFlippedBytes changes one byte of what is on disk, in several ways. Whatever
// is read then was written like that, in that order; and if something is missing
// the session is damaged, or it is within what the doc says can't be noticed.
func TestFlippedBytes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name      string
		at        string // the byte after this text
		keepState bool   // the server's own index survives
	}{
		{"early, index kept", "whole 30\"", true},
		{"early, index lost", "whole 30\"", false},
		{"in an index message", `"places":[[`, true},
		{"in an index message, index lost", `"places":[[`, false},
		{"late, index kept", "whole 897\"", true},
		{"late, index lost", "whole 897\"", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			s := open(t, natslog.Options{Dir: dir})
			log := write(t, s, "s", "t", 0, 900)
			other := write(t, s, "other", "t", 10_000, 30)
			epoch := s.Epoch()
			closeStore(t, s)
			flip(t, dir, c.at)
			if !c.keepState {
				for _, b := range blocks(t, dir)[:1] {
					_ = os.Remove(filepath.Join(filepath.Dir(b), "index.db"))
				}
			}
			s = open(t, natslog.Options{Dir: dir})
			var got []trace.Record
			failed := false
			for range 3 { // the first read may end where the damage is
				got = nil
				failed = false
				for r, err := range s.After(t.Context(), "s", 0) {
					if failed = err != nil; failed {
						t.Log(err)
						break
					}
					got = append(got, r)
				}
				if !failed {
					break
				}
			}
			if failed {
				t.Fatal("the session can't be read at all")
			}
			i := 0
			for _, r := range got { // a subsequence of what was written
				for i < len(log) && log[i].Seq != r.Seq {
					i++
				}
				if i == len(log) {
					t.Fatalf("number %d was never written there", r.Seq)
				}
				sameRecords(t, []trace.Record{r}, log[i:i+1])
			}
			t.Logf("%d of %d records, damaged: %v", len(got), len(log), s.Damaged())
			if len(got) < len(log) && s.Damaged()["s"] == "" {
				t.Errorf("%d of %d records are there and nobody says so", len(got), len(log))
			}
			if s.Damaged()["other"] == "" {
				sameRecords(t, read(t, s, "other"), other)
			}
			if len(s.Damaged()) > 0 && !c.keepState && s.Epoch() == epoch {
				t.Log("the epoch is the same: the loss was found only by reading")
			}
			// Appends go on.
			more := write(t, s, "s", "u", 2000, 300)
			if more[0].Seq <= log[len(log)-1].Seq {
				t.Errorf("numbers went back to %d", more[0].Seq)
			}
			after := read(t, s, "s")
			sameRecords(t, after[len(after)-300:], more)
			damaged := s.Damaged()["s"]
			closeStore(t, s)
			s = open(t, natslog.Options{Dir: dir})
			if s.Damaged()["s"] != damaged {
				t.Errorf("after a restart the damage is %q, it was %q", s.Damaged()["s"], damaged)
			}
			if after = read(t, s, "s"); !slices.EqualFunc(after[len(after)-300:], more, func(a, b trace.Record) bool { return a.Seq == b.Seq }) {
				t.Error("what was appended to the damaged session is gone after a restart")
			}
		})
	}
}

func flip(t *testing.T, dir, marker string) {
	t.Helper()
	for _, name := range blocks(t, dir) {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if i := bytes.Index(data, []byte(marker)); i >= 0 {
			data[i+len(marker)-1] ^= 0x04
			if err := os.WriteFile(name, data, 0o600); err != nil {
				t.Fatal(err)
			}
			return
		}
	}
	t.Fatalf("%q is in no block", marker)
}

// TestLostBlock removes all of the messages.
func TestLostBlock(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, natslog.Options{Dir: dir})
	log := write(t, s, "s", "t", 0, 500)
	epoch := s.Epoch()
	closeStore(t, s)
	for _, b := range blocks(t, dir) {
		if err := os.Remove(b); err != nil {
			t.Fatal(err)
		}
	}
	s = open(t, natslog.Options{Dir: dir})
	if s.Damaged()["s"] == "" || s.Epoch() == epoch {
		t.Fatalf("damaged: %v, epoch %s, was %s", s.Damaged(), s.Epoch(), epoch)
	}
	more := write(t, s, "s", "u", 0, 3)
	if more[0].Seq <= log[len(log)-1].Seq {
		t.Fatalf("numbers went back to %d", more[0].Seq)
	}
	rs := read(t, s, "s")
	sameRecords(t, rs[len(rs)-3:], more)
	if err := s.Delete(t.Context(), "s"); err != nil {
		t.Fatal(err)
	}
	if len(s.Damaged()) != 0 || len(read(t, s, "s")) != 0 {
		t.Fatal("a deleted session is still damaged")
	}
}
