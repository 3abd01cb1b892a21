package uistream_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tributary-dev/tributary/trace"
	"github.com/tributary-dev/tributary/uistream"
)

// A client that gets the rest of a message, or its last one, gets a response of its own: the
// start of the message, and then all that the uninterrupted response has from there on. Where
// clients ask for the rest, the response has no open parts of the earlier one. The client would
// throw at the end of a part whose start it has not seen there.
func TestTheRestOfAMessageIsTheRestOfTheUninterruptedOne(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		records, o := drawTurn(t), drawOptions(t)
		first := slices.IndexFunc(records, func(r trace.Record) bool { return r.Payload.Kind() == trace.KindReply })
		drawn := rapid.IntRange(first, len(records)-1).Draw(t, "cut")
		for cut := first; cut < len(records); cut++ {
			_, paused := records[cut-1].Payload.(trace.Pause)                 // whoever answered
			asked := paused || records[cut].Payload.Kind() == trace.KindReply // whoever resumes
			if !asked && cut != drawn {
				continue
			}
			bc := uistream.NewStreams(uistream.Framing{})
			from := records[cut].Seq
			got, err := serve(t.Context(), bc, o, newFeed(records...), uistream.Span{From: from, SkipPausesThrough: 1 << 60})
			bc.Close()
			if err != nil {
				t.Fatal(err)
			}
			if want := restOf(records, cut, o, bc.Framing().For(o)); got != want {
				t.Fatalf("from %d the client gets\n%s\nthe uninterrupted message has there\n%s", from, got, want)
			}
			if fault := open(got); asked && fault != "" {
				t.Fatalf("from %d: %s\n%s", from, fault, got)
			}
		}
	})
}

// restOf is what the uninterrupted stream of a message has from a record on, behind the start of
// the message and of the text that is open there, where texts outlive a pause.
func restOf(records []trace.Record, cut int, o uistream.Options, f uistream.Framing) string {
	tr := uistream.NewTranslation(o)
	var rest []byte
	var message, text string
	begun := false
	for i, r := range records {
		chunks := tr.Translate(r)
		fresh := slices.ContainsFunc(chunks, func(c uistream.Chunk) bool { return c.Type() == "start" })
		if i == cut && !fresh && message != "" {
			begun, rest = true, f.AppendFrame(rest, uistream.Start{MessageID: message})
			if o.RFC && text != "" {
				rest = f.AppendFrame(rest, uistream.TextStart{ID: text})
			}
		}
		for _, c := range chunks {
			switch c := c.(type) { //nolint:gochecksumtype // the others begin and end nothing
			case uistream.Start:
				if begun {
					return string(rest) + "data: [DONE]\n\n"
				}
				message, begun = c.MessageID, i >= cut
			case uistream.TextStart:
				text = c.ID
			case uistream.TextEnd:
				text = ""
			}
			if begun || message == "" && i >= cut { // data may go before the start
				rest = f.AppendFrame(rest, c)
			}
		}
	}
	return string(rest) + "data: [DONE]\n\n"
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
