package chatbody_test

import (
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/gateway/chatbody"
)

func TestAFrameHoldsABody(t *testing.T) {
	t.Parallel()
	f, err := chatbody.ReadFrame(strings.NewReader(`{"type":"send","requestId":"r","id":"c","trigger":"submit-message","messageId":"m","metadata":{"id":"x"},
		"headers":{"traceparent":"00-x","authorization":"Bearer y"},"body":{"agent":"a","channelId":"d","id":"other","interrupt":true},
		"messages":[{"id":"u","role":"user","parts":[{"type":"text","text":"hi"}]}]}`), nil)
	if err != nil || f.Type != chatbody.Send || f.RequestID != "r" || f.ID != "c" || f.Trigger != "submit-message" || f.MessageID != "m" ||
		f.Traceparent != "00-x" || f.Agent != "a" || f.Channel != "d" || !f.Interrupt || f.User == nil {
		t.Errorf("%v %+v", err, f)
	}
}

// The sender of a frame that is refused learns which one.
func TestAFaultyFrameStillHasItsRequest(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`{"type":"send","requestId":"r","id":`, `{"type":"send","requestId":"r","messages":7}`, `{"type":"send","requestId":"r","body":[]}`, `{"requestId":"r"}x`,
	} {
		if f, err := chatbody.ReadFrame(strings.NewReader(text), nil); err == nil || f.RequestID != "r" {
			t.Errorf("%s: %v %+v", text, err, f)
		}
	}
	if f, err := chatbody.ReadFrame(strings.NewReader(`{"requestId":"`+strings.Repeat("r", 1001)+`"}`), nil); err == nil || f.RequestID != "" {
		t.Errorf("a long id: %v", err)
	}
}
