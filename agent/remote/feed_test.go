//go:build unix

package remote_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/agent/remote"
	"github.com/tributary-dev/tributary/trace"
)

func TestAPromptIsPostedAndTheStreamHoldsTheTurn(t *testing.T) {
	t.Parallel()
	host := agenttest.NewHost()
	_, _, s := attached(t, host)
	if got := prompt(t.Context(), t, host, s, "hello"); got.said != "You said: hello" || got.stop.Reason != "done" {
		t.Errorf("the turn said %q and ended with %+v", got.said, got.stop)
	}
}

func TestAnAnswerIsPosted(t *testing.T) {
	t.Parallel()
	host := agenttest.NewHost()
	host.OnPermit = func(context.Context, trace.PermissionRequest) trace.PermissionResponse {
		return trace.PermissionResponse{Outcome: trace.Selected, OptionKind: trace.AllowOnce}
	}
	toy, _, s := attached(t, host)
	got := prompt(t.Context(), t, host, s, "permit")
	if !strings.HasSuffix(got.said, "p1: true") || got.stop.Reason != "answered" || !toy.did("/answer") {
		t.Errorf("the turn said %q and ended with %+v", got.said, got.stop)
	}
}

func TestARefusedPromptFailsWithTheServersSentence(t *testing.T) {
	t.Parallel()
	host := agenttest.NewHost()
	_, _, s := attached(t, host)
	if got := prompt(t.Context(), t, host, s, "refuse"); got.stop.Error != "The toy did not take the prompt: not today" {
		t.Errorf("the turn ended with %+v", got.stop)
	}
}

func TestABrokenStreamIsOpenedAgainAndMissedEventsAreRead(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"cut": "one\ntwo", "deaf": "told to nobody"} {
		host := agenttest.NewHost()
		toy, _, s := attached(t, host)
		got := prompt(t.Context(), t, host, s, name)
		if said := strings.Join(strings.Fields(got.said), " "); said != strings.Join(strings.Fields(want), " ") || got.stop.Reason != "done" {
			t.Errorf("%s: the turn said %q and ended with %+v", name, got.said, got.stop)
		}
		if name == "cut" {
			toy.untilOpened(t, 2) // what was missed may be read before
		}
	}
}

func TestAStreamWithoutAnyEventIsOpenedAgain(t *testing.T) {
	t.Parallel()
	toy, _, _ := attached(t, agenttest.NewHost())
	toy.mu.Lock()
	toy.deaf = true
	toy.mu.Unlock()
	toy.untilOpened(t, 2)
}

func TestASilentTurnIsCaughtUp(t *testing.T) {
	t.Parallel()
	host := agenttest.NewHost()
	_, _, s := attached(t, host)
	if got := prompt(t.Context(), t, host, s, "mute"); got.said != "told to nobody" || got.stop.Reason != "done" {
		t.Errorf("the turn said %q and ended with %+v", got.said, got.stop)
	}
}

func TestATurnThatTheServerHasForgottenIsLost(t *testing.T) {
	t.Parallel()
	host := agenttest.NewHost()
	_, _, s := attached(t, host)
	got := prompt(t.Context(), t, host, s, "forget")
	if got.stop.Reason != trace.ReasonLost || got.stop.Error != "The toy does not work on the prompt any more and has told no end: send the prompt again." {
		t.Errorf("the turn ended with %+v", got.stop)
	}
}

func TestAServerThatCannotBeReachedEndsTheTurn(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"wait", "wait without an answer"} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			host := agenttest.NewHost()
			_, server, s := attached(t, host)
			_, stop := agenttest.TurnWhile(t, s, host, agenttest.Prompt(text), func(_ func(), r *agenttest.Recorder) {
				agenttest.Until[trace.MessageDelta](t, r)
				server.Leave()
			})
			if stop.Reason != trace.ReasonLost || stop.Error != "The server of The toy cannot be reached any more; the session toy-1 may go on there." {
				t.Errorf("the turn ended with %+v", stop)
			}
		})
	}
}

