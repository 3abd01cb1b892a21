package uistream_test

import (
	"context"
	"errors"
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

func streamOf(records []trace.Record, f uistream.Framing) string {
	return string(uistream.AppendTurn(nil, slices.Values(records), uistream.Options{}, f))
}

// Every client reads the same bytes at any time, whether the buffer still holds the
// beginning or not.
//
//evidence:for promise-resume
func TestEverySubscriberReadsTheSameBytes(t *testing.T) {
	t.Parallel()
	for _, window := range []int{1 << 20, 2000} {
		bc := uistream.NewBroadcaster(uistream.BroadcasterConfig{Window: window})
		defer bc.Close()
		records := story(t, 400, "some words of text ")
		want := streamOf(records, bc.Framing())
		f := newFeed(records[:3]...)
		var followers sync.WaitGroup
		follow := func() {
			followers.Go(func() {
				got, err := serve(t.Context(), bc, turn, f, uistream.Span{})
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

// A late subscriber whose beginning the buffer has dropped reads that from the log, once,
// and then goes on with the buffer.
func TestLateSubscriberJoinsTheBuffer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		bc := uistream.NewBroadcaster(uistream.BroadcasterConfig{Window: 2000})
		defer bc.Close()
		records := story(t, 200, "some words of text ")
		half := len(records) / 2
		f := newFeed(records[:4]...)
		bodies := make(chan string, 2)
		run := func() {
			got, err := serve(t.Context(), bc, turn, f, uistream.Span{})
			if err != nil {
				t.Error(err)
			}
			bodies <- got
		}
		go run()
		synctest.Wait()
		for _, r := range records[4:half] {
			f.add(r)
			synctest.Wait()
		}
		before := f.read.Load()
		go run()
		synctest.Wait()
		if n := f.read.Load() - before; int(n) != half {
			t.Errorf("the late subscriber read %d records to catch up, want each of the %d once", n, half)
		}
		before = f.read.Load()
		for _, r := range records[half:] {
			f.add(r)
			synctest.Wait()
		}
		if n := f.read.Load() - before; int(n) != len(records)-half {
			t.Errorf("%d records were read while both follow, want each of the %d once for both", n, len(records)-half)
		}
		want := streamOf(records, bc.Framing())
		if a, b := <-bodies, <-bodies; a != want || b != want {
			t.Errorf("got %d and %d bytes, want %d", len(a), len(b), len(want))
		}
	})
}

// A subscriber that falls out of the buffer again and again reads on from the log where
// it is: each record once, and never from the beginning.
//
//evidence:for limit-live-buffer promise-slow-client
func TestM05_SlowSubscriberReadsOnFromWhereItIs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		bc := uistream.NewBroadcaster(uistream.BroadcasterConfig{Window: 10_000})
		defer bc.Close()
		records := story(t, 4000, "some words of text ")
		f := newFeed(records[:4]...)
		fast := make(chan error)
		go func() {
			got, err := serve(t.Context(), bc, turn, f, uistream.Span{})
			if got != streamOf(records, bc.Framing()) {
				t.Error("the fast subscriber did not get the turn")
			}
			fast <- err
		}()
		slow := response{hook: func(int) error { time.Sleep(100 * time.Millisecond); return nil }}
		done := make(chan error)
		go func() {
			done <- bc.Serve(t.Context(), uistream.NewWriter(&slow, bc.Framing(), uistream.Timing{}), turn, f, uistream.Span{})
		}()
		for i := 4; i < len(records); i += 200 { // 20 KB a second, which the slow one cannot take
			f.add(records[i:min(i+200, len(records))]...)
			time.Sleep(time.Second)
		}
		if err := errors.Join(<-fast, <-done); err != nil {
			t.Fatal(err)
		}
		if slow.frames() != streamOf(records, bc.Framing()) {
			t.Error("the slow subscriber did not get the turn")
		}
		if n := int(f.read.Load()); n > 2*len(records) {
			t.Errorf("%d records were read of a turn of %d: once for the buffer and once for the slow subscriber at most", n, len(records))
		}
	})
}

