package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/tributary-dev/tributary/access"
	"github.com/tributary-dev/tributary/adapter/echo"
	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/eventlog/memlog"
	"github.com/tributary-dev/tributary/gateway/refusal"
	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/uistream"
)

// checkSentence checks what a user is shown.
func checkSentence(t *testing.T, s string) {
	t.Helper()
	if !utf8.ValidString(s) || len(s) > 410 || !strings.HasSuffix(s, ".") || strings.ContainsAny(s, "\r\n\x00") {
		t.Errorf("this is no sentence: %q", s)
	}
}

func checkBodyFault(t *testing.T, err error) {
	t.Helper()
	fault, ok := errors.AsType[*refusal.Error](err)
	if !ok || fault.Status != http.StatusBadRequest && fault.Status != http.StatusRequestEntityTooLarge {
		t.Errorf("not a fault of the body: %v", err)
		return
	}
	checkSentence(t, sentence(fault.Error()))
}

// FuzzReadJSON reads small bodies.
func FuzzReadJSON(f *testing.F) {
	for _, s := range []string{`{"option":"allow"}`, `{"approved":true,"reason":"x"}`, `{"approved":5}`, `{"x":1}`, `{"\ud800":1}`, `[]`, `{}{}`, `{"option":`, `null`, ``, strings.Repeat("[", 20000)} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var body struct {
			Option   string          `json:"option"`
			Approved *bool           `json:"approved"`
			Input    json.RawMessage `json:"updated_input"`
		}
		r := httptest.NewRequest(http.MethodPost, "/", bytes.NewReader(data))
		if err := readJSON(httptest.NewRecorder(), r, &body); err != nil {
			checkBodyFault(t, err)
		}
		if _, err := readValues(body.Input); err != nil {
			checkBodyFault(t, err)
		}
	})
}

// FuzzSentence makes sentences of whatever an error may say.
func FuzzSentence(f *testing.F) {
	for _, s := range []string{"", ".", "a", "é", "\xff", "a\nb\x00", strings.Repeat("é", 300), "ß is not"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) { checkSentence(t, sentence(s)) })
}

// FuzzRequest sends requests to all routes: none of them is answered by a 500, and
// none makes the gateway panic.
func FuzzRequest(f *testing.F) {
	for _, r := range []struct{ method, path, query, body string }{
		{"POST", "/api/chat", "client=7&agent=echo", `{"id":"c","messages":[{"id":"u1","role":"user","parts":[{"type":"text","text":"hi"}]}]}`},
		{"GET", "/api/chat", "client=5/c/stream", ""},
		{"GET", "/api/chat/c/stream", "turn=x", ""},
		{"POST", "/api/chat/c/stop", "", `{"turn":"x"}`},
		{"GET", "/api/sessions", "", ""},
		{"POST", "/api/sessions", "", `{"id":"a","title":"t"}`},
		{"DELETE", "/api/sessions/c", "", ""},
		{"GET", "/api/sessions/c/messages", "before=x&limit=3&client=7.0.1", ""},
		{"GET", "/api/sessions/c/trace", "after=3&deltas=1", ""},
		{"POST", "/api/sessions/c/permissions/x", "", `{"approved":true}`},
		{"POST", "/api/sessions/c/questions/x", "", `{"value":["a"]}`},
		{"PUT", "/api/../metrics", "%zz", ""},
		{"GET", "/readyz", "", ""},
		{"POST", "/api/sessions/c/chat", "channelId=1", `{"message":{"role":"user","content":"x"}}`},
	} {
		f.Add(r.method, r.path, r.query, []byte(r.body))
	}
	f.Fuzz(func(t *testing.T, method, path, query string, body []byte) {
		r := &http.Request{
			Method: method, URL: &url.URL{Path: path, RawQuery: query}, Host: "localhost", Header: http.Header{},
			Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		log := eventlog.New(memlog.New())
		hub, err := session.New(t.Context(), session.Options{Log: log, Default: "echo", Agents: map[string]session.Agent{"echo": {Runtime: echo.Runtime{}, Cwd: t.TempDir()}}})
		if err != nil {
			t.Fatal(err)
		}
		streams := uistream.NewStreams(uistream.Framing{})
		defer func() {
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			_ = hub.Close(ctx)
			streams.Close()
			_ = log.Close()
		}()
		if _, err := hub.Create(t.Context(), session.Spec{ID: "c"}); err != nil {
			t.Fatal(err)
		}
		w := httptest.NewRecorder()
		New(Options{Hub: hub, Streams: streams}).ServeHTTP(w, r.WithContext(access.With(t.Context(), access.Principal{ID: "ada", Role: access.Admin})))
		if w.Code >= 500 {
			t.Errorf("%s %q %q: %d %s", method, path, query, w.Code, w.Body)
		}
	})
}
