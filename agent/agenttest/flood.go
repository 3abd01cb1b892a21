package agenttest

import (
	"context"
	"fmt"
	"runtime"
	"testing"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/trace"
)

// Flood is what an agent writes that says the same again and again.
type Flood struct {
	Begin []agent.Message
	// Again returns the messages of the n-th time.
	Again func(n int) []agent.Message
}

const (
	// floodBytes is how much a flood writes, and mostKept what a Decoder and its turn may keep of it.
	floodBytes, mostKept = 16 << 20, 6 << 20
	// The bounds of a turn are as far below those of a gateway as the flood is below a long one.
	floodHeld, floodRecords, floodTurn = 1 << 20, 2000, floodBytes / 16
)

// Floods decodes each flood as a session does. A flood ends when its turn has exceeded a bound, or
// else after many megabytes. Floods fails if they are in memory then. The test must not be
// parallel, because the heap is that of the process.
func Floods(t *testing.T, decoder func() agent.Decoder, floods map[string]Flood) {
	t.Helper()
	if testing.Short() {
		t.Skip("it takes many megabytes")
	}
	for name, f := range floods {
		t.Run(name, func(t *testing.T) {
			d, turns, before, sent := decoder(), &floodTurns{}, heap(), 0
			decode := func(messages []agent.Message) {
				for _, m := range messages {
					sent += len(m.Data)
					if _, err := d.Decode(m, turns); err != nil {
						t.Fatalf("%s: %v", fmt.Sprintf("%.300s", m.Data), err)
					}
					if turns.b != nil && m.Dir == agent.Out {
						turns.b.Heard(len(m.Data))
					}
					if turns.b != nil && turns.b.Over() {
						turns.end()
					}
				}
			}
			decode(f.Begin)
			for n := 0; sent < floodBytes && turns.exceeded == 0; n++ {
				decode(f.Again(n))
			}
			kept := heap() - before
			t.Logf("%d KB of %d KB are kept, the bound is %d", kept>>10, sent>>10, turns.exceeded)
			if kept > mostKept {
				t.Errorf("after %d KB of messages, %d KB are in memory, and the turn has exceeded the bound %d", sent>>10, kept>>10, turns.exceeded)
			}
			turns.end()
			runtime.KeepAlive(d)
		})
	}
}

func heap() int {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc) //nolint:gosec // no heap is that large
}

// floodTurns are turns with small bounds.
type floodTurns struct {
	b        *trace.Builder
	exceeded trace.Bound // of any turn
}

func (f *floodTurns) Prompted(trace.Prompt) *trace.Builder { return f.Begin(agent.TurnInfo{}) }
func (f *floodTurns) Current() *trace.Builder              { return f.b }
func (f *floodTurns) Note(trace.Payload)                   {}

func (f *floodTurns) Begin(agent.TurnInfo) *trace.Builder {
	f.end()
	f.b = trace.NewBuilder(context.Background(), trace.Config{
		Turn: "turn", Append: func(context.Context, []trace.Event) error { return nil },
		MaxEvent: floodHeld, MaxBytes: floodTurn, MaxRecords: floodRecords, MaxHeld: floodHeld,
		Exceeded: func(b trace.Bound) { f.exceeded = b },
	})
	return f.b
}

func (f *floodTurns) end() {
	if f.b != nil {
		_ = f.b.Finish(trace.Stop{Outcome: trace.OutcomeCompleted}) // no append fails
	}
	f.b = nil
}