// A turn that is far longer than the window is there when its first subscriber comes.
func TestLongTurnIsReplayedWhole(t *testing.T) {
	t.Parallel()
	bc := uistream.NewBroadcaster(uistream.BroadcasterConfig{Window: 2000})
	defer bc.Close()
	records := story(t, 500, "some words of text ")
	f := newFeed(records...)
	want := streamOf(records, bc.Framing())
	for range 5 {
		if got, err := serve(t.Context(), bc, turn, f, uistream.Span{}); err != nil || got != want {
			t.Fatalf("err %v, got %d bytes, want %d", err, len(got), len(want))
		}
	}
}

// Where the log has lost deltas that the buffer has seen, a subscriber gets the whole
// parts, and no text twice.
func TestSubscriberOfThinnedLogReadsItself(t *testing.T) {
	t.Parallel()
	bc := uistream.NewBroadcaster(uistream.BroadcasterConfig{Window: 2000})
	defer bc.Close()
	records := story(t, 200, "some words of text ")
	f := newFeed(records...)
	if _, err := serve(t.Context(), bc, turn, f, uistream.Span{}); err != nil {
		t.Fatal(err)
	}
	thin := newFeed(durable(records)...)
	got, err := serve(t.Context(), bc, turn, thin, uistream.Span{})
	if want := streamOf(durable(records), bc.Framing()); err != nil || got != want {
		t.Errorf("err %v\ngot  %s\nwant %s", err, got, want)
	}
}

func TestManySubscribersReadTheLogOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		bc := uistream.NewBroadcaster(uistream.BroadcasterConfig{})
		defer bc.Close()
		records := story(t, 50, "words ")
		f := newFeed(records[:10]...)
		want := streamOf(records, bc.Framing())
		var followers sync.WaitGroup
		for range 200 {
			followers.Go(func() {
				if got, err := serve(t.Context(), bc, turn, f, uistream.Span{}); err != nil || got != want {
					t.Errorf("err %v, got %d bytes, want %d", err, len(got), len(want))
				}
			})
		}
		synctest.Wait()
		f.add(records[10:]...)
		followers.Wait()
		if n := int(f.read.Load()); n != len(records) {
			t.Errorf("%d records were read of a turn of %d", n, len(records))
		}
	})
}

// The channel by which the last reader of the log waited closes no more once that reader has
// left, so the next subscriber looks at the log for itself.
func TestALateSubscriberGetsTheRestOfTheMessage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		bc := uistream.NewBroadcaster(uistream.BroadcasterConfig{})
		defer bc.Close()
		records := story(t, 50, "words ")
		ctx, leave := context.WithCancel(t.Context())
		var first sync.WaitGroup
		first.Go(func() { _, _ = serve(ctx, bc, turn, newFeed(records[:10]...), uistream.Span{}) })
		synctest.Wait()
		leave()
		first.Wait()
		got, err := serve(t.Context(), bc, turn, newFeed(records...), uistream.Span{})
		if want := streamOf(records, bc.Framing()); err != nil || got != want {
			t.Errorf("err %v\ngot  %s\nwant %s", err, got, want)
		}
	})
}

// A client that does not take what it is sent holds nobody up. It gets the rest once it
// takes something again.
func TestG07_AStuckSubscriberDelaysNoOther(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		bc := uistream.NewBroadcaster(uistream.BroadcasterConfig{Window: 10_000})
		defer bc.Close()
		records := story(t, 2000, "some words of text ")
		want := streamOf(records, bc.Framing())
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
			result <- bc.Serve(t.Context(), uistream.NewWriter(&slow, bc.Framing(), uistream.Timing{}), turn, f, uistream.Span{})
		}()
		synctest.Wait()
		f.add(records[4:]...)
		synctest.Wait() // now it is stuck
		if got, err := serve(t.Context(), bc, turn, f, uistream.Span{}); err != nil || got != want {
			t.Errorf("the turn was held up by a subscriber: %v", err)
		}
		time.Sleep(2 * time.Second)
		close(stuck)
		if err := <-result; err != nil || slow.frames() != want {
			t.Errorf("error %v, got %d bytes, want %d", err, len(slow.frames()), len(want))
		}
	})
}

