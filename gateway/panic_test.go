package gateway_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/tributary-dev/tributary/eventlog/memlog"
	"github.com/tributary-dev/tributary/session"
)

// breaking is a response that panics once the stream has begun.
type breaking struct{ *httptest.ResponseRecorder }

func (b breaking) Write(p []byte) (int, error) {
	if strings.Contains(string(p), "text-delta") {
		panic("a bug")
	}
	return b.ResponseRecorder.Write(p)
}

// A handler that panics leaves its turn all the same: a turn without subscribers ends.
func TestAPanicLeavesNoSubscriberBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		handler, closeAll := newHandler(t, memlog.New(), func(o *session.Options) { slowly(o); o.OnDisconnect = session.Stop }, nil)
		defer closeAll()
		func() {
			defer func() {
				if recover() == nil {
					t.Error("the handler did not panic")
				}
			}()
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/api/chat", strings.NewReader(submit("c1", "u1", "slow")))
			handler.ServeHTTP(breaking{httptest.NewRecorder()}, r)
		}()
		synctest.Wait()
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/api/sessions/c1", nil))
		if body := w.Body.String(); !strings.Contains(body, `"state":"idle"`) {
			t.Errorf("the turn runs on for a subscriber that is gone: %s", body)
		}
	})
}
