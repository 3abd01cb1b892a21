package uistream_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/uistream"
)

// losing is a response whose client goes after some bytes. The response keeps all bytes, also
// those that come later.
type losing struct {
	*httptest.ResponseRecorder
	left int
	lose context.CancelFunc
}

func (l *losing) Write(p []byte) (int, error) {
	if l.left -= len(p); l.left < 0 {
		l.lose()
	}
	return l.ResponseRecorder.Write(p)
}

// frames are the frames of a response without its comments.
func frames(body string) string {
	var all strings.Builder
	for event := range strings.SplitAfterSeq(body, "\n\n") {
		if !strings.HasPrefix(event, ":") {
			all.WriteString(event)
		}
	}
	return all.String()
}

// However often its client goes, the responses
// of a subscription have the bytes of one response.
//
//evidence:for promise-resume
func TestASubscriptionGoesOnBehindItsLastResponse(t *testing.T) {
	t.Parallel()
	records := story(t, 300, "some words of text ")
	bc := uistream.NewStreams(uistream.Framing{})
	defer bc.Close()
	want := streamOf(records, bc.Framing())
	for range 20 {
		var got strings.Builder
		f := newFeed(records[:3]...)
		grown := make(chan struct{})
		go func() {
			defer close(grown)
			for _, r := range records[3:] {
				f.add(r)
			}
		}()
		sub := uistream.NewSubscription("t1", uistream.Options{}, uistream.Span{})
		responses := 0
		for over := false; !over; responses++ {
			ctx, cancel := context.WithCancel(t.Context())
			w := &losing{httptest.NewRecorder(), 1 + rand.IntN(len(want)/2), cancel}
			writer := uistream.NewWriter(w, bc.Framing(), uistream.Timing{})
			err := bc.Serve(ctx, writer, sub, f)
			cancel()
			if over = err == nil; !over && !errors.Is(err, context.Canceled) {
				t.Fatalf("response %d: %v", responses, err)
			}
			got.WriteString(frames(w.Body.String()))
		}
		<-grown
		if got.String() != frames(want) {
			t.Fatalf("%d responses have %d bytes, want %d", responses, got.Len(), len(want))
		}
	}
}
