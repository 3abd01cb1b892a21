package gateway

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tributary-dev/tributary/uistream"
)

// A comment shows that the connection lives only where nothing else does.
//
//evidence:for vercel/ai#17805
func TestCommentsComeInSilenceOnly(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := &gateway{Options: Options{Streams: uistream.NewBroadcaster(uistream.BroadcasterConfig{})}, limiter: newLimiter(Limits{})}
		defer g.Streams.Close()
		source := func(yield func(string, error) bool) {
			for range 10 {
				time.Sleep(10 * time.Second)
				if !yield("{}", nil) {
					return
				}
			}
			time.Sleep(35 * time.Second)
			yield(`"last"`, nil)
		}
		w, r := httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
		_, rd := g.reading(t.Context(), r)
		err := follow(g, w, r, rd, source, func(string) int { return 0 },
			func(what string) (string, []byte, error) { return "7", []byte(what), nil })
		if err != nil {
			t.Fatal(err)
		}
		const event = "id: 7\ndata: {}\n\n"
		if got, want := w.Body.String(), ": stream-open\n\n"+strings.Repeat(event, 10)+strings.Repeat(": keep-alive\n\n", 2)+"id: 7\ndata: \"last\"\n\n"; got != want {
			t.Errorf("got %s", got)
		}
	})
}

// Large records that are being sent to many count, each until its client has it.
func TestWhatAStreamSendsCountsWhileItIsSent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := &gateway{Options: Options{Streams: uistream.NewBroadcaster(uistream.BroadcasterConfig{}), Read: time.Second}, limiter: newLimiter(Limits{})}
		defer g.Streams.Close()
		g.limiter.limits.Memory = 10 * mb
		held := func() (sum int64) {
			g.limiter.mu.Lock()
			defer g.limiter.mu.Unlock()
			for _, b := range g.limiter.share("").memory[download].uses {
				sum += b.holds
			}
			return sum
		}
		source := func(yield func(int, error) bool) { _ = yield(4*mb, nil) && yield(1, nil) }
		var seen []int64
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
		_, rd := g.reading(t.Context(), r)
		err := follow(g, httptest.NewRecorder(), r, rd, source, func(n int) int { return n },
			func(int) (string, []byte, error) { seen = append(seen, held()); return "", nil, nil })
		if err != nil || len(seen) != 2 || seen[0] != 8*mb || seen[1] != 0 || held() != 0 {
			t.Errorf("%v: %v are held, and %d in the end", err, seen, held())
		}
	})
}
