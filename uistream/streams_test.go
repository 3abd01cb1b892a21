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

func streamOf(records []trace.Record, f uistream.Framing) string {
	return string(uistream.AppendTurn(nil, slices.Values(records), uistream.Options{}, f))
}

// Every client reads the same bytes, whenever it comes.
//
//evidence:for promise-resume
func TestEverySubscriberReadsTheSameBytes(t *testing.T) {
	t.Parallel()
	bc := uistream.NewStreams(uistream.Framing{})
	defer bc.Close()
	records := story(t, 400, "some words of text ")
	want := streamOf(records, bc.Framing())
	f := newFeed(records[:3]...)
	var followers sync.WaitGroup
	follow := func() {
		followers.Go(func() {
			got, err := serve(t.Context(), bc, uistream.Options{}, f, uistream.Span{})
			if err != nil || got != want {
				t.Errorf("err %v, got %d bytes, want %d", err, len(got), len(want))
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

// Where the log drops the deltas of a part that is whole, a subscriber that has some of them gets the rest of the
// text, and no text twice.
func TestASubscriberOfAThinnedLogGetsEachTextOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		bc := uistream.NewStreams(uistream.Framing{})
		defer bc.Close()
		records := story(t, 200, "some words of text ")
		f := newFeed(records[:len(records)/2]...)
		body := make(chan string)
		go func() {
			got, err := serve(t.Context(), bc, uistream.Options{}, f, uistream.Span{})
			if err != nil {
				t.Error(err)
			}
			body <- got
		}()
		synctest.Wait()
		f.change(func() { f.records = durable(records) })
		f.close()
		if got := strings.Count(<-body, "some words of text "); got != 200 {
			t.Errorf("the client has %d lines of 200", got)
		}
	})
}

// A large record counts as read until the client has it, also in a turn that is followed as it happens: clients that
// are stuck would have it in memory once each. So does the rest of a turn for a client that has fallen far behind.
//
//evidence:for promise-slow-client
func TestWhatAStuckClientHasInMemoryCounts(t *testing.T) {
	t.Parallel()
	for name, lines := range map[string][]string{
		"one large record": {strings.Repeat("x", 2<<20)},
		"many small ones":  slices.Repeat([]string{strings.Repeat("x", 20<<10)}, 200),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				bc := uistream.NewStreams(uistream.Framing{})
				defer bc.Close()
				records := write(t, completed(), func(b *trace.Builder) {
					b.MessageDelta("a", "first ")
					for _, line := range lines {
						b.MessageDelta("a", line)
					}
				})
				f := newFeed(records[:4]...)
				var most int32
				r := response{hook: func(int) error { most = max(most, f.admitted.Load()); return nil }}
				over := make(chan error)
				go func() {
					over <- bc.Serve(t.Context(), uistream.NewWriter(&r, bc.Framing(), uistream.Timing{}), uistream.NewSubscription("t1", uistream.Options{}, uistream.Span{Live: true}), f)
				}()
				synctest.Wait()
				if f.asked.Load() != 0 {
					t.Error("a client that follows a turn as it happens was to be admitted")
				}
				f.add(records[4:]...)
				if err := <-over; err != nil || f.asked.Load() == 0 || f.admitted.Load() != 0 || (most > 0) != (len(lines) == 1) {
					t.Errorf("admitted %d times, while the client was written to: %d; %d are left: %v", f.asked.Load(), most, f.admitted.Load(), err)
				}
			})
		})
	}
}

// A bug in a translator ends the responses of its subscription with a sentence, and no other stream.
func TestAPanicOfTheTranslationEndsOneStream(t *testing.T) {
	t.Parallel()
	bc := uistream.NewStreams(uistream.Framing{})
	defer bc.Close()
	f, sub := newFeed(story(t, 3, "words ")...), uistream.NewSubscription("t1", uistream.Options{}, uistream.Span{})
	uistream.BreakSubscription(bc, sub)
	for range 2 {
		var r response
		err := bc.Serve(t.Context(), uistream.NewWriter(&r, bc.Framing(), uistream.Timing{}), sub, f)
		if got := r.frames(); err == nil || !strings.Contains(got, "The gateway could not show the rest of the answer.") || !strings.HasSuffix(got, "data: [DONE]\n\n") {
			t.Errorf("err %v, body\n%s", err, got)
		}
	}
	if _, err := serve(t.Context(), bc, uistream.Options{}, f, uistream.Span{}); err != nil {
		t.Errorf("another stream: %v", err)
	}
}

