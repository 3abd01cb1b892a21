package replaytest

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/internal/testkit/replay"
	"github.com/tributary-dev/tributary/trace"
)

// Recordings reads those of a directory, by name.
func Recordings(t testing.TB, dir string) map[string][]byte {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no recordings in %s (%v)", dir, err)
	}
	all := map[string][]byte{}
	for _, f := range files {
		data, err := os.ReadFile(f) //nolint:gosec // a recording of the tests'
		if err != nil {
			t.Fatal(err)
		}
		all[strings.TrimSuffix(filepath.Base(f), ".jsonl")] = data
	}
	return all
}

// Played is what became of a recording.
type Played struct {
	replay.Summary
	Records []trace.Record
	// Turns are the records of each turn, in the order in which the turns began.
	Turns [][]trace.Record
}

// Play runs a recording through a new decoder. Every turn must obey the grammar.
func Play(t testing.TB, d agent.Decoder, recording []byte) Played {
	t.Helper()
	p, err := run(t, d, recording)
	if err := errors.Join(err, p.check()); err != nil {
		t.Fatal(err)
	}
	return p
}

// AnyInput runs any bytes through a new decoder. The result is an error if a turn does not obey the
// grammar.
func AnyInput(t testing.TB, d agent.Decoder, recording []byte) error {
	t.Helper()
	p, _ := run(t, d, recording) // most inputs cannot be read
	return p.check()
}

func run(t testing.TB, d agent.Decoder, recording []byte) (p Played, err error) {
	t.Helper()
	at := map[string]int{}
	p.Summary, err = replay.Run(t.Context(), d, bytes.NewReader(recording), func(r trace.Record) error {
		p.Records = append(p.Records, r)
		if r.Turn == "" {
			return nil
		}
		i, begun := at[r.Turn]
		if !begun {
			i = len(p.Turns)
			at[r.Turn] = i
			p.Turns = append(p.Turns, nil)
		}
		p.Turns[i] = append(p.Turns[i], r)
		return nil
	})
	return p, err //nolint:wrapcheck // the test says what it played
}

func (p Played) check() error {
	var all []error
	for _, records := range p.Turns {
		all = append(all, agenttest.CheckTurn(Events(records)))
	}
	return errors.Join(all...)
}

// Events are what records hold.
func Events(records []trace.Record) []trace.Event {
	var all []trace.Event
	for _, r := range records {
		all = append(all, r.Event)
	}
	return all
}
