//go:build unix

package agentkit_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/trace"
)

// spec runs the toy agent.
func spec(t *testing.T, how string, env ...string) agentkit.Spec {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return agentkit.Spec{
		Adapter: "toy", Name: "The toy", Command: exe, StartTime: 10 * time.Second, StopTime: time.Second,
		Env:  append([]string{"TOY_AGENT=" + how, "GORACE=atexit_sleep_ms=0", "TOY_ONCE=" + filepath.Join(t.TempDir(), "once")}, env...),
		Args: func(resume string) []string { return []string{resume} },
		New: func(c agentkit.Conn, _ string) agentkit.Protocol {
			return &toyProcess{conn: c, ready: make(chan struct{})}
		},
	}
}

func open(t *testing.T, host agent.Host, s agentkit.Spec, resume string) agent.Session {
	t.Helper()
	session, err := agentkit.Open(t.Context(), host, agent.Config{Cwd: t.TempDir(), Resume: resume}, s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return session
}

// unanswered is a person who does not answer.
func unanswered(ctx context.Context, _ trace.PermissionRequest) trace.PermissionResponse {
	<-ctx.Done()
	return trace.PermissionResponse{Outcome: trace.Canceled}
}

// turn is a prompt's turn, once it is over.
type turn struct {
	said     string
	stop     trace.Stop
	notices  []trace.Error
	requests []trace.PermissionResponse
}

// prompt runs a turn to its end.
func prompt(ctx context.Context, t *testing.T, host *agenttest.Host, s agent.Session, text string) turn {
	t.Helper()
	p := agent.Prompt{Message: trace.UserMessage{ID: "u", Parts: []trace.InputPart{{Type: trace.InputText, Text: text}}}}
	r := host.Turn(p)
	if err := s.Prompt(ctx, p, r.Builder); err != nil {
		t.Fatal(err)
	}
	verdict, ok := r.Result()
	if !ok {
		t.Fatal("the turn has no end")
	}
	if err := r.Finish(verdict); err != nil {
		t.Fatal(err)
	}
	if err := agenttest.CheckTurn(r.Events()); err != nil {
		t.Error(err)
	}
	return turn{
		said: strings.TrimSpace(agenttest.Said(r.Events())), stop: agenttest.Each[trace.Stop](r.Events())[0],
		notices: agenttest.Each[trace.Error](r.Events()), requests: agenttest.Each[trace.PermissionResponse](r.Events()),
	}
}

func TestAPromptRunsUntilTheAgentEndsTheTurn(t *testing.T) {
	t.Parallel()
	host := agenttest.NewHost()
	got := prompt(t.Context(), t, host, open(t, host, spec(t, "well"), ""), "hello")
	if got.said != "You said: hello" || got.stop.Reason != "done" {
		t.Errorf("the turn said %q and ended with %+v", got.said, got.stop)
	}
	if begun := host.Begun(); len(begun) > 0 {
		t.Error("the agent began a turn before it was ready")
	}
}

func TestAPanicOfADecoderEndsOneTurn(t *testing.T) {
	t.Parallel()
	host := agenttest.NewHost()
	s := open(t, host, spec(t, "well"), "")
	got := prompt(t.Context(), t, host, s, "unheard of")
	if got.stop.Outcome != trace.OutcomeFailed || got.stop.Reason != trace.ReasonLost || !strings.Contains(got.stop.Error, "no such message") {
		t.Errorf("the turn ended with %+v", got.stop)
	}
	if got := prompt(t.Context(), t, host, s, "hello"); got.said != "You said: hello" {
		t.Errorf("the next turn said %q and ended with %+v", got.said, got.stop)
	}
}

func TestAPromptThatTheAgentCannotTakeFailsWithASentence(t *testing.T) {
	t.Parallel()
	host := agenttest.NewHost()
	got := prompt(t.Context(), t, host, open(t, host, spec(t, "well"), ""), "")
	if got.stop.Outcome != trace.OutcomeFailed || got.stop.Error != "The prompt is empty." {
		t.Errorf("the turn ended with %+v", got.stop)
	}
}

func TestAStartThatFailsSaysWhy(t *testing.T) {
	t.Parallel()
	mute := spec(t, "mute")
	mute.StartTime = 200 * time.Millisecond
	missing := spec(t, "well")
	missing.Command, missing.NotFound = "no-such-program-here", os.ErrNotExist
	forbidden := spec(t, "well")
	forbidden.Command = t.TempDir()
	for want, s := range map[string]agentkit.Spec{
		"toy: it ended before it was ready: exit status 3: the config file is broken": spec(t, "broken"),
		"toy: it did not answer within 200ms after its start: run `":                  mute,
		"` in the workspace to see why, or correct command and args":                  spec(t, "broken"),
		"may not be executed: correct command, or make the file executable":           forbidden,
		os.ErrNotExist.Error(): missing,
	} {
		_, err := agentkit.Open(t.Context(), agenttest.NewHost(), agent.Config{Cwd: t.TempDir()}, s)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want %q in it", err, want)
		}
	}
	_, err := agentkit.Open(t.Context(), agenttest.NewHost(), agent.Config{Cwd: filepath.Join(t.TempDir(), "none")}, spec(t, "well"))
	if err == nil || !strings.Contains(err.Error(), "is not a directory") {
		t.Errorf("a workspace that does not exist gives %v", err)
	}
}

