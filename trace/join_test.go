package trace_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/trace"
)

// readAs is what a reader makes of events: each run of deltas of one part as one text, all else as it is.
func readAs(events []trace.Event) (all []string) {
	last := ""
	for _, e := range events {
		key, text := "", ""
		switch p := e.Payload.(type) { //nolint:gochecksumtype // the test has no others
		case trace.MessageDelta:
			key, text = "text "+p.Part, p.Delta
		case trace.ThoughtDelta:
			key, text = "thought "+p.Part, p.Delta
		case trace.ToolCallDelta:
			key, text = "input "+p.ToolCallID, p.Delta
		default:
			all, last = append(all, fmt.Sprintf("%s %v", e.ID, e)), ""
			continue
		}
		if key = fmt.Sprint(key, e.Actor, e.Parent, " "); key != last {
			all, last = append(all, key), key
		}
		all[len(all)-1] += text
	}
	return all
}

// However the events of a turn are cut into batches, each part has the same text with and without joining, and
// all else is the same in the same order.
func TestJoinedDeltasSayTheSame(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // a test
	for range 2000 {
		var events, joined []trace.Event
		for n := range 1 + random.IntN(60) {
			e := trace.Event{ID: fmt.Sprint(n), Actor: trace.Agent}
			part := fmt.Sprint(random.IntN(2))
			text := strings.Repeat("é", random.IntN(3)*random.IntN(400))
			switch random.IntN(12) {
			case 0:
				e.Payload = trace.Message{Part: part, Text: text}
			case 1:
				e.Payload = trace.ToolResultProgress{ToolCallID: part}
			case 2, 3:
				e.Payload = trace.ThoughtDelta{Part: part, Delta: text}
			case 4, 5:
				e.Payload = trace.ToolCallDelta{ToolCallID: part, Delta: text}
			case 6:
				e.Actor, e.Parent = trace.Subagent("c"), "0"
				fallthrough
			default:
				e.Payload = trace.MessageDelta{Part: part, Delta: text}
			}
			events = append(events, e)
		}
		for rest := slices.Clone(events); len(rest) > 0; {
			n := 1 + random.IntN(len(rest))
			joined = append(joined, trace.JoinDeltas(rest[:n])...)
			rest = rest[n:]
		}
		if got, want := readAs(joined), readAs(events); !slices.Equal(got, want) {
			t.Fatalf("joined:\n%q\nnot joined:\n%q", got, want)
		}
		for i, e := range joined {
			was := events[slices.IndexFunc(events, func(o trace.Event) bool { return o.ID == e.ID })]
			if d, is := e.Payload.(trace.MessageDelta); is && len(d.Delta) > 2<<10 {
				t.Fatalf("a joined delta has %d bytes", len(d.Delta))
			}
			if was.Payload = e.Payload; fmt.Sprint(was) != fmt.Sprint(e) {
				t.Fatalf("event %d became %v", i, e)
			}
		}
	}
}

// Deltas that wait together become as few records as their bound allows.
func TestDeltasOfOnePartAreJoined(t *testing.T) {
	t.Parallel()
	delta := func(bytes int) trace.Event {
		return trace.Event{Payload: trace.MessageDelta{Part: "a", Delta: strings.Repeat("x", bytes)}}
	}
	var words []trace.Event
	for range 1000 {
		words = append(words, delta(4))
	}
	for name, c := range map[string]struct {
		events []trace.Event
		want   []int
	}{
		"none":              {nil, nil},
		"one":               {[]trace.Event{delta(4)}, []int{4}},
		"words":             {words, []int{2048, 1952}},
		"a large one stays": {[]trace.Event{delta(1), delta(5000), delta(1), delta(2)}, []int{1, 5000, 3}},
		"empty ones":        {[]trace.Event{delta(0), delta(0), delta(3), delta(0)}, []int{3}},
	} {
		var got []int
		for _, e := range trace.JoinDeltas(c.events) {
			d, _ := e.Payload.(trace.MessageDelta)
			got = append(got, len(d.Delta))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: texts of %v bytes, want %v", name, got, c.want)
		}
	}
}
