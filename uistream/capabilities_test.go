package uistream_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/tributary-dev/tributary/uistream"
)

// A turn is encoded once per set of capabilities, whatever releases its clients name.
func TestTwoThousandReleasesCostNoMoreThanTheirCapabilities(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		bc := uistream.NewBroadcaster(uistream.BroadcasterConfig{})
		defer bc.Close()
		records := story(t, 20, "words ")
		f := newFeed(records...)
		var clients sync.WaitGroup
		for n := range 2000 {
			clients.Go(func() {
				key := turn
				key.Options.Profile = profile(t, fmt.Sprintf("7.0.%d", n))
				if _, err := serve(context.WithoutCancel(t.Context()), bc, key, f, uistream.Span{}); err != nil {
					t.Error(err)
				}
			})
		}
		clients.Wait()
		if n := bc.Cost().Records / int64(len(records)); n > 10 {
			t.Errorf("the turn was encoded %d times", n)
		}
	})
}

// Releases with the same profile accept the same chunks.
func TestAProfileIsTheSameForReleasesThatAcceptTheSame(t *testing.T) {
	t.Parallel()
	for client, want := range map[string]string{
		"": "6", "6": "6", "6.0.0": "6.0.0", "6.0.230": "6.0.0", "6.0.231": "6.0.231", "5": "5", "5.0.71": "5", "5.0.72": "5.0.72",
		"7": "7", "7.0.31": "7", "7.0.33": "7.0.32", "7.0.148": "7.0.142", "7.0.150": "7.0.149", "7.0.9999": "7.0.163", "7.2.0": "7.0.163",
	} {
		if got := profile(t, client).String(); got != want {
			t.Errorf("client %q: got %s, want %s", client, got, want)
		}
	}
}
