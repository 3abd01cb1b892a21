//go:build unix

package opencode_test

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/adapter/opencode"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/trace"
)

// program is the test binary as the program `opencode`.
func program(t testing.TB, how, state string, env ...string) opencode.Runtime {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return opencode.Runtime{
		Command: self, Environ: append([]string{fakeVariable + "=" + how, "FAKE_STATE=" + state}, env...), StopTime: 3 * time.Second, StartTime: 10 * time.Second,
		CheckTime: 400 * time.Millisecond,
	}
}

// attached is a fake server that runs already, and a Runtime for it.
func attached(t *testing.T) (*fake, opencode.Runtime) {
	t.Helper()
	f := newFake(t)
	server := agenttest.NewShakyServer(t, f.handler("secret"))
	return f, opencode.Runtime{URL: server.URL, Password: "secret", StopTime: 3 * time.Second, CheckTime: 400 * time.Millisecond}
}

func TestSuite(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state")
	agenttest.Run(t, agenttest.Suite{
		Open: func(t testing.TB) agent.Runtime { return program(t, "", state) },
		Cut: func(t testing.TB, c *agenttest.Cut) agent.Runtime {
			return program(t, "", filepath.Join(t.TempDir(), "state"), c.Env())
		},
		Prompts: map[agenttest.Ability]string{
			agenttest.Die: "die", agenttest.Half: "half a message", agenttest.Garbage: "garbage", agenttest.Huge: "huge", agenttest.Rich: "rich",
			agenttest.Text: "hello", agenttest.Slow: "long", agenttest.Permission: "approve", agenttest.Question: "ask",
			agenttest.Tell: "My river is the Rhine.", agenttest.Recall: "recall",
		},
		Runs:    agenttest.Tells("touched", `{"command":"touch x"}`),
		Decoder: func() agent.Decoder { return opencode.NewDecoder(opencode.Options{}) },
		Word:    "the Rhine",
		Turns:   []string{"gap", "cut in mid-event", "only heartbeats"},
		Bound:   time.Minute,
	})
}

func TestEventsThatABrokenStreamMissedAreReadOnce(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"gap", "cut in mid-event"} {
		_, r := attached(t)
		host := agenttest.NewHost()
		events, stop := agenttest.Turn(t, agenttest.Open(t, r, host, agent.Config{}), host, agenttest.Prompt(how))
		if said := strings.TrimSpace(agenttest.Said(events)); said != "one two three" || stop.Outcome != trace.OutcomeCompleted {
			t.Errorf("%s: it said %q and ended as %+v", how, said, stop)
		}
	}
}

// OpenCode would read an address on this machine, and ask nobody.
func TestAPromptReachesNoFileOfThisMachine(t *testing.T) {
	t.Parallel()
	f, r := attached(t)
	host := agenttest.NewHost()
	s := agenttest.Open(t, r, host, agent.Config{})
	p := agenttest.Prompt("hello")
	for _, address := range []string{"file:///etc/passwd", "FILE:///etc/passwd", "/etc/passwd", "", "https://example.com/a.png", "data:text/plain,x"} {
		p.Message.Parts = append(p.Message.Parts, trace.InputPart{Type: trace.InputFile, URL: address, MediaType: "text/plain"})
	}
	agenttest.Turn(t, s, host, p)
	f.mu.Lock()
	defer f.mu.Unlock()
	if want := []string{"file https://example.com/a.png", "file data:text/plain,x"}; !slices.Equal(f.calls[:len(f.calls)-1], want) {
		t.Errorf("the server got %q, want %q", f.calls, want)
	}
}

func TestAStreamThatOnlyHeartbeatsIsCheckedAgainstTheMessages(t *testing.T) {
	t.Parallel()
	_, r := attached(t)
	host := agenttest.NewHost()
	host.OnPermit = agenttest.Choose(trace.AllowOnce)
	events, stop := agenttest.Turn(t, agenttest.Open(t, r, host, agent.Config{}), host, agenttest.Prompt("only heartbeats"))
	if said := strings.TrimSpace(agenttest.Said(events)); said != "told to nobody" || stop.Outcome != trace.OutcomeCompleted {
		t.Errorf("it said %q and ended as %+v", said, stop)
	}
	if asked := agenttest.Each[trace.PermissionRequest](events); len(asked) != 1 {
		t.Errorf("%d permission requests", len(asked))
	}
}

