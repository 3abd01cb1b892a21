package gateway_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tributary-dev/tributary/access"
	"github.com/tributary-dev/tributary/eventlog/memlog"
	"github.com/tributary-dev/tributary/gateway"
	"github.com/tributary-dev/tributary/session"
)

// goodFor sends a request of somebody whose token counts for so long; zero: for ever.
func goodFor(t *testing.T, h http.Handler, token time.Duration, method, path, body string, headers ...string) (*answer, <-chan struct{}) {
	t.Helper()
	p := access.Principal{ID: "ada", Name: "ada", Role: access.Admin}
	if token != 0 {
		p.Expires = time.Now().Add(token)
	}
	r, err := http.NewRequestWithContext(access.With(t.Context(), p), method, path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w, done := newAnswer(), make(chan struct{})
	go func() {
		defer close(done)
		h.ServeHTTP(w, r)
	}()
	return w, done
}

func newExpiryHandler(t *testing.T, change func(*session.Options)) (http.Handler, func()) {
	t.Helper()
	return newHandler(t, memlog.New(), change, func(o *gateway.Options) {
		o.Guard = func(next http.Handler) http.Handler { return next }
	})
}

const expiredEnd = `data: {"type":"error","errorText":"Your sign-in has expired: sign in again to see the rest of the answer."}` + "\n\n"

// A stream ends in the regular way when its token expires, with a sentence that the
// user sees. Its turn goes on, and a user who signs in again gets the rest.
//
//evidence:for promise-jwt
func TestB05_ExpiryEndsAStreamNotItsTurn(t *testing.T) {
	for _, ending := range []session.OnDisconnect{session.Grace, session.Stop, session.Detach} {
		t.Run(string(ending), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h, end := newExpiryHandler(t, func(o *session.Options) { slowly(o); o.OnDisconnect = ending })
				defer end()
				from := time.Now()
				long, _ := goodFor(t, h, 0, "POST", "/api/chat", submit("other", "u1", "hello"))
				chat, chatDone := goodFor(t, h, 3*time.Second, "POST", "/api/chat", submit("s", "u1", "slow"))
				synctest.Wait()
				resumed, resumedDone := goodFor(t, h, 4*time.Second, "GET", "/api/chat/s/stream", "")
				queued, queuedDone := goodFor(t, h, 2*time.Second, "POST", "/api/chat", submit("s", "u2", "hello"))
				<-queuedDone
				if past := time.Since(from); past != 2*time.Second || !strings.HasSuffix(queued.text(), "data: [DONE]\n\n") || !strings.Contains(queued.text(), expiredEnd) {
					t.Errorf("a prompt that waits: after %s\n%s", past, queued.text())
				}
				<-chatDone
				if past := time.Since(from); past != 3*time.Second {
					t.Errorf("the stream ended after %s", past)
				}
				<-resumedDone
				if past := time.Since(from); past != 4*time.Second {
					t.Errorf("the stream of who came back ended after %s", past)
				}
				for name, w := range map[string]*answer{"chat": chat, "resume": resumed} {
					text := w.text()
					_, last, found := strings.Cut(text, expiredEnd)
					if w.status != 200 || !found || !strings.Contains(text, `"type":"text-delta"`) || !strings.Contains(last, `data: {"type":"finish"`) || !strings.HasSuffix(last, "data: [DONE]\n\n") {
						t.Errorf("%s: %d\n%s", name, w.status, text)
					}
				}
				if strings.Contains(long.text(), expiredEnd) {
					t.Error("a token without an end has expired")
				}
				time.Sleep(2 * time.Minute)
				// The turn has run to its end, and so has the turn that waited behind it.
				got, done := goodFor(t, h, time.Hour, "GET", "/api/sessions/s/messages", "")
				<-done
				if text := got.text(); strings.Count(text, `"role":"assistant"`) != 2 || strings.Contains(text, "canceled") || strings.Contains(text, "not_run") {
					t.Errorf("the history is %s", text)
				}
			})
		})
	}
}

// A dismissed client gets the rest, however late it comes back.
func TestB05_TheRestIsKeptForWhoSignsInAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, end := newExpiryHandler(t, slowly)
		defer end()
		_, done := goodFor(t, h, 3*time.Second, "POST", "/api/chat", submit("s", "u1", "slow"))
		<-done
		time.Sleep(10 * time.Minute)
		again, done := goodFor(t, h, time.Hour, "GET", "/api/chat/s/stream", "")
		<-done
		if text := again.text(); again.status != 200 || !strings.HasSuffix(text, "data: [DONE]\n\n") || strings.Contains(text, "expired") || !strings.Contains(text, `"type":"finish"`) {
			t.Errorf("%d\n%s", again.status, text)
		}
	})
}

func TestB05_ExpiryEndsTraceAndEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, end := newExpiryHandler(t, nil)
		defer end()
		_, done := goodFor(t, h, 0, "POST", "/api/chat", submit("s", "u1", "hello"))
		<-done
		for _, path := range []string{"/api/sessions/s/trace", "/api/sessions/s/events"} {
			from := time.Now()
			w, done := goodFor(t, h, 40*time.Second, "GET", path, "", "Accept", "text/event-stream")
			<-done
			const last = `data: {"error":"Your sign-in has expired: sign in again to see the rest of the answer.","code":"token_expired"}` + "\n\n"
			if past := time.Since(from); past != 40*time.Second || !strings.HasSuffix(w.text(), last) {
				t.Errorf("%s ended after %s with\n%s", path, past, w.text())
			}
		}
	})
}
