package trace_test

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tributary-dev/tributary/trace"
)

func text(t *testing.T, raw json.RawMessage) string {
	t.Helper()
	var s string
	if err := json.Unmarshal(raw, &s); err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return s
}

func TestOutputThatComesAsIncrementsIsTheResult(t *testing.T) {
	t.Parallel()
	results, _, counts := written[trace.ToolResult](t, func(b *trace.Builder) {
		b.ToolResultDelta("nobody's", "x")
		for _, id := range []string{"own", "given"} {
			b.ToolCall(trace.ToolCall{ToolCallID: id})
			b.ToolResultDelta(id, "one \xf0\x9f")
			b.ToolResultDelta(id, "\x98\x80 two")
		}
		b.ToolResult(trace.ToolResult{ToolCallID: "own", Status: trace.ToolCompleted})
		b.ToolResult(trace.ToolResult{ToolCallID: "given", Output: json.RawMessage(`{"exit":1}`), Status: trace.ToolCompleted})
		b.ToolResultDelta("own", "late")
	})
	if string(results[0].Output) != `"one 😀 two"` || string(results[1].Output) != `{"exit":1}` || counts.Orphans != 2 {
		t.Errorf("%s, %s, %+v", results[0].Output, results[1].Output, counts)
	}
}

// A command that prints a million lines costs a small multiple of its output.
func TestAChattyCommandIsNotQuadratic(t *testing.T) {
	t.Parallel()
	const line, lines = "a line of output that says little\n", 100_000
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	progress, _, _ := written[trace.ToolResultProgress](t, func(b *trace.Builder) {
		b.ToolCall(trace.ToolCall{ToolCallID: "c"})
		for range lines {
			now = now.Add(10 * time.Microsecond)
			b.ToolResultDelta("c", line)
		}
	}, func(c *trace.Config) { c.Now = func() time.Time { return now } })
	size := 0
	for _, p := range progress {
		size += len(p.Output)
	}
	if most := 2 * lines * len(line); size > most || len(progress) < 4 {
		t.Errorf("%d records with %d bytes show %d bytes", len(progress), size, lines*len(line))
	}
	if last := text(t, progress[len(progress)-1].Output); !strings.HasSuffix(last, line) || !strings.HasPrefix(last, "…") {
		t.Errorf("the newest shows %.20q … %q", last, last[len(last)-20:])
	}
}

func TestOutputIsBounded(t *testing.T) {
	t.Parallel()
	results, _, counts := written[trace.ToolResult](t, func(b *trace.Builder) {
		b.ToolCall(trace.ToolCall{ToolCallID: "c"})
		for range 100 {
			b.ToolResultDelta("c", "0123456789")
		}
		b.ToolResult(trace.ToolResult{ToolCallID: "c"})
	}, func(c *trace.Config) { c.MaxEvent = 105 })
	if got := text(t, results[0].Output); len(got) > 105+60 || !strings.Contains(got, "cut by the gateway") || counts.Cut == 0 {
		t.Errorf("%q, %+v", got, counts)
	}
}

// A build that prints a line and then works for a minute shows that line.
func TestTheNewestOutputOfASilentCommandIsShown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, log := newTurn(func(c *trace.Config) { c.ShowWithin, c.Now = time.Second, time.Now })
		b.ToolCall(trace.ToolCall{ToolCallID: "c"})
		b.ToolResultDelta("c", "one\n")
		b.ToolResultDelta("c", "two\n")
		last := b.Activity().Last
		time.Sleep(time.Minute)
		synctest.Wait()
		var shown []string
		for _, e := range log.events {
			if p, ok := e.Payload.(trace.ToolResultProgress); ok {
				shown = append(shown, text(t, p.Output))
			}
		}
		if got := strings.Join(shown, "|"); got != "one\n|one\ntwo\n" {
			t.Errorf("shown was %q", got)
		}
		if b.Activity().Last != last {
			t.Error("showing output counts as a sign of life")
		}
		b.ToolResultDelta("c", "three")
		b.ToolResultDelta("c", "four")
		if err := b.Finish(trace.Stop{}); err != nil {
			t.Fatal(err)
		}
		n := len(log.events)
		time.Sleep(time.Minute)
		synctest.Wait()
		if len(log.events) != n {
			t.Error("a timer wrote after the stop")
		}
	})
}
