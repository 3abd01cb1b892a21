package agenttest

import (
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tributary-dev/tributary/agent"
)

// Ability is something that the suite asks an agent for, by a prompt.
type Ability string

// The abilities. A test whose ability has no prompt is skipped, and says so.
const (
	Text       Ability = "text"       // some text; required
	Slow       Ability = "slow"       // talks long enough to be stopped, a second or more
	Permission Ability = "permission" // a tool call that needs permission
	Question   Ability = "question"   // a question with choices
	Tell       Ability = "tell"       // tells the agent the Word
	Recall     Ability = "recall"     // makes it say the Word
	Steer      Ability = "steer"      // sent into the turn of Slow, makes the agent say the Word
	Die        Ability = "die"        // the agent's process ends in the middle of the turn
	Garbage    Ability = "garbage"    // lines that are no messages, beside some text
	Half       Ability = "half"       // the agent's process ends in the middle of a message
	Huge       Ability = "huge"       // a message of 50 MB
)

// Suite says how an adapter is tested.
type Suite struct {
	// Open returns the runtime under test.
	Open func(testing.TB) agent.Runtime
	// Config is what sessions are opened with; nil is an empty directory.
	Config func(testing.TB) agent.Config
	// Prompts are what makes the agent do things.
	Prompts map[Ability]string
	// Effect reports whether the tool of the prompt Permission has run since the test
	// began, by what the tool leaves behind; nil means that no one can tell.
	Effect func(testing.TB) bool
	// Word is what the agent remembers, see Tell, Recall and Steer.
	Word string
	// Turns are further prompts, each of which must give a well-formed turn.
	Turns []string
	// Bound is how long anything may take; 10 seconds if zero.
	Bound time.Duration
}

// Run tests an adapter. The test it runs in must not be parallel.
func Run(t *testing.T, s Suite) {
	t.Helper()
	if s.Bound == 0 {
		s.Bound = 10 * time.Second
	}
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
	} {
		t.Run(c.name, func(t *testing.T) {
			if lacks := s.lacks(c.needs); lacks != "" {
				t.Skipf("not tested: the suite has no prompt for %s", lacks)
			}
			before := goleak.IgnoreCurrent()
			// Registered before the session's own Cleanup, so it runs after it.
			t.Cleanup(func() { goleak.VerifyNone(t, before) })
			c.test(t, s)
		})
	}
}

// lacks returns an ability that has no prompt, or "".
func (s Suite) lacks(needs []Ability) Ability {
	for _, a := range needs {
		if s.Prompts[a] == "" {
			return a
		}
	}
	return ""
}