// A turn without subscribers is kept for a moment, for a client that comes back, and
// nothing of it is read meanwhile.
func TestIdleBufferIsForgotten(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		bc := uistream.NewBroadcaster(uistream.BroadcasterConfig{Idle: 10 * time.Second})
		defer bc.Close()
		records := story(t, 3, "words ")[:4]
		f := newFeed(records...)
		visit := func() {
			ctx, leave := context.WithTimeout(t.Context(), time.Minute)
			defer leave()
			if _, err := serve(ctx, bc, turn, f, uistream.Span{}); !errors.Is(err, context.DeadlineExceeded) {
				t.Fatalf("got %v, want the context's error", err)
			}
		}
		visit()
		time.Sleep(9 * time.Second)
		visit() // somebody comes back
		if n := int(f.read.Load()); n != len(records) {
			t.Errorf("%d records were read, want each of the %d once", n, len(records))
		}
		time.Sleep(11 * time.Second)
		visit()
		if n := int(f.read.Load()); n != 2*len(records) {
			t.Errorf("%d records were read, want each of the %d once more: the buffer was to be forgotten", n, len(records))
		}
	})
}

func TestCloseEndsTheStreams(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		bc := uistream.NewBroadcaster(uistream.BroadcasterConfig{})
		f := newFeed(story(t, 3, "words ")[:4]...)
		result := make(chan error)
		go func() {
			got, err := serve(t.Context(), bc, turn, f, uistream.Span{})
			if !strings.HasSuffix(got, "data: [DONE]\n\n") || !strings.Contains(got, `"type":"error"`) {
				t.Errorf("the client got no error: %s", got)
			}
			result <- err
		}()
		synctest.Wait()
		bc.Close()
		if err := <-result; !errors.Is(err, uistream.ErrClosed) {
			t.Errorf("got %v, want ErrClosed", err)
		}
		if _, err := serve(t.Context(), bc, turn, f, uistream.Span{}); !errors.Is(err, uistream.ErrClosed) {
			t.Errorf("after Close: got %v, want ErrClosed", err)
		}
	})
}

// The stop is on record a moment before the session is idle. A client that asks for the list of
// sessions right after its answer must find the session idle.
func TestAResponseIsOverOnceItsTurnIsOverInMemoryToo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		bc := uistream.NewBroadcaster(uistream.BroadcasterConfig{})
		defer bc.Close()
		records := story(t, 4, "some words of text ")
		f := newFeed()
		f.change(func() { f.records = records })
		var of response
		over := make(chan error, 1)
		go func() {
			over <- bc.Serve(t.Context(), uistream.NewWriter(&of, bc.Framing(), uistream.Timing{}), turn, f, uistream.Span{})
		}()
		synctest.Wait()
		whole := streamOf(records, bc.Framing())
		if got := of.frames(); got != strings.TrimSuffix(whole, "data: [DONE]\n\n") || len(over) != 0 {
			t.Errorf("before the turn is over the client has %q", got)
		}
		f.close()
		if err := <-over; err != nil || of.frames() != whole {
			t.Errorf("after that the client has %q: %v", of.frames(), err)
		}
	})
}

// A client that leaves in that moment has had the whole message.
func TestAClientThatLeavesBehindTheEndWasNotCut(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		bc := uistream.NewBroadcaster(uistream.BroadcasterConfig{})
		defer bc.Close()
		f := newFeed()
		f.change(func() { f.records = story(t, 4, "some words of text ") })
		ctx, leave := context.WithCancel(t.Context())
		over := make(chan error, 1)
		go func() {
			_, err := serve(ctx, bc, turn, f, uistream.Span{})
			over <- err
		}()
		synctest.Wait()
		leave()
		if err := <-over; err != nil {
			t.Error(err)
		}
	})
}

