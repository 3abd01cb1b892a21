package codex_test

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/adapter/codex"
	"github.com/tributary-dev/tributary/internal/replay/replaytest"
)

func FuzzDecode(f *testing.F) {
	for _, lines := range []string{
		begin + done(`{"type":"agentMessage","id":"m","text":"a"}`) + end,
		begin + started(`{"type":"fileChange","id":"c","changes":[{"path":"/a","kind":{"type":"add"},"diff":"x"}]}`) + asks(1, "item/fileChange/requestApproval", `"itemId":"c"`) + told(`{"id":1,"result":{"decision":"accept"}}`) + done(`{"type":"fileChange","id":"c","changes":[{"path":"/a","kind":"delete","diff":"x"}],"status":"completed"}`) + end,
		begin + asks(1, "mcpServer/elicitation/request", `"requestedSchema":{"properties":{"a":{"type":"array"}}}`) + told(`{"id":1,"result":{"action":"accept","content":{"a":[1]}}}`) + out("error", `"willRetry":true`) + end,
		begin + asks(1, "item/tool/requestUserInput", `"questions":[{"id":"q"}]`) + out("serverRequest/resolved", `"requestId":1`) + told(`{"method":"turn/interrupt","params":{}}`) + end,
		`{"type":"thread.started","thread_id":"t"}` + "\n" + `{"type":"turn.started"}` + "\n" + `{"type":"item.completed","item":{"id":"i","type":"command_execution","exit_code":1}}` + "\n" + `{"type":"turn.failed","error":{"message":"m"}}`,
	} {
		f.Add([]byte(lines))
	}
	f.Fuzz(func(t *testing.T, recording []byte) {
		if err := replaytest.Whatever(t, codex.NewDecoder(codex.Options{}), recording); err != nil {
			t.Error(err)
		}
	})
}

// TestLinesLostDoubledAndMoved plays recordings that were damaged line by line.
func TestLinesLostDoubledAndMoved(t *testing.T) {
	t.Parallel()
	for name, recording := range recorded(t) {
		lines := bytes.SplitAfter(recording, []byte("\n"))
		for seed := range uint64(6) {
			r := rand.New(rand.NewPCG(seed, 1))
			var damaged []byte
			for i := range lines {
				switch r.IntN(12) {
				case 0: // lost
				case 1: // doubled
					damaged = append(append(damaged, lines[i]...), lines[i]...)
				case 2: // moved
					damaged = append(append(damaged, lines[r.IntN(len(lines))]...), lines[i]...)
				case 3: // cut
					damaged = append(append(damaged, lines[i][:r.IntN(len(lines[i])+1)]...), '\n')
				default:
					damaged = append(damaged, lines[i]...)
				}
			}
			if err := replaytest.Whatever(t, codex.NewDecoder(codex.Options{}), damaged); err != nil {
				t.Errorf("%s, damaged with seed %d: %v", name, seed, err)
			}
		}
	}
}

// TestTheAgentsHalfAloneIsEnough: a recording without what the agent was told shows the
// same words.
func TestTheAgentsHalfAloneIsEnough(t *testing.T) {
	t.Parallel()
	for name, recording := range recorded(t) {
		var half []byte
		for line := range bytes.Lines(recording) {
			if !bytes.Contains(line, []byte(`"dir":"in"`)) {
				half = append(half, line...)
			}
		}
		all, alone := play(t, recording), play(t, half)
		if len(all.Turns) != len(alone.Turns) {
			t.Errorf("%s has %d turns, and %d with the agent's half alone", name, len(all.Turns), len(alone.Turns))
			continue
		}
		for i := range all.Turns {
			// A notice of the time before the turn is outside of it where nothing began the turn.
			warning := strings.NewReplacer("notes warning ", "", "notes retry ", "")
			a, b := warning.Replace(shown(replaytest.Events(all.Turns[i]))), warning.Replace(shown(replaytest.Events(alone.Turns[i])))
			if a != b {
				t.Errorf("%s, turn %d:\n%s\n%s", name, i+1, a, b)
			}
		}
	}
}
