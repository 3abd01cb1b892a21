package uistream_test

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tributary-dev/tributary/trace"
	"github.com/tributary-dev/tributary/uistream"
)

// A client that gets the rest of a message, or its last one, gets a response of its own,
// without open parts of the earlier response. The client would throw at the end of a part
// whose start it has not seen there.
func TestTheRestOfAMessageBeginsWhatItGoesOnWith(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		records, o := drawTurn(t), drawOptions(t)
		for _, r := range records {
			from := r.Seq
			switch r.Payload.(type) {
			case trace.Pause: // whoever answered
				from++
			case trace.Reply: // whoever resumes
			default:
				continue
			}
			for _, window := range []int{0, 1} {
				bc := uistream.NewBroadcaster(uistream.BroadcasterConfig{Window: window})
				key := turn
				key.Options = o
				got, err := serve(t.Context(), bc, key, newFeed(records...), uistream.Span{From: from, SkipPausesThrough: 1 << 60})
				bc.Close()
				if err != nil {
					t.Fatal(err)
				}
				if fault := open(got); fault != "" {
					t.Fatalf("from %d (window %d): %s\n%s", from, window, fault, got)
				}
			}
		}
	})
}

// open tells which chunk of a stream belongs to a part that was not begun in it.
func open(stream string) string {
	begun := map[string]bool{}
	for line := range strings.Lines(stream) {
		data, is := strings.CutPrefix(line, "data: {")
		if !is {
			continue
		}
		var c struct{ Type, ID string }
		if json.Unmarshal([]byte("{"+data), &c) != nil {
			return "no JSON: " + line
		}
		kind, phase, _ := strings.Cut(c.Type, "-")
		if kind != "text" && kind != "reasoning" {
			continue
		}
		part := kind + " " + c.ID
		if phase != "start" && !begun[part] {
			return line
		}
		begun[part] = phase != "end"
	}
	return ""
}
