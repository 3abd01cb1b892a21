package uistream_test

import (
	"testing"

	"github.com/tributary-dev/tributary/uistream"
)

func TestParseProfile(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{"": "6", "6": "6", "5": "5", "7": "7", "7.0.173": "7.0.163", "6.0.0": "6.0.0", "5.0.277": "5.0.277"} {
		p, err := uistream.ParseProfile(in)
		if err != nil || p.String() != want {
			t.Errorf("ParseProfile(%q) = %v, %v; want %s", in, p, err, want)
		}
	}
	for _, in := range []string{"4", "8", "7.0", "7.x.1", "7.0.173.1", " 7", "07", "+7", "react", "7.0.-1", "7.0.99999999999"} {
		if p, err := uistream.ParseProfile(in); err == nil {
			t.Errorf("ParseProfile(%q) = %v, want an error", in, p)
		}
	}
	if (uistream.Profile{}) != profile(t, "") || (uistream.Profile{}) != profile(t, "6") {
		t.Error("the zero profile is not the default")
	}
}

// The rows were checked against the schemas of the six clients.
func TestTableBySinceAndField(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		client, chunk string
		ok            bool
	}{
		{"", `{"type":"finish"}`, true},
		{"", `{"type":"finish","finishReason":"stop"}`, false}, // 5.0.0 rejects it
		{"5", `{"type":"finish","finishReason":"stop"}`, false},
		{"5.0.217", `{"type":"finish","finishReason":"stop"}`, true},
		{"5.0.217", `{"type":"finish","finishReason":"unknown"}`, true},
		{"6.0.1", `{"type":"finish","finishReason":"unknown"}`, false},
		{"7", `{"type":"finish","finishReason":"end_turn"}`, false},
		{"7.0.148", `{"type":"finish","finishReason":"interrupted"}`, false},
		{"7.0.149", `{"type":"finish","finishReason":"interrupted"}`, true},
		{"5.0.277", `{"type":"tool-approval-request","toolCallId":"c","approvalId":"a"}`, false},
		{"", `{"type":"tool-approval-request","toolCallId":"c","approvalId":"a"}`, true},
		{"", `{"type":"tool-output-denied","toolCallId":"c"}`, true},
		{"", `{"type":"tool-approval-response","approvalId":"a","approved":true}`, false},
		{"6.0.323", `{"type":"tool-approval-response","approvalId":"a","approved":true}`, false},
		{"7", `{"type":"tool-approval-response","approvalId":"a","approved":true}`, true},
		{"7.0.69", `{"type":"reset-step"}`, false},
		{"7.0.70", `{"type":"reset-step"}`, true},
		{"7.1.0", `{"type":"reset-step"}`, true},
		{"7.0.162", `{"type":"steering-message","id":"x","parts":[]}`, false},
		{"7.0.163", `{"type":"steering-message","id":"x","parts":[]}`, true},
		{"6.0.0", `{"type":"abort","reason":"x"}`, false},
		{"6.0.231", `{"type":"abort","reason":"x"}`, true},
		{"7", `{"type":"abort","reason":"x"}`, true},
		{"6.0.1", `{"type":"tool-output-available","toolCallId":"c","output":null,"preliminary":true}`, true},
		{"", `{"type":"tool-output-available","toolCallId":"c","output":null,"preliminary":true}`, false},
		{"", `{"type":"tool-output-available","toolCallId":"c"}`, false},
		{"", `{"type":"tool-input-start","toolCallId":"c","toolName":"t","title":"T"}`, false},
		{"6.0.1", `{"type":"tool-input-start","toolCallId":"c","toolName":"t","title":"T"}`, true},
		{"7.0.173", `{"type":"tool-input-start","toolCallId":"c","toolName":"t","title":null}`, false},
		{"", `{"type":"start","messageId":null}`, false},
		{"", `{"type":"start","messageId":1}`, false},
		{"", `{"type":"start","messageMetadata":null}`, true},
		{"", `{"type":"text-start","id":"a","providerMetadata":{"a":{"b":1}}}`, true},
		{"", `{"type":"text-start","id":"a","providerMetadata":{"a":1}}`, false},
		{"", `{"type":"data-x","data":null}`, true},
		{"", `{"type":"data-x","id":"1"}`, false},
		{"", `{"type":"data-x","data":1,"extra":1}`, false},
		{"7.0.173", `{"type":"ping"}`, false},
		{"", `{"type":"error","errorText":""}`, true},
		{"", "{\"type\":\"start\",\n\"messageId\":\"a\"}", false},
		{"", `[]`, false},
		{"", `{`, false},
	} {
		if err := profile(t, c.client).Check([]byte(c.chunk)); (err == nil) != c.ok {
			t.Errorf("client %q: %s: got %v, want ok %v", c.client, c.chunk, err, c.ok)
		}
	}
}