func TestATurnThatTheServerHasForgottenEnds(t *testing.T) {
	t.Parallel()
	_, r := attached(t)
	host := agenttest.NewHost()
	s := agenttest.Open(t, r, host, agent.Config{})
	_, stop := agenttest.Turn(t, s, host, agenttest.Prompt("vanish"))
	if stop.Reason != trace.ReasonLost || !strings.Contains(stop.Error, "send the prompt again") {
		t.Errorf("it ended as %+v", stop)
	}
}

func TestAServerThatDiesEndsTheTurnAndComesBack(t *testing.T) {
	t.Parallel()
	host := agenttest.NewHost()
	s := agenttest.Open(t, program(t, "", filepath.Join(t.TempDir(), "state")), host, agent.Config{})
	agenttest.Turn(t, s, host, agenttest.Prompt("hello"))
	events, stop := agenttest.Turn(t, s, host, agenttest.Prompt("die"))
	if stop.Reason != trace.ReasonDied || !strings.Contains(stop.Error, "exit status 3") || strings.TrimSpace(agenttest.Said(events)) != "before the end" {
		t.Errorf("it ended as %+v", stop)
	}
	events, stop = agenttest.Turn(t, s, host, agenttest.Prompt("recall"))
	if said := agenttest.Said(events); stop.Outcome != trace.OutcomeCompleted || !strings.Contains(said, "hello") {
		t.Errorf("after it: %q, %+v", said, stop)
	}
}

func TestAnAttachedServerThatGoesAwayEndsTheTurn(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	server := agenttest.NewShakyServer(t, f.handler(""))
	host := agenttest.NewHost()
	s := agenttest.Open(t, opencode.Runtime{URL: server.URL}, host, agent.Config{})
	_, stop := agenttest.TurnWhile(t, s, host, agenttest.Prompt("long"), func(_ func(), r *agenttest.Recorder) {
		agenttest.Until[trace.MessageDelta](t, r)
		server.Leave()
	})
	if stop.Reason != trace.ReasonLost || !strings.Contains(stop.Error, "cannot be reached") {
		t.Errorf("it ended as %+v", stop)
	}
}

func TestRequestsLeftOpenByAStopAreRefused(t *testing.T) {
	t.Parallel()
	f, r := attached(t)
	host := agenttest.NewHost()
	host.OnPermit = func(ctx context.Context, _ trace.PermissionRequest) trace.PermissionResponse {
		<-ctx.Done()
		return trace.PermissionResponse{Outcome: trace.Canceled}
	}
	s := agenttest.Open(t, r, host, agent.Config{})
	_, stop := agenttest.TurnWhile(t, s, host, agenttest.Prompt("approve"), func(stop func(), r *agenttest.Recorder) {
		agenttest.Until[trace.PermissionRequest](t, r)
		stop()
	})
	if stop.Outcome != trace.OutcomeCanceled {
		t.Errorf("it ended as %+v", stop)
	}
	left := func() int {
		f.mu.Lock()
		defer f.mu.Unlock()
		return len(f.open)
	}
	for deadline := time.Now().Add(time.Minute); left() > 0 && time.Now().Before(deadline); {
		time.Sleep(10 * time.Millisecond)
	}
	if left() > 0 {
		t.Error("a request is left open on the server")
	}
}

func TestARefusedPromptIsOneSentence(t *testing.T) {
	t.Parallel()
	_, r := attached(t)
	host := agenttest.NewHost()
	_, stop := agenttest.Turn(t, agenttest.Open(t, r, host, agent.Config{}), host, agenttest.Prompt("refuse"))
	if stop.Error != "OpenCode did not take the prompt: no such model" {
		t.Errorf("it ended as %+v", stop)
	}
}

