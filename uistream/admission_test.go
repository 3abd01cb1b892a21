package uistream_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/tributary-dev/tributary/uistream"
)

// lateFeed admits its subscriber once a test lets it.
type lateFeed struct {
	*feed
	admit chan error
}

func (f lateFeed) Admit(ctx context.Context) (done func(), err error) {
	select {
	case err = <-f.admit:
	case <-ctx.Done():
		err = ctx.Err()
	}
	return func() {}, err
}

// A subscriber that has to wait until it may read older records keeps no other subscriber of
// the turn from reading them.
func TestASubscriberThatWaitsToBeAdmittedDelaysNoOther(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		bc := uistream.NewStreams(uistream.Framing{})
		defer bc.Close()
		records := story(t, 40, "some words of text ")
		late := lateFeed{newFeed(records...), make(chan error)}
		var of response
		ended := make(chan error, 1)
		go func() {
			ended <- bc.Serve(t.Context(), uistream.NewWriter(&of, bc.Framing(), uistream.Timing{}), uistream.NewSubscription("t1", uistream.Options{}, uistream.Span{}), late)
		}()
		synctest.Wait()
		if n := late.reads.Load(); n != 0 {
			t.Errorf("the late subscriber has read %d times before it may", n)
		}
		if got, err := serve(t.Context(), bc, uistream.Options{}, newFeed(records...), uistream.Span{}); err != nil || got != streamOf(records, bc.Framing()) {
			t.Errorf("the other one got %d bytes: %v", len(got), err)
		}
		late.admit <- nil
		if err := <-ended; err != nil || of.frames() != streamOf(records, bc.Framing()) {
			t.Errorf("the late one got %d bytes: %v", len(of.frames()), err)
		}
	})
}

// A subscriber is among those that read older records until it has caught up, and not while
// it follows the turn as it happens.
func TestASubscriberThatHasCaughtUpReadsNoOlderRecords(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, live := range []bool{false, true} {
			bc := uistream.NewStreams(uistream.Framing{})
			records := story(t, 40, "some words of text ")
			half := len(records) / 2
			f := newFeed(records[:half]...)
			if live {
				f.refuses = errors.New("no room")
			}
			ended := make(chan error, 1)
			go func() {
				_, err := serve(t.Context(), bc, uistream.Options{}, f, uistream.Span{Live: live})
				ended <- err
			}()
			synctest.Wait()
			f.refuses = errors.New("no room")
			if n := f.admitted.Load(); n != 0 {
				t.Errorf("live %v: %d subscribers read older records", live, n)
			}
			for _, r := range records[half:] {
				f.add(r)
				synctest.Wait()
			}
			if err := <-ended; err != nil {
				t.Errorf("live %v: the stream ends with %v", live, err)
			}
			bc.Close()
		}
	})
}

// A subscriber that may not read older records gets no stream, so that its handler can say why
// with a status.
func TestASubscriberThatIsRefusedGetsNoStream(t *testing.T) {
	t.Parallel()
	bc := uistream.NewStreams(uistream.Framing{})
	defer bc.Close()
	f := newFeed(story(t, 40, "some words of text ")...)
	f.refuses = errors.New("no room")
	got, err := serve(t.Context(), bc, uistream.Options{}, f, uistream.Span{})
	refusal, is := errors.AsType[*uistream.Refusal](err)
	if !is || !errors.Is(refusal, f.refuses) || got != "" || f.reads.Load() != 0 {
		t.Errorf("the subscriber got %q and %v", got, err)
	}
}
