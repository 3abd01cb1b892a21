package replay_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/internal/testkit/replay"
	"github.com/tributary-dev/tributary/trace"
)

// several is the decoder of a protocol in which turns run beside each other: "X+" begins
// the turn X, "X text" says something in it, "X." ends it. Every turn gets a word with
// each message. A turn that is open at the end of the messages ends as failed.
type several struct {
	turns map[string]*trace.Builder
	order []string
	words int
}

func (d *several) Decode(m agent.Message, t agent.Turns) ([]agent.Effect, error) {
	var text string
	if err := json.Unmarshal(m.Data, &text); err != nil {
		return nil, err
	}
	name, rest := text[:1], text[1:]
	switch rest {
	case "+":
		d.turns[name] = t.Begin(agent.TurnInfo{Concurrent: len(d.order) > 0})
		d.order = append(d.order, name)
	case ".":
		d.turns[name].End(trace.Stop{Reason: name, Outcome: trace.OutcomeCompleted})
		d.order = slices.DeleteFunc(d.order, func(o string) bool { return o == name })
	}
	for _, o := range d.order {
		d.words++
		d.turns[o].Message(fmt.Sprint(d.words), fmt.Sprintf("%s%d", o, d.words))
	}
	return nil, nil
}

// AtEnd ends what is open.
func (d *several) AtEnd(agent.Turns) {
	for _, o := range d.order {
		d.turns[o].End(trace.Stop{Reason: o, Outcome: trace.OutcomeFailed})
	}
}

func TestTurnsBesideEachOther(t *testing.T) {
	t.Parallel()
	play := func(recording ...string) string {
		var all []string
		d := &several{turns: map[string]*trace.Builder{}}
		_, err := replay.Run(t.Context(), d, strings.NewReader(strings.Join(recording, "\n")), func(r trace.Record) error {
			if int(r.Seq) != len(all)+1 {
				t.Errorf("record %d is the %dth", r.Seq, len(all)+1)
			}
			text := string(r.Payload.Kind())
			switch p := r.Payload.(type) {
			case trace.Message:
				text = p.Text
			case trace.Stop:
				text = fmt.Sprintf("stop %s %s", p.Reason, p.Outcome)
			}
			all = append(all, r.Turn+" "+text)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		var told []string
		for _, line := range all {
			if _, text, _ := strings.Cut(line, " "); strings.HasPrefix(text, "stop") || len(text) < 4 {
				told = append(told, line)
			}
		}
		return strings.Join(told, "; ")
	}
	recording := []string{`"a+"`, `"b+"`, `"a say"`, `"c+"`, `"b."`, `"a."`, `"d+"`}
	want := "turn-1 a1; turn-1 a2; turn-2 b3; turn-1 a4; turn-2 b5; turn-1 a6; turn-2 b7; turn-3 c8; turn-1 a9; turn-3 c10; turn-2 stop b completed; " +
		"turn-3 c11; turn-1 stop a completed; turn-3 c12; turn-4 d13; turn-3 stop c failed; turn-4 stop d failed"
	for range 20 {
		if got := play(recording...); got != want {
			t.Fatalf("got  %s\nwant %s", got, want)
		}
	}
}

// The decoder gets no message that was lost on its way to the client.
func TestLostLines(t *testing.T) {
	t.Parallel()
	d, _, sum, err := run(t, `{"t":1,"dir":"s2c","msg":"say a"}`+"\n"+`{"t":2,"dir":"s2c","lost":true,"msg":"say b"}`+"\n"+`{"t":3,"dir":"c2s","msg":"say c"}`+"\n"+`{"t":4,"dir":"r2d","msg":"say d"}`+"\n"+`{"t":5,"dir":"http","method":"GET"}`)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{`out s2c "say a"`, `in c2s "say c"`, `out r2d "say d"`, `out http {"t":5,"dir":"http","method":"GET"}`}
	if !slices.Equal(d.heard, want) || sum.Messages != 4 {
		t.Errorf("%q", d.heard)
	}
}
