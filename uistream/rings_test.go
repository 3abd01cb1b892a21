package uistream_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tributary-dev/tributary/trace"
	"github.com/tributary-dev/tributary/uistream"
)

var turn = uistream.Key{Session: "s", Turn: "t1"}

func cursor(_ string, seq uint64) string { return fmt.Sprintf("e-%d", seq) }

func whole(records []trace.Record, f uistream.Framing) string {
	return string(uistream.AppendTurn(nil, slices.Values(records), uistream.Options{}, f))
}

// Every client reads the same bytes at any time, whether the ring still holds the
// beginning or not.
func TestEveryFollowerReadsTheSameBytes(t *testing.T) {
	t.Parallel()
	for _, window := range []int{1 << 20, 2000} {
		rs := uistream.NewRings(uistream.RingsConfig{Window: window, Framing: uistream.Framing{Cursor: cursor}})
		defer rs.Close()
		records := story(t, 400, "some words of text ")
		want := whole(records, rs.Framing())
		f := newFeed(records[:3]...)
		var followers sync.WaitGroup
		follow := func() {
			followers.Go(func() {
				got, err := serve(t.Context(), rs, turn, f, uistream.Span{})
				if err != nil || got != want {
					t.Errorf("window %d: err %v, got %d bytes, want %d", window, err, len(got), len(want))
				}
			})
		}
		follow()
		for i, r := range records[3:] {
			f.add(r)
			if i%40 == 0 {
				follow()
				time.Sleep(time.Duration(rand.IntN(300)) * time.Microsecond)
			}
		}
		follow()
		followers.Wait()
		follow()
		followers.Wait()
	}
}

// A late follower whose beginning the ring has dropped reads that from the log
// and then joins: nobody has to be cut, and the log is not followed twice.
func TestLateFollowerJoinsTheRing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		rs := uistream.NewRings(uistream.RingsConfig{Window: 2000})
		defer rs.Close()
		records := story(t, 200, "some words of text ")
		half := len(records) / 2
		f := newFeed(records[:4]...)
		early := make(chan string, 2)
		run := func() {
			got, err := serve(t.Context(), rs, turn, f, uistream.Span{})
			if err != nil {
				t.Error(err)
			}
			early <- got
		}
		go run()
		synctest.Wait()
		for _, r := range records[4:half] {
			f.add(r)
			synctest.Wait()
		}
		go run()
		synctest.Wait()
		if n := f.reading.Load(); n != 1 {
			t.Errorf("%d readers of the log while both follow, want the ring alone", n)
		}
		for _, r := range records[half:] {
			f.add(r)
			synctest.Wait()
		}
		want := whole(records, rs.Framing())
		if a, b := <-early, <-early; a != want || b != want {
			t.Errorf("got %d and %d bytes, want %d", len(a), len(b), len(want))
		}
	})
}

// A ring that begins late runs ahead through a long turn; its first follower is
// not to blame for that.
func TestLongTurnIsReplayedWhole(t *testing.T) {
	t.Parallel()
	rs := uistream.NewRings(uistream.RingsConfig{Window: 2000})
	defer rs.Close()
	records := story(t, 500, "some words of text ")
	f := newFeed(records...)
	want := whole(records, rs.Framing())
	for range 5 {
		if got, err := serve(t.Context(), rs, turn, f, uistream.Span{}); err != nil || got != want {
			t.Fatalf("err %v, got %d bytes, want %d", err, len(got), len(want))
		}
	}
}

// Where the log has lost deltas that the ring has seen, a follower must not
// join: it would lose text.
func TestFollowerOfThinnedLogReadsItself(t *testing.T) {
	t.Parallel()
	rs := uistream.NewRings(uistream.RingsConfig{Window: 2000})
	defer rs.Close()
	records := story(t, 200, "some words of text ")
	f := newFeed(records...)
	if _, err := serve(t.Context(), rs, turn, f, uistream.Span{}); err != nil {
		t.Fatal(err)
	}
	thin := newFeed(wholes(records)...)
	got, err := serve(t.Context(), rs, turn, thin, uistream.Span{})
	if want := whole(wholes(records), rs.Framing()); err != nil || got != want {
		t.Errorf("err %v\ngot  %s\nwant %s", err, got, want)
	}
}

func TestManyFollowersReadTheLogOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		rs := uistream.NewRings(uistream.RingsConfig{})
		defer rs.Close()
		records := story(t, 50, "words ")
		f := newFeed(records[:10]...)
		want := whole(records, rs.Framing())
		var followers sync.WaitGroup
		for range 200 {
			followers.Go(func() {
				if got, err := serve(t.Context(), rs, turn, f, uistream.Span{}); err != nil || got != want {
					t.Errorf("err %v, got %d bytes, want %d", err, len(got), len(want))
				}
			})
		}
		synctest.Wait()
		f.add(records[10:]...)
		followers.Wait()
		if n := f.opened.Load(); n != 1 {
			t.Errorf("the log was read %d times, want once", n)
		}
	})
}