// A turn that an edit or a regenerate replaces gets a rewind before the records
// that close its parts: none of those may reach the client.
func TestSupersededStreamEndsWithAnAbortOnly(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		bc := uistream.NewBroadcaster(uistream.BroadcasterConfig{Framing: uistream.Framing{NoEvents: true}})
		defer bc.Close()
		records := story(t, 3, "words ")
		rewind := records[5]
		rewind.Payload = trace.Rewind{To: "m1"}
		f := newFeed(append(records[:5:5], rewind)...)
		f.add(records[6:]...)
		got, err := serve(t.Context(), bc, turn, f, uistream.Span{})
		want := strings.Join([]string{
			`{"type":"start","messageId":"m1"}`, `{"type":"start-step"}`, `{"type":"text-start","id":"text-1"}`,
			`{"type":"text-delta","id":"text-1","delta":"words "}`, `{"type":"abort"}`, `[DONE]`,
		}, "\n\ndata: ")
		if got != "data: "+want+"\n\n" || err != nil {
			t.Errorf("error %v, got\n%s\nwant\ndata: %s", err, got, want)
		}
	})
}

func TestAFailingLogIsReportedToTheClient(t *testing.T) {
	t.Parallel()
	for name, breakIt := range map[string]func(*feed){
		"error":   func(f *feed) { f.fail(errGone) },
		"no stop": func(f *feed) { f.close() },
		"panic":   func(f *feed) { f.panics.Store(true) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bc := uistream.NewBroadcaster(uistream.BroadcasterConfig{})
			defer bc.Close()
			records := story(t, 3, "words ")
			f := newFeed(records[:5]...)
			breakIt(f)
			got, err := serve(t.Context(), bc, turn, f, uistream.Span{})
			if err == nil || !strings.Contains(got, `"type":"error"`) || !strings.HasSuffix(got, "data: [DONE]\n\n") {
				t.Errorf("err %v, body\n%s", err, got)
			}
			if name == "panic" { // the same record would panic again
				return
			}
			f.fail(nil)
			f.add(records[5:]...) // the next one tries again
			if _, err := serve(t.Context(), bc, turn, f, uistream.Span{}); err != nil {
				t.Errorf("after the failure: %v", err)
			}
		})
	}
}

// A bug in a translator or an encoder ends the streams of its turn with a sentence, and no
// other stream.
func TestAPanicOfTheEncoderEndsOneTurnsStreams(t *testing.T) {
	t.Parallel()
	bc := uistream.NewBroadcaster(uistream.BroadcasterConfig{})
	defer bc.Close()
	f, other := newFeed(story(t, 3, "words ")...), turn
	other.Options.RFC = true
	bc.Break(turn)
	for range 2 {
		got, err := serve(t.Context(), bc, turn, f, uistream.Span{})
		if err == nil || !strings.Contains(got, "The gateway could not show the rest of the answer.") || !strings.HasSuffix(got, "data: [DONE]\n\n") {
			t.Errorf("err %v, body\n%s", err, got)
		}
	}
	if _, err := serve(t.Context(), bc, other, f, uistream.Span{}); err != nil {
		t.Errorf("another stream: %v", err)
	}
}

// Many turns at once cost bounded memory. Those that grew last stay, and their subscribers lose nothing.
//
//evidence:for limit-live-buffer
func TestAllBuffersTogetherAreBounded(t *testing.T) {
	t.Parallel()
	const turns, total = 40, 400_000
	bc := uistream.NewBroadcaster(uistream.BroadcasterConfig{Window: 64_000, Total: total})
	defer bc.Close()
	records := story(t, 500, "some words of text ")
	for n := range turns {
		key := turn
		key.Session = string(rune('A' + n))
		if got, err := serve(t.Context(), bc, key, newFeed(records...), uistream.Span{}); err != nil || got != streamOf(records, bc.Framing()) {
			t.Error(err)
		}
		if kept := bc.Kept(); kept > total+turns*2*64_000/16 {
			t.Fatalf("%d bytes of %d turns are kept, want about %d", kept, n+1, total)
		}
	}
}
