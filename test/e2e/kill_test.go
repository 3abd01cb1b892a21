package e2e

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/internal/testkit/realagent"
)

// Killed in mid-turn and started again, the gateway has what a client had seen, but
// for the last 250 ms of a part that was not finished. The turn says that it was
// broken off, and the agent remembers.
//
//nolint:paralleltest // it measures a time of the database, which other tests flood
//evidence:for promise-crash
func TestKillInMidTurnWithClaudeCode(t *testing.T) {
	claude := realagent.Claude(t)
	data := t.TempDir()
	args := []string{"--agent", "claude", "--cwd", claude.Dir}
	env := claudeEnv(claude)
	p := start(t, data, env, args...)
	p.chat("s", "[[script:say remember the word heron]]", nil)
	seen := p.chat("s", "[[script:slow 100]]", func(s *stream) bool { return len(s.text) > 60 })
	at := p.kill()
	if seen.done || seen.text == "" {
		t.Fatalf("the turn was over before the kill: %q", seen.text)
	}

	p = start(t, data, env, args...)
	checkBrokenOff(t, p, seen, at)
	again := p.chat("s", "[[script:recall]]", nil)
	if !again.done || !strings.Contains(again.text, "heron") {
		t.Errorf("the agent does not remember: %q", again.text)
	}
	p.end()
}

// claudeEnv is the closed environment of a run with Claude Code on the PATH.
func claudeEnv(a realagent.Agent) []string {
	env := []string{}
	dir := a.Path[:strings.LastIndexByte(a.Path, '/')]
	for _, v := range a.Env {
		if path, ok := strings.CutPrefix(v, "PATH="); ok {
			v = "PATH=" + dir + string(os.PathListSeparator) + path
		}
		env = append(env, v)
	}
	return env
}

// lossLimit is how much of an unfinished part a crash may cost.
const lossLimit = 250 * time.Millisecond

// continues checks that a text is what a client saw, longer or shorter, and that
// what is missing is not older than the promise.
func continues(t *testing.T, where string, seen *stream, text string, killed time.Time) {
	t.Helper()
	switch {
	case strings.HasPrefix(text, seen.text):
	case !strings.HasPrefix(seen.text, text):
		t.Errorf("the client had seen %q, the %s contradicts it: %q", seen.text, where, text)
	default:
		if lost := seen.missing(len(text), killed); lost > lossLimit {
			t.Errorf("the client had seen %q, the %s has %q: what is missing was seen %s before the kill", seen.text, where, text, lost)
		}
	}
}

// checkBrokenOff checks the history after a kill in mid-turn.
func checkBrokenOff(t *testing.T, p *process, seen *stream, killed time.Time) {
	t.Helper()
	history := p.history("s")
	last := history[len(history)-1]
	if last.Role != "assistant" {
		t.Errorf("the history ends with %+v", last)
	}
	continues(t, "history", seen, last.text(), killed)
	if last.Metadata["outcome"] != "failed" {
		t.Errorf("metadata %v", last.Metadata)
	}
	end := last.Parts[len(last.Parts)-1]
	if end["type"] != "data-error" {
		t.Errorf("last part %v", end)
	}
	resumed := p.request(t.Context(), "GET", "/api/chat/s/stream", nil)
	defer resumed.Body.Close()
	replay := p.read(resumed.Body, nil)
	if !replay.done || replay.text != last.text() {
		t.Errorf("the history has %q, the replay has %q", last.text(), replay.text)
	}
}

//nolint:paralleltest // as above
//evidence:for promise-crash
func TestKillInMidTurnAtRandomTimes(t *testing.T) {
	data := t.TempDir()
	cwd := t.TempDir()
	const rounds = 6
	turns := 0
	random := agenttest.Random(t)
	for range rounds {
		p := start(t, data, os.Environ(), "--agent", "demo", "--cwd", cwd)
		if turns > 0 {
			p.chat("s", "hello", nil)
			turns++
		}
		words := 1 + random.IntN(30)
		pause := time.Duration(random.IntN(5_000)) * time.Microsecond
		seen := p.chat("s", "long", func(s *stream) bool { return strings.Count(s.text, " ") >= words })
		turns++
		time.Sleep(pause)
		at := p.kill()
		p = start(t, data, os.Environ(), "--agent", "demo", "--cwd", cwd)
		checkBrokenOff(t, p, seen, at)
		if got := len(p.history("s")); got != 2*turns {
			t.Errorf("%d messages after %d turns", got, turns)
		}
		p.end()
	}
}