func TestAStopIsPosted(t *testing.T) {
	t.Parallel()
	host := agenttest.NewHost()
	toy, _, s := attached(t, host)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	go func() {
		for !toy.did("/prompt") {
			time.Sleep(10 * time.Millisecond)
		}
		stop()
	}()
	if got := prompt(ctx, t, host, s, "wait"); got.stop.Outcome != trace.OutcomeCanceled && got.stop.Reason != "stopped by the toy" {
		t.Errorf("the turn ended with %+v", got.stop)
	}
	if !toy.did("/stop") {
		t.Error("the server got no stop")
	}
}

func TestCloseStopsATurnOnAServerThatRunsWithoutUs(t *testing.T) {
	t.Parallel()
	host := agenttest.NewHost()
	toy, _, s := attached(t, host)
	go func() {
		for !toy.did("/prompt") {
			time.Sleep(10 * time.Millisecond)
		}
		_ = s.Close()
	}()
	if got := prompt(t.Context(), t, host, s, "wait"); got.stop.Outcome == trace.OutcomeFailed || !toy.did("/stop") {
		t.Errorf("the turn ended with %+v", got.stop)
	}
	if err := agenttest.Refusal(t, s, host, agent.Prompt{}); !errors.Is(err, agentkit.ErrClosed) {
		t.Errorf("a prompt after the end gives %v", err)
	}
}

func TestAStartedServerThatDiesEndsTheTurnAndIsStartedAgain(t *testing.T) {
	t.Parallel()
	host := agenttest.NewHost()
	s := openFeed(t, host, feeding(t, "", "server"))
	prompt(t.Context(), t, host, s, "hello")
	dead := prompt(t.Context(), t, host, s, "die")
	if dead.stop.Reason != trace.ReasonDied || dead.stop.Error != "The toy ended in the middle of the turn: exit status 9: out of memory." {
		t.Errorf("the turn ended with %+v", dead.stop)
	}
	if next := prompt(t.Context(), t, host, s, "hello"); next.said != "You said: hello" {
		t.Errorf("the next turn said %q", next.said)
	}
}

func TestWordsOfAServerThatHasDiedAreReadToTheEnd(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"many words and die", "many words and die without an answer"} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			host := agenttest.NewHost()
			dead := prompt(t.Context(), t, host, openFeed(t, host, feeding(t, "", "server")), text)
			if words := strings.Count(dead.said, slowWord); words != lastWords || dead.stop.Reason != trace.ReasonDied {
				t.Errorf("%d of %d words arrived, and the turn ended as %s", words, lastWords, dead.stop.Reason)
			}
		})
	}
}

func TestAServerThatDoesNotStartIsOneSentence(t *testing.T) {
	t.Parallel()
	missing := feeding(t, "", "server")
	missing.Feed.Command, missing.Feed.NotFound = "no-such-program-here", errors.New("toy: install the toy")
	mute := feeding(t, "", "mute")
	mute.Feed.StartTime = 200 * time.Millisecond
	for want, spec := range map[string]remote.Spec{
		"toy: install the toy": missing,
		"ended before it was ready: exit status 3: the config file is broken": feeding(t, "", "broken"),
		"was not ready within 200ms: run the command":                         mute,
		`"localhost" is no address of a server`:                               feeding(t, "localhost", ""),
		"connection refused":                                                  feeding(t, "http://127.0.0.1:1", ""),
	} {
		failures := 0
		meter := func(c agent.Count) {
			if c == agent.OpenFailure {
				failures++
			}
		}
		_, err := remote.Open(t.Context(), agenttest.NewHost(), agent.Config{Meter: meter}, spec)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") || failures != 1 {
			t.Errorf("the error is %v, want %q in it; %d failures are counted", err, want, failures)
		}
	}
}
