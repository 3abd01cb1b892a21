package openharness

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tributary-dev/tributary/trace"
)

// chunk is what the HTTP server of version 0.2 makes of an event: a chunk for the AI SDK,
// with faults. Texts and thoughts share one id, and a second one has no start. A tool that
// failed is an error of the whole answer.
type chunk struct {
	Type   string `json:"type"`
	Delta  string `json:"delta"`
	CallID string `json:"toolCallId"`
	Tool   string `json:"toolName"`
	Input  raw    `json:"input"`
	Output raw    `json:"output"`
	Error  string `json:"errorText"`
	Data   raw    `json:"data"`
}

// chunk takes a chunk. The end of the stream is the end of the turn.
func (d *Decoder) chunk(data raw) error {
	var c chunk
	if err := json.Unmarshal(data, &c); err != nil {
		return fmt.Errorf("this is no chunk of Open Harness: %w", err)
	}
	t := d.open(chunks)
	if t == nil {
		return nil
	}
	r := t.run("", "")
	called := t.called
	t.called = ""
	switch c.Type {
	case "step-start", "start-step":
		t.leave(r)
		t.begin(r, "", "")
	case "text-delta", "reasoning-delta":
		r.delta(c.Type == "reasoning-delta", c.Delta)
	case "text-end", "reasoning-end":
		r.close()
	case "tool-input-available":
		t.survived()
		r.close()
		t.call(c.CallID, c.Tool, c.Input)
		t.called = c.CallID
	case "tool-output-available":
		t.result(c.CallID, c.Output, "")
	case "tool-output-error":
		t.result(c.CallID, nil, c.Error)
	case "error":
		r.close()
		switch {
		case called != "":
			t.result(called, nil, c.Error)
		case t.stopped:
			t.end("stopped", trace.OutcomeCanceled, "")
		default:
			t.fail(c.Error, "")
		}
	case "abort":
		t.end("aborted", trace.OutcomeCanceled, "")
	default:
		if name, is := strings.CutPrefix(c.Type, "data-"); is {
			t.domain(name, c.Data)
		}
	}
	return nil
}