// A program that speaks another protocol does not use up the time of a start.
func TestAProgramOfAnotherProtocolIsReportedAtOnce(t *testing.T) {
	t.Parallel()
	for how, want := range map[string]string{
		"chats":  `with other arguments: its first lines are no messages of the agent's protocol: "Hello."`,
		"parrot": `its first lines are no messages of the agent's protocol: "{\"jsonrpc\":\"2.0\"}"`,
	} {
		s := spec(t, how)
		s.StartTime, s.Marks = 3*time.Second, []string{"say", "hello"}
		begun := time.Now()
		_, err := agentkit.Open(t.Context(), agenttest.NewHost(), agent.Config{Cwd: t.TempDir()}, s)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: the error is %v, want %q in it", how, err, want)
		}
		if took := time.Since(begun); took > 2*time.Second {
			t.Errorf("%s: the sentence took %s", how, took)
		}
	}
	s := spec(t, "greets") // some agents print a few words first
	s.StartTime, s.Marks = 6*time.Second, []string{"say", "hello"}
	agenttest.Open(t, openerOf(s), agenttest.NewHost(), agent.Config{})
}

// openerOf is a Runtime of one Spec.
type openerOf agentkit.Spec

func (o openerOf) Open(ctx context.Context, host agent.Host, cfg agent.Config) (agent.Session, error) {
	return agentkit.Open(ctx, host, cfg, agentkit.Spec(o))
}

func TestAVersionThatCannotBeAskedForSaysWhatToDo(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "agent")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for command, want := range map[string]string{
		file:    "toy: " + file + " may not be executed: correct command, or make the file executable with `chmod +x`",
		"false": "toy: `false --version` failed: exit status 1: run it in a terminal to see why, or correct command",
	} {
		s := spec(t, "well")
		s.Command = command
		if _, err := s.Probe(t.Context()); err == nil || err.Error() != want {
			t.Errorf("the error is %v, want %s", err, want)
		}
	}
}

// The end of a process may show in a write before it shows in the process.
func TestAStartThatCannotWriteSaysWhyTheProcessEnded(t *testing.T) {
	t.Parallel()
	s := spec(t, "broken")
	s.New = func(c agentkit.Conn, _ string) agentkit.Protocol { return eager{conn: c} }
	for range 20 {
		_, err := agentkit.Open(t.Context(), agenttest.NewHost(), agent.Config{Cwd: t.TempDir()}, s)
		if err == nil || !strings.Contains(err.Error(), "exit status 3: the config file is broken") {
			t.Fatalf("the error is %v", err)
		}
	}
}

// eager writes until a write fails.
type eager struct {
	agentkit.Protocol
	conn agentkit.Conn
}

func (eager) Decode(agent.Message, agent.Turns) ([]agent.Effect, error) { return nil, nil }

