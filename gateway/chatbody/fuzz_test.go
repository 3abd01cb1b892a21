package chatbody

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/tributary-dev/tributary/gateway/refusal"
)

// checkFault checks that an error is a sentence about the body.
func checkFault(t *testing.T, err error) {
	t.Helper()
	fault, ok := errors.AsType[*refusal.Error](err)
	if !ok || fault.Status != http.StatusBadRequest && fault.Status != http.StatusRequestEntityTooLarge {
		t.Errorf("not a fault of the body: %v", err)
		return
	}
	if s := fault.Sentence; !utf8.ValidString(s) || !strings.HasSuffix(s, ".") {
		t.Errorf("this is no sentence: %q", s)
	}
}

// checkForwarded checks that the gateway that has the session gets the request that was read.
func checkForwarded(t *testing.T, req Request) {
	t.Helper()
	text, err := json.Marshal(req)
	if err != nil {
		t.Fatal(err)
	}
	var there Request
	if err := json.Unmarshal(text, &there); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(req, there, cmp.AllowUnexported(Request{}, answeredMessage{}, Answer{})); d != "" {
		t.Errorf("the owner gets another request (-read +there):\n%s", d)
	}
}

// FuzzRead reads bodies under small limits. The kept part fits the limits, every error is a
// sentence about the body, and the pieces of the body do not matter.
func FuzzRead(f *testing.F) {
	for _, s := range []string{
		`{"id":"c","messages":[{"id":"u1","role":"user","parts":[{"type":"text","text":"hi"}]}]}`,
		`{"message":{"parts":[{"type":"file","url":"data:,"}],"role":"user"}}`,
		`{"id":"c","trigger":"regenerate-message","messageId":"m","messages":[{"role":"user","content":"a"},{"role":"assistant","id":"m","parts":[{"type":"tool-x","toolCallId":"t","state":"approval-responded","approval":{"id":"a","approved":true}}]}]}`,
		`{"messages":[{"role":"assistant","parts":[{"type":"tool-AskUser","toolCallId":"q","state":"output-available","output":{"value":["a"]}},{"type":"dynamic-tool","toolName":"t","state":"output-error","errorText":"x"}]}]}`,
		`{"a":[1e999,null,true,"\ud83d"],"a":{},"messages":[{"metadata":{"x":[[]]},"role":"user","parts":[]}]}`, `{"messages":[{"role":"user"},{}]}`, `[[[[`, `{"id":`, "{}{}", "\xff", "",
	} {
		f.Add([]byte(s))
	}
	type limits struct {
		body int64
		kept int
	}
	small, usual := limits{16 << 10, 4 << 10}, limits{MaxBytes, maxKept}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, most := range []limits{small, usual} {
			req, err := read(bytes.NewReader(data), most.body, most.kept, nil)
			if err != nil {
				checkFault(t, err)
			}
			again, slowErr := read(iotest.OneByteReader(bytes.NewReader(data)), most.body, most.kept, nil)
			if (err == nil) != (slowErr == nil) || err == nil && !cmp.Equal(req, again, cmp.AllowUnexported(Request{}, answeredMessage{}, Answer{})) {
				t.Errorf("at once: %+v, %v; byte by byte: %+v, %v", req, err, again, slowErr)
			}
			if err == nil {
				checkForwarded(t, req)
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

// FuzzReadFrame reads frames of the WebSocket under small limits. Every error is a sentence about
// the body, and the pieces of the frame do not matter.
func FuzzReadFrame(f *testing.F) {
	for _, s := range []string{
		`{"type":"send","requestId":"r","id":"c","trigger":"submit-message","messages":[{"id":"u1","role":"user","parts":[{"type":"text","text":"hi"}]}],"headers":{"traceparent":"x"},"body":{"agent":"a","interrupt":true},"metadata":{}}`,
		`{"type":"resume","requestId":"r","id":"c","headers":{},"body":{}}`, `{"type":"abort","requestId":"r"}`, `{"requestId":7}`, `{"body":[]}`, `{"headers":{"a":[{}]}}`, "{}{}", "\xff", "",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		const most, kept = 16 << 10, 4 << 10
		one, err := readFrame(bytes.NewReader(data), most, kept, nil)
		if err != nil {
			checkFault(t, err)
		}
		again, slowErr := readFrame(iotest.OneByteReader(bytes.NewReader(data)), most, kept, nil)
		same := cmp.AllowUnexported(Request{}, answeredMessage{}, Answer{})
		if (err == nil) != (slowErr == nil) || err == nil && !cmp.Equal(one, again, same) {
			t.Errorf("at once: %+v, %v; byte by byte: %+v, %v", one, err, again, slowErr)
		}
		if len(one.RequestID) > maxRequestID {
			t.Errorf("the id of the request has %d bytes", len(one.RequestID))
		}
	})
}