func TestBadStartsAreOneSentence(t *testing.T) {
	t.Parallel()
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>")) }))
	t.Cleanup(page.Close)
	_, attached := attached(t)
	silent := program(t, "silent", "")
	silent.StartTime = 200 * time.Millisecond
	wrong := attached
	wrong.Password = "wrong"
	agenttest.BadStarts(t, []agenttest.BadStart{
		{Runtime: opencode.Runtime{Command: "no-such-opencode"}, Want: "install OpenCode with `npm install"},
		{Runtime: opencode.Runtime{Command: t.TempDir()}, Want: "may not be executed: correct command"},
		{Runtime: program(t, "dies", ""), Want: "the configuration is broken"},
		{Runtime: silent, Want: "was not ready within 200ms: run the command"},
		{Runtime: opencode.Runtime{URL: "localhost:4096"}, Want: "is no address of a server"},
		{Runtime: opencode.Runtime{URL: "http://127.0.0.1:1"}, Want: "connection refused"},
		{Runtime: opencode.Runtime{URL: page.URL}, Want: "is no OpenCode server, or older than 1.18"},
		{Runtime: wrong, Want: "refuses the password"},
	})
}

func TestControls(t *testing.T) {
	t.Parallel()
	f, r := attached(t)
	host := agenttest.NewHost()
	s := agenttest.Open(t, r, host, agent.Config{})
	controllable, ok := s.(agent.Controllable)
	if !ok {
		t.Fatal("there are no controls")
	}
	c := controllable.Controls()
	if err := c.SetMode(t.Context(), "general"); err == nil {
		t.Error("a sub-agent is no mode")
	}
	if err := c.SetModel(t.Context(), "m"); err == nil {
		t.Error("a model has a provider")
	}
	if err := errors.Join(c.SetMode(t.Context(), "plan"), c.SetModel(t.Context(), "p/m")); err != nil {
		t.Fatal(err)
	}
	_, stop := agenttest.TurnWhile(t, s, host, agenttest.Prompt("long"), func(stop func(), r *agenttest.Recorder) {
		agenttest.Until[trace.MessageDelta](t, r)
		if err := c.Steer(t.Context(), agenttest.Prompt("and this")); err != nil {
			t.Error(err)
		}
		stop()
	})
	if stop.Outcome != trace.OutcomeCanceled || len(host.Begun()) > 0 {
		t.Errorf("it ended as %+v, and %d other turns began", stop, len(host.Begun()))
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	model := "map[modelID:m providerID:p]"
	if want := []string{"prompt long plan " + model, "prompt and this plan " + model}; !slices.Equal(f.calls, want) {
		t.Errorf("the server got %q, want %q", f.calls, want)
	}
}

func TestAPromptOfAnotherClientIsATurnOfItsOwn(t *testing.T) {
	t.Parallel()
	f, r := attached(t)
	host := agenttest.NewHost()
	agenttest.Open(t, r, host, agent.Config{})
	f.mu.Lock()
	f.prompt(httptest.NewRecorder(), slices.Sorted(maps.Keys(f.sessions))[0], "hello from a terminal")
	f.mu.Unlock()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if all := host.Begun(); len(all) == 1 && all[0].Over() {
			verdict, _ := all[0].Result()
			if err := all[0].Finish(verdict); err != nil || verdict.Outcome != trace.OutcomeCompleted {
				t.Errorf("it ended as %+v, %v", verdict, err)
			}
			if said := agenttest.Said(all[0].Events()); !strings.Contains(said, "hello from a terminal") {
				t.Errorf("it said %q", said)
			}
			return
		}
	}
	t.Errorf("%d turns began", len(host.Begun()))
}

func TestASubagentThatWouldNotAskCannotBeCalled(t *testing.T) {
	t.Parallel()
	f, r := attached(t)
	agenttest.Open(t, r, agenttest.NewHost(), agent.Config{})
	f.mu.Lock()
	defer f.mu.Unlock()
	if !strings.HasPrefix(f.rules, `{"permission":[{"permission":"*","pattern":"*","action":"ask"},`) ||
		!strings.HasSuffix(f.rules, `,{"permission":"todoread","pattern":"*","action":"allow"},{"permission":"task","pattern":"loose","action":"deny"}]}`) {
		t.Errorf("the rules of the session are %s", f.rules)
	}
}

func TestProbe(t *testing.T) {
	t.Parallel()
	_, here := attached(t)
	for _, r := range []opencode.Runtime{program(t, "", ""), here} {
		if version, err := r.Probe(t.Context()); err != nil || version != "1.18.33" {
			t.Errorf("Probe says %q, %v", version, err)
		}
	}
	if _, err := (opencode.Runtime{Command: "no-such-opencode"}).Probe(t.Context()); err == nil {
		t.Error("there is no such program")
	}
}
