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
	"testing/iotest"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/tributary-dev/tributary/access"
	"github.com/tributary-dev/tributary/adapter/echo"
	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/eventlog/memlog"
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
	var fault *bodyError
	if !errors.As(err, &fault) || fault.status != http.StatusBadRequest && fault.status != http.StatusRequestEntityTooLarge {
		t.Errorf("not a fault of the body: %v", err)
		return
	}
	checkSentence(t, sentence(fault.Error()))
}

// FuzzReadChat reads bodies under small limits: what is kept fits them, every
// error says what is wrong with the body, and the pieces in which a body comes do
// not matter.
func FuzzReadChat(f *testing.F) {
	for _, s := range []string{
		`{"id":"c","messages":[{"id":"u1","role":"user","parts":[{"type":"text","text":"hi"}]}]}`,
		`{"message":{"parts":[{"type":"file","url":"data:,"}],"role":"user"}}`,
		`{"id":"c","trigger":"regenerate-message","messageId":"m","messages":[{"role":"user","content":"a"},{"role":"assistant","id":"m","parts":[{"type":"tool-x","toolCallId":"t","state":"approval-responded","approval":{"id":"a","approved":true}}]}]}`,
		`{"messages":[{"role":"assistant","parts":[{"type":"tool-AskUser","toolCallId":"q","state":"output-available","output":{"value":["a"]}},{"type":"dynamic-tool","toolName":"t","state":"output-error","errorText":"x"}]}]}`,
		`{"a":[1e999,null,true,"\ud83d"],"a":{},"messages":[{"metadata":{"x":[[]]},"role":"user","parts":[]}]}`, `{"messages":[{"role":"user"},{}]}`, `[[[[`, `{"id":`, "{}{}", "\xff", "",
	} {
		f.Add([]byte(s))
	}
	small := limits{body: 16 << 10, kept: 4 << 10}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, most := range []limits{small, postLimits} {
			req, err := readChat(bytes.NewReader(data), most, nil)
			if err != nil {
				checkBodyFault(t, err)
			}
			again, slowErr := readChat(iotest.OneByteReader(bytes.NewReader(data)), most, nil)
			if (err == nil) != (slowErr == nil) || err == nil && !cmp.Equal(req, again, cmp.AllowUnexported(chatRequest{}, answeredMessage{}, answered{})) {
				t.Errorf("at once: %+v, %v; byte by byte: %+v, %v", req, err, again, slowErr)
			}
			if err != nil || req.User == nil {
				continue
			}
			kept := len(req.User.Metadata)
			for _, p := range req.User.Parts {
				kept += len(p.Text) + len(p.URL) + len(p.Filename) + len(p.MediaType)
			}
			// Metadata is written again, and then < takes six bytes.
			if kept > 6*most.kept || len(req.User.ID) > 1000 {
				t.Errorf("%d bytes are kept of %d", kept, most.kept)
			}
		}
	})
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
		streams := uistream.NewBroadcaster(uistream.BroadcasterConfig{})
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
