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
		w := httptest.NewRecorder()
		err := follow(g, w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil), source, func(what string) (string, []byte, error) { return "7", []byte(what), nil })
		if err != nil {
			t.Fatal(err)
		}
		const event = "id: 7\ndata: {}\n\n"
		if got, want := w.Body.String(), ": stream-open\n\n"+strings.Repeat(event, 10)+strings.Repeat(": keep-alive\n\n", 2)+"id: 7\ndata: \"last\"\n\n"; got != want {
			t.Errorf("got %s", got)
		}
	})
}