func (e eager) Greet(ctx context.Context, _ string) error {
	for {
		if err := e.conn.Send(ctx, json.RawMessage(`{"hello":true}`)); err != nil {
			return err
		}
	}
}

func TestAProcessThatDiesInATurnEndsItAndIsStartedAgain(t *testing.T) {
	t.Parallel()
	host := agenttest.NewHost()
	s := open(t, host, spec(t, "well"), "")
	dead := prompt(t.Context(), t, host, s, "die")
	if dead.stop.Reason != trace.ReasonDied || !strings.Contains(dead.stop.Error, "The toy ended in the middle of the turn: exit status 9: out of memory") || dead.said != "a last word" {
		t.Errorf("the turn said %q and ended with %+v", dead.said, dead.stop)
	}
	if next := prompt(t.Context(), t, host, s, "hello"); next.said != "You said: hello" {
		t.Errorf("the next turn said %q", next.said)
	}
}

// The agent may have worked on a prompt without a word. So the prompt is sent again only if the agent is lost soon,
// and the user learns of that. In the first turn there is no memory that could be lost.
func TestAPromptThatADyingProcessDidNotHearIsSentAgain(t *testing.T) {
	t.Parallel()
	host := agenttest.NewHost()
	s := open(t, host, forgetful(spec(t, "well")), "")
	got := prompt(t.Context(), t, host, s, "die unheard")
	if got.said != "heard" || got.stop.Outcome != trace.OutcomeCompleted {
		t.Errorf("the turn said %q and ended with %+v", got.said, got.stop)
	}
	if len(got.notices) != 1 || got.notices[0].Code != "prompt_repeated" || got.notices[0].Level != trace.LevelNotice {
		t.Errorf("the notices are %+v", got.notices)
	}
	late := prompt(t.Context(), t, host, s, "die late")
	if late.stop.Reason != trace.ReasonDied || len(late.notices) != 0 {
		t.Errorf("the turn of an agent that had time to work has the notices %+v and ended with %+v", late.notices, late.stop)
	}
	next := prompt(t.Context(), t, host, s, "hello")
	if len(next.notices) != 1 || next.notices[0].Code != "session_lost" {
		t.Errorf("the notices of a later start are %+v", next.notices)
	}
}

// forgetful tells at each start but the first that the agent's memory is lost.
func forgetful(s agentkit.Spec) agentkit.Spec {
	starts := 0
	inner := s.New
	s.New = func(c agentkit.Conn, resume string) agentkit.Protocol {
		if starts++; starts > 1 {
			c.Session().Notice(trace.Error{Code: "session_lost", Message: "The toy starts without memory."})
		}
		return inner(c, resume)
	}
	return s
}

func TestOtherOutputOnTheLineOfAMessage(t *testing.T) {
	t.Parallel()
	host := agenttest.NewHost()
	s := spec(t, "well")
	s.Marks = []string{"hello", "say", "end"}
	got := prompt(t.Context(), t, host, open(t, host, s, ""), "noise")
	want := ""
	for i := range 9 {
		want += fmt.Sprintf("in front %d ", i)
	}
	want += "behind one of two two of two"
	if said := strings.Join(strings.Fields(got.said), " "); said != want || got.stop.Reason != "done" {
		t.Errorf("the turn said %q and ended with %+v", said, got.stop)
	}
}

func TestALostConversationStartsAgainWithANotice(t *testing.T) {
	t.Parallel()
	host := agenttest.NewHost()
	got := prompt(t.Context(), t, host, open(t, host, spec(t, "well"), "lost"), "hello")
	if len(got.notices) != 1 || got.notices[0].Code != "session_lost" || got.said != "You said: hello" {
		t.Errorf("the turn has the notices %v and said %q", got.notices, got.said)
	}
}

func TestAnAgentMayBeginATurnByItself(t *testing.T) {
	t.Parallel()
	host := agenttest.NewHost()
	s := open(t, host, spec(t, "well"), "")
	prompt(t.Context(), t, host, s, "background")
	for len(host.Begun()) == 0 {
		time.Sleep(time.Millisecond)
	}
	select {
	case <-host.Begun()[0].Ended():
	case <-time.After(time.Minute):
		t.Fatal("the agent's own turn does not end")
	}
	if host.Token() != "t1" {
		t.Errorf("the resume token is %q", host.Token())
	}
	_ = host.Begun()[0].Finish(trace.Stop{})
}

