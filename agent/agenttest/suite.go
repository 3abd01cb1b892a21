package agenttest

import (
	"encoding/json"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/trace"
)

// Ability is something that the suite asks an agent for, by a prompt.
type Ability string

// The abilities. A test whose ability has no prompt is skipped, and says so. A fault
// without a prompt (Die to Rich) fails the suite, unless Suite.Without gives a reason.
const (
	Text       Ability = "text"       // some text; required
	Slow       Ability = "slow"       // talks long enough to be stopped, a second or more
	Permission Ability = "permission" // a tool call that needs permission
	Question   Ability = "question"   // a question with choices; the agent says what was answered
	Tell       Ability = "tell"       // tells the agent the Word
	Recall     Ability = "recall"     // makes it say the Word
	Steer      Ability = "steer"      // sent into the turn of Slow, makes the agent say the Word
	Die        Ability = "die"        // the agent's process ends in the middle of the turn
	Garbage    Ability = "garbage"    // lines that are no messages, beside some text
	Half       Ability = "half"       // the agent's process ends in the middle of a message
	Huge       Ability = "huge"       // a message of 5 or 50 MB; see HugeText
	Rich       Ability = "rich"       // reasoning, text, a tool call that needs permission, text; see Suite.Cut
)

// WithoutFaults gives one reason why no fault is played.
func WithoutFaults(reason string) map[Ability]string {
	return map[Ability]string{Die: reason, Garbage: reason, Half: reason, Huge: reason, Rich: reason}
}

// Suite says how an adapter is tested.
type Suite struct {
	// Open returns the runtime under test.
	Open func(testing.TB) agent.Runtime
	// Config is what sessions are opened with; nil is an empty directory.
	Config func(testing.TB) agent.Config
	// Prompts are what makes the agent do things.
	Prompts map[Ability]string
	// Without says of faults that have no prompt why the agent cannot have them.
	Without map[Ability]string
	// Cut returns the runtime under test with an agent whose messages pass through the Cut.
	// The agent dies at every point of the turn of Rich.
	Cut func(testing.TB, *Cut) agent.Runtime
	// EndsByExit says that the end of the agent's process ends a turn, and no message does.
	EndsByExit bool
	// Runs returns the input with which the tool of the prompt Permission has run, or nil if
	// the tool has not run. Runs goes by the words of the fake agent, or by a file that the
	// tool leaves behind. The policy must have judged each field of the input. A suite with
	// the prompt Permission needs Runs.
	Runs func(testing.TB, []trace.Event) json.RawMessage
	// Decoder makes the agent's Decoder, which plays a recording of the messages of a live
	// turn; nil where the agent has no protocol that passes through package agentkit.
	Decoder func() agent.Decoder
	// AsWritten is for an application, which gets the answers of people as they were written.
	AsWritten bool
	// Word is what the agent remembers, see Tell, Recall and Steer.
	Word string
	// Turns are further prompts, each of which must give a well-formed turn.
	Turns []string
	// Bound is how long anything may take before it counts as hung; 30 seconds if zero.
	Bound time.Duration

	hung *atomic.Bool // a Prompt did not return
}

// Run tests an adapter. The test it runs in must not be parallel.
func Run(t *testing.T, s Suite) {
	t.Helper()
	if s.Bound == 0 {
		s.Bound = 30 * time.Second
	}
	s.hung = &atomic.Bool{}
	if s.Prompts[Text] == "" {
		t.Fatal("agenttest: the suite needs a prompt for Text")
	}
	for _, c := range []struct {
		name  string
		needs []Ability
		test  func(*testing.T, Suite)
	}{
		{"one turn", nil, oneTurn},
		{"two turns", nil, twoTurns},
		{"unicode prompt", nil, unicodePrompt},
		{"further turns", nil, furtherTurns},
		{"canceled before it began", nil, canceledBefore},
		{"close twice", nil, closeTwice},
		{"prompt after close", nil, promptAfterClose},
		{"cancel", []Ability{Slow}, cancelTurn},
		{"stop at once", []Ability{Slow}, stopAtOnce},
		{"close during prompt", []Ability{Slow}, closeDuringPrompt},
		{"permission allowed", []Ability{Permission}, permissionAllowed},
		{"permission denied", []Ability{Permission}, permissionDenied},
		{"policy allows", []Ability{Permission}, policyAllows},
		{"policy denies", []Ability{Permission}, policyDenies},
		{"cancel while permission waits", []Ability{Permission}, cancelPermission},
		{"question", []Ability{Question}, question},
		{"cancel while question waits", []Ability{Question}, cancelQuestion},
		{"resume", []Ability{Tell, Recall}, resume},
		{"rewind", []Ability{Tell, Recall}, rewind},
		{"steer", []Ability{Slow, Steer}, steer},
		{"die", []Ability{Die}, die},
		{"half a message", []Ability{Half}, halfMessage},
		{"garbage", []Ability{Garbage}, garbage},
		{"huge message", []Ability{Huge}, hugeMessage},
		{"die at every point", []Ability{Rich}, dieAtEveryPoint},
		{"recording of a permission", []Ability{Permission}, recordedPermission},
		{"recording of a question", []Ability{Question}, recordedQuestion},
	} {
		if s.hung.Load() {
			t.Fatalf("the suite stops before %q, because a Prompt did not return within %s: each further test would wait as long", c.name, s.Bound)
		}
		t.Run(c.name, func(t *testing.T) {
			s.demand(t, c.needs)
			before := goleak.IgnoreCurrent()
			// Registered before the session's own Cleanup, so it runs after it.
			t.Cleanup(func() { goleak.VerifyNone(t, before) })
			c.test(t, s)
		})
	}
}

// demand skips a test whose ability has no prompt. A fault needs a reason for that.
func (s Suite) demand(t *testing.T, needs []Ability) {
	t.Helper()
	faults := WithoutFaults("")
	for _, a := range needs {
		if s.Prompts[a] != "" {
			continue
		}
		if _, fault := faults[a]; fault && s.Without[a] == "" {
			t.Fatalf("the suite has no prompt for %s, and Without does not say why", a)
		}
		t.Skipf("not tested: the suite has no prompt for %s %s", a, s.Without[a])
	}
}
