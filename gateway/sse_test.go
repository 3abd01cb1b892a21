package gateway

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tributary-dev/tributary/gateway/limit"
	"github.com/tributary-dev/tributary/uistream"
)

// A comment shows that the connection lives only where nothing else does.
func TestCommentsComeInSilenceOnly(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := &gateway{Options: Options{Streams: uistream.NewStreams(uistream.Framing{})}, limiter: limit.New(limit.Options{})}
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

// expired is a context that has expired, and that tells its children late.
type expired struct{ context.Context }

func (expired) Done() <-chan struct{} { return nil }

// A token ends the context of the stream and that of its source, in any order.
func TestAStreamWhoseSourceEndsFirstSaysThatTheSignInHasExpired(t *testing.T) {
	t.Parallel()
	g := &gateway{Options: Options{Streams: uistream.NewStreams(uistream.Framing{})}, limiter: limit.New(limit.Options{})}
	defer g.Streams.Close()
	ctx, expire := context.WithCancelCause(t.Context())
	defer expire(nil)
	source := func(yield func(string, error) bool) {
		if yield("{}", nil) {
			expire(uistream.ErrExpired)
		}
	}
	w, r := httptest.NewRecorder(), httptest.NewRequestWithContext(expired{ctx}, http.MethodGet, "/", nil)
	_, rd := g.reading(t.Context(), r)
	if err := follow(g, w, r, rd, source, func(string) int { return 0 }, func(what string) (string, []byte, error) { return "", []byte(what), nil }); err != nil {
		t.Fatal(err)
	}
	if got := w.Body.String(); !strings.HasSuffix(got, `"code":"token_expired"}`+"\n\n") {
		t.Errorf("got %s", got)
	}
}

// Large records that are being sent to many count, each until its client has it.
func TestWhatAStreamSendsCountsWhileItIsSent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := limit.New(limit.Options{Memory: 10 * mb})
		g := &gateway{Options: Options{Streams: uistream.NewStreams(uistream.Framing{}), Read: time.Second}, limiter: l}
		defer g.Streams.Close()
		oldest := l.Memory("", limit.Download, 0, nil) // which does not count
		if err := oldest.Reserve(mb); err != nil {
			t.Fatal(err)
		}
		fits := func(bytes int64) bool {
			m := l.Memory("", limit.Download, 0, nil)
			defer m.Release()
			return m.Reserve(bytes) == nil
		}
		source := func(yield func(int, error) bool) { _ = yield(4*mb, nil) && yield(1, nil) }
		var seen []bool
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
		_, rd := g.reading(t.Context(), r)
		err := follow(g, httptest.NewRecorder(), r, rd, source, func(n int) int { return n },
			func(int) (string, []byte, error) {
				seen = append(seen, fits(2*mb), fits(3*mb), fits(10*mb))
				return "", nil, nil
			})
		// The first counts 8 MB, the second is too small to count.
		if err != nil || !slices.Equal(seen, []bool{true, false, false, true, true, true}) || !fits(10*mb) {
			t.Errorf("%v: there was room as %v", err, seen)
		}
	})
}