func TestAStop(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		prompt, reason string
		begun          func(*agenttest.Recorder)
		least          time.Duration
	}{
		"is heard by the agent": {
			"wait", "stopped by the toy", func(r *agenttest.Recorder) { agenttest.Until[trace.PermissionRequest](t, r) }, 0,
		},
		"of an agent that does not listen kills it": {
			"deaf", "stopped", func(r *agenttest.Recorder) { agenttest.Until[trace.MessageDelta](t, r) }, time.Second,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			host := agenttest.NewHost()
			host.OnPermit = unanswered
			s := open(t, host, spec(t, "well"), "")
			var start time.Time
			_, end := agenttest.TurnWhile(t, s, host, agenttest.Prompt(c.prompt), func(stop func(), r *agenttest.Recorder) {
				c.begun(r)
				start = time.Now()
				stop()
			})
			if took := time.Since(start); end.Reason != c.reason || took < c.least {
				t.Errorf("after %s the turn ended with %+v", took, end)
			}
			if next := prompt(t.Context(), t, host, s, "hello"); next.said != "You said: hello" {
				t.Errorf("the next turn said %q", next.said)
			}
		})
	}
}

func TestAnOpenRequestIsAnsweredAtAStopWhereTheProtocolAsksForIt(t *testing.T) {
	t.Parallel()
	for answers, want := range map[bool]string{true: "answered", false: "stopped by the toy"} {
		host := agenttest.NewHost()
		ctx, cancel := context.WithCancel(t.Context())
		host.OnPermit = func(wait context.Context, r trace.PermissionRequest) trace.PermissionResponse {
			cancel() // the person stops the turn once the agent has asked
			return unanswered(wait, r)
		}
		patient := spec(t, "well", "TOY_PATIENT=1")
		patient.AnswerOnStop, patient.StopTime = answers, 5*time.Second
		got := prompt(ctx, t, host, open(t, host, patient, ""), "wait")
		if got.stop.Reason != want {
			t.Errorf("with AnswerOnStop %v the turn ended with %+v", answers, got.stop)
		}
	}
}

func TestAnAnswerReachesTheAgent(t *testing.T) {
	t.Parallel()
	host := agenttest.NewHost()
	host.OnPermit = func(context.Context, trace.PermissionRequest) trace.PermissionResponse {
		return trace.PermissionResponse{Outcome: trace.Selected, OptionKind: trace.AllowOnce}
	}
	got := prompt(t.Context(), t, host, open(t, host, spec(t, "well"), ""), "permit")
	if got.said != "p1: true" || len(got.requests) != 1 {
		t.Errorf("the turn said %q with the answers %v", got.said, got.requests)
	}
}

func TestAWithdrawnRequestHasNoAnswer(t *testing.T) {
	t.Parallel()
	host := agenttest.NewHost()
	host.OnPermit = unanswered
	got := prompt(t.Context(), t, host, open(t, host, spec(t, "well"), ""), "withdraw")
	if got.said != "" || got.stop.Reason != "done" {
		t.Errorf("the turn said %q and ended with %+v", got.said, got.stop)
	}
}

func TestCloseEndsARunningTurn(t *testing.T) {
	t.Parallel()
	host := agenttest.NewHost()
	host.OnPermit = unanswered
	s := open(t, host, spec(t, "well"), "")
	var closing sync.WaitGroup
	_, stop := agenttest.TurnWhile(t, s, host, agenttest.Prompt("wait"), func(_ func(), r *agenttest.Recorder) {
		agenttest.Until[trace.PermissionRequest](t, r)
		closing.Go(func() { _ = s.Close() })
	})
	if stop.Outcome != trace.OutcomeCanceled || stop.Reason != "closed" {
		t.Errorf("the turn ended with %+v", stop)
	}
	closing.Wait()
	if err := agenttest.Refusal(t, s, host, agent.Prompt{}); err == nil {
		t.Error("a closed session took a prompt")
	}
}