// A subscriber that is behind reads on from the log where it is: each record once, and never from the beginning.
//
//evidence:for promise-slow-client
func TestM05_SlowSubscriberReadsOnFromWhereItIs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		bc := uistream.NewStreams(uistream.Framing{})
		defer bc.Close()
		records := story(t, 4000, "some words of text ")
		f := newFeed(records[:4]...)
		fast := make(chan error)
		go func() {
			got, err := serve(t.Context(), bc, uistream.Options{}, f, uistream.Span{})
			if got != streamOf(records, bc.Framing()) {
				t.Error("the fast subscriber did not get the turn")
			}
			fast <- err
		}()
		slow := response{hook: func(int) error { time.Sleep(100 * time.Millisecond); return nil }}
		done := make(chan error)
		go func() {
			done <- bc.Serve(t.Context(), uistream.NewWriter(&slow, bc.Framing(), uistream.Timing{}), uistream.NewSubscription("t1", uistream.Options{}, uistream.Span{}), f)
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
		if n := int(f.read.Load()); n != 2*len(records) {
			t.Errorf("%d records of a turn of %d were read: each once for each of two subscribers is enough", n, len(records))
		}
	})
}

// A client that does not take what it is sent holds nobody up. It gets the rest once it
// takes something again.
func TestG07_AStuckSubscriberDelaysNoOther(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		bc := uistream.NewStreams(uistream.Framing{})
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
			result <- bc.Serve(t.Context(), uistream.NewWriter(&slow, bc.Framing(), uistream.Timing{}), uistream.NewSubscription("t1", uistream.Options{}, uistream.Span{}), f)
		}()
		synctest.Wait()
		f.add(records[4:]...)
		synctest.Wait() // now it is stuck
		if got, err := serve(t.Context(), bc, uistream.Options{}, f, uistream.Span{}); err != nil || got != want {
			t.Errorf("the turn was held up by a subscriber: %v", err)
		}
		time.Sleep(2 * time.Second)
		close(stuck)
		if err := <-result; err != nil || slow.frames() != want {
			t.Errorf("error %v, got %d bytes, want %d", err, len(slow.frames()), len(want))
		}
	})
}

func TestCloseEndsTheStreams(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		bc := uistream.NewStreams(uistream.Framing{})
		f := newFeed(story(t, 3, "words ")[:4]...)
		result := make(chan error)
		go func() {
			got, err := serve(t.Context(), bc, uistream.Options{}, f, uistream.Span{})
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
		if _, err := serve(t.Context(), bc, uistream.Options{}, f, uistream.Span{}); !errors.Is(err, uistream.ErrClosed) {
			t.Errorf("after Close: got %v, want ErrClosed", err)
		}
	})
}

// The stop is on record a moment before the session is idle. A client that asks for the list of
// sessions right after its answer must find the session idle.
func TestAResponseIsOverOnceItsTurnIsOverInMemoryToo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		bc := uistream.NewStreams(uistream.Framing{})
		defer bc.Close()
		records := story(t, 4, "some words of text ")
		f := newFeed()
		f.change(func() { f.records = records })
		var of response
		over := make(chan error, 1)
		go func() {
			over <- bc.Serve(t.Context(), uistream.NewWriter(&of, bc.Framing(), uistream.Timing{}), uistream.NewSubscription("t1", uistream.Options{}, uistream.Span{}), f)
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
		bc := uistream.NewStreams(uistream.Framing{})
		defer bc.Close()
		f := newFeed()
		f.change(func() { f.records = story(t, 4, "some words of text ") })
		ctx, leave := context.WithCancel(t.Context())
		over := make(chan error, 1)
		go func() {
			_, err := serve(ctx, bc, uistream.Options{}, f, uistream.Span{})
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
		bc := uistream.NewStreams(uistream.Framing{NoEvents: true})
		defer bc.Close()
		records := story(t, 3, "words ")
		rewind := records[5]
		rewind.Payload = trace.Rewind{To: "m1"}
		f := newFeed(append(records[:5:5], rewind)...)
		f.add(records[6:]...)
		got, err := serve(t.Context(), bc, uistream.Options{}, f, uistream.Span{})
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
			bc := uistream.NewStreams(uistream.Framing{})
			defer bc.Close()
			records := story(t, 3, "words ")
			f := newFeed(records[:5]...)
			breakIt(f)
			got, err := serve(t.Context(), bc, uistream.Options{}, f, uistream.Span{})
			if err == nil || !strings.Contains(got, `"type":"error"`) || !strings.HasSuffix(got, "data: [DONE]\n\n") {
				t.Errorf("err %v, body\n%s", err, got)
			}
			if name == "panic" { // the same record would panic again
				return
			}
			f.fail(nil)
			f.add(records[5:]...) // the next one tries again
			if _, err := serve(t.Context(), bc, uistream.Options{}, f, uistream.Span{}); err != nil {
				t.Errorf("after the failure: %v", err)
			}
		})
	}
}