// A client that does not take what it is sent holds nobody up, and is cut.
func TestSlowFollowerIsCut(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		rs := uistream.NewRings(uistream.RingsConfig{Window: 10_000})
		defer rs.Close()
		records := story(t, 2000, "some words of text ")
		f := newFeed(records[:4]...)
		stuck := make(chan struct{})
		slow := response{hook: func(written int) error {
			if written > 100 {
				<-stuck
			}
			return nil
		}}
		result := make(chan error)
		go func() {
			result <- rs.Serve(t.Context(), uistream.NewWriter(&slow, rs.Framing(), uistream.Timing{}), turn, f.source, uistream.Span{})
		}()
		synctest.Wait()
		f.add(records[4])
		synctest.Wait() // now it is stuck
		f.add(records[5:]...)
		synctest.Wait() // and the turn is over nevertheless
		if n := f.reading.Load(); n != 0 {
			t.Error("the turn was held up by a follower")
		}
		time.Sleep(2 * time.Second)
		close(stuck)
		if err := <-result; !errors.Is(err, uistream.ErrTooSlow) {
			t.Errorf("got %v, want ErrTooSlow", err)
		}
		if text := slow.text(); !strings.HasSuffix(text, "event: finish\ndata: {\"type\":\"finish\"}\n\ndata: [DONE]\n\n") || !strings.Contains(text, `"type":"error"`) {
			t.Errorf("the client was not told: …%s", text[max(0, len(text)-300):])
		}
	})
}

func TestIdleRingDies(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		rs := uistream.NewRings(uistream.RingsConfig{Idle: 10 * time.Second})
		defer rs.Close()
		f := newFeed(story(t, 3, "words ")[:4]...)
		ctx, leave := context.WithCancel(t.Context())
		follow := func(ctx context.Context) error {
			_, err := serve(ctx, rs, turn, f, uistream.Span{})
			return err
		}
		result := make(chan error)
		go func() { result <- follow(ctx) }()
		synctest.Wait()
		leave()
		if err := <-result; !errors.Is(err, context.Canceled) {
			t.Fatalf("got %v, want the context's error", err)
		}
		time.Sleep(9 * time.Second)
		synctest.Wait()
		if f.reading.Load() != 1 {
			t.Fatal("the ring died too early")
		}
		ctx, leave = context.WithCancel(t.Context()) // somebody comes back
		go func() { result <- follow(ctx) }()
		time.Sleep(time.Minute)
		synctest.Wait()
		if f.reading.Load() != 1 || f.opened.Load() != 1 {
			t.Fatal("the ring did not stay for its follower")
		}
		leave()
		<-result
		time.Sleep(11 * time.Second)
		synctest.Wait()
		if f.reading.Load() != 0 {
			t.Fatal("the ring lives though nobody follows")
		}
	})
}

func TestCloseEndsFollowersAndWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		rs := uistream.NewRings(uistream.RingsConfig{})
		f := newFeed(story(t, 3, "words ")[:4]...)
		result := make(chan error)
		go func() {
			got, err := serve(t.Context(), rs, turn, f, uistream.Span{})
			if !strings.HasSuffix(got, "data: [DONE]\n\n") || !strings.Contains(got, `"type":"error"`) {
				t.Errorf("the client was not told: %s", got)
			}
			result <- err
		}()
		synctest.Wait()
		rs.Close()
		if f.reading.Load() != 0 {
			t.Error("Close did not wait for the reading")
		}
		if err := <-result; !errors.Is(err, uistream.ErrClosed) {
			t.Errorf("got %v, want ErrClosed", err)
		}
		if _, err := serve(t.Context(), rs, turn, f, uistream.Span{}); !errors.Is(err, uistream.ErrClosed) {
			t.Errorf("after Close: got %v, want ErrClosed", err)
		}
	})
}

// A turn that an edit or a regenerate replaces gets a rewind before the records
// that close its parts: none of those may reach the client.
func TestSupersededStreamEndsWithAnAbortOnly(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		rs := uistream.NewRings(uistream.RingsConfig{Framing: uistream.Framing{NoEvents: true}})
		defer rs.Close()
		records := story(t, 3, "words ")
		rewind := records[5]
		rewind.Payload = trace.Rewind{To: "m1"}
		f := newFeed(append(records[:5:5], rewind)...)
		f.add(records[6:]...)
		got, err := serve(t.Context(), rs, turn, f, uistream.Span{})
		want := strings.Join([]string{
			`{"type":"start","messageId":"m1"}`, `{"type":"start-step"}`, `{"type":"text-start","id":"text-1"}`,
			`{"type":"text-delta","id":"text-1","delta":"words "}`, `{"type":"abort"}`, `[DONE]`,
		}, "\n\ndata: ")
		if got != "data: "+want+"\n\n" || err != nil {
			t.Errorf("error %v, got\n%s\nwant\ndata: %s", err, got, want)
		}
	})
}

func TestFailingLogIsToldToTheClient(t *testing.T) {
	t.Parallel()
	for name, breakIt := range map[string]func(*feed){
		"error":   func(f *feed) { f.fail(errGone) },
		"no stop": func(f *feed) { f.close() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rs := uistream.NewRings(uistream.RingsConfig{})
			defer rs.Close()
			records := story(t, 3, "words ")
			f := newFeed(records[:5]...)
			breakIt(f)
			got, err := serve(t.Context(), rs, turn, f, uistream.Span{})
			if err == nil || !strings.Contains(got, `"type":"error"`) || !strings.HasSuffix(got, "data: [DONE]\n\n") {
				t.Errorf("err %v, body\n%s", err, got)
			}
			whole := newFeed(records...) // the next one tries again
			if _, err := serve(t.Context(), rs, turn, whole, uistream.Span{}); err != nil {
				t.Errorf("after the failure: %v", err)
			}
		})
	}
}
