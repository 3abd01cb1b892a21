package openharness_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/adapter/openharness"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/trace"
)

// testSession is a session under test.
type testSession struct {
	t    *testing.T
	host *agenttest.Host
	s    agent.Session
}

func open(t *testing.T, r openharness.Runtime) testSession {
	t.Helper()
	host := agenttest.NewHost()
	s, err := r.Open(t.Context(), host, agent.Config{SessionID: "s"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return testSession{t, host, s}
}

func prompt(text string) agent.Prompt {
	return agent.Prompt{Message: trace.UserMessage{ID: "u", Parts: []trace.InputPart{{Type: trace.InputText, Text: text}}}, By: "ann", Caller: agent.Caller{Bearer: "anns-token"}}
}

// says plays a turn and returns what was said and how the turn ended.
func (s testSession) says(text string) (said string, stop trace.Stop) {
	s.t.Helper()
	r := s.host.Turn(prompt(text))
	return end(s.t, r, func() error { return s.s.Prompt(s.t.Context(), prompt(text), r.Builder) })
}

func end(t *testing.T, r *agenttest.Recorder, run func() error) (said string, stop trace.Stop) {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- run() }()
	select {
	case err := <-done:
		stop, _ = r.Result()
		if err != nil {
			stop = trace.Stop{Outcome: trace.OutcomeFailed, Error: err.Error()}
		}
	case <-time.After(20 * time.Second):
		t.Fatal("the turn does not end")
	}
	if err := r.Finish(stop); err != nil {
		t.Fatal(err)
	}
	if err := agenttest.CheckTurn(r.Events()); err != nil {
		t.Error(err)
	}
	return plain(agenttest.Said(r.Events())), stop
}

func scaffold(s *scaffoldServer) openharness.Runtime {
	return openharness.Runtime{URL: s.URL, Options: openharness.Options{Silence: agent.Duration(200 * time.Millisecond)}}
}

func TestK13_ThePromptIsSentOnceTheSessionListens(t *testing.T) {
	t.Parallel()
	s := newKernel(t)
	if said, stop := open(t, openharness.Runtime{URL: s.address() + "/ws"}).says("hello"); said != "You said: hello" || stop.Outcome != trace.OutcomeCompleted {
		t.Errorf("%q, %+v", said, stop)
	}
	w := newWeb(t)
	talk := open(t, openharness.Runtime{URL: w.URL, Options: openharness.Options{Protocol: openharness.HTTP02}})
	for _, p := range []string{"one", "two", "three"} {
		w.late = p != "one" // from the second prompt on the run is known, so no event is lost
		if said, _ := talk.says(p); said != "You said: "+p {
			t.Errorf("%q", said)
		}
	}
	if want := []string{"chat one", "events", "events", "chat two", "events", "chat three"}; !slices.Equal(w.calls, want) {
		t.Errorf("the server got %q", w.calls)
	}
}

func TestAPauseIsAnsweredByAResume(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]struct{ command, said string }{
		"Go on": {"resume", "You chose Go on."}, "shorter": {"resume shorter", "You chose shorter."}, "": {"abort", ""},
	} {
		s := newKernel(t)
		talk := open(t, openharness.Runtime{URL: s.address()})
		talk.host.OnAsk = func(context.Context, trace.Question) trace.Answer {
			if answer == "" {
				return trace.Answer{Outcome: trace.Expired}
			}
			return trace.Answer{Outcome: trace.Selected, Values: []string{answer}}
		}
		said, stop := talk.says("question")
		if said != want.said || (stop.Outcome == trace.OutcomeCanceled) != (want.said == "") || !slices.Equal(s.commands, []string{"send question", want.command}) {
			t.Errorf("%q: %q, %+v, %q", answer, said, stop, s.commands)
		}
	}
}

func TestEventsThatWereLostWithTheConnectionAreNotPassedOver(t *testing.T) {
	t.Parallel()
	s := newKernel(t)
	talk := open(t, openharness.Runtime{URL: s.address()})
	r := talk.host.Turn(prompt("cut"))
	said, stop := end(t, r, func() error { return talk.s.Prompt(t.Context(), prompt("cut"), r.Builder) })
	notices := agenttest.Each[trace.Error](r.Events())
	if !strings.Contains(said, "One, two, three.") || stop.Outcome != trace.OutcomeCompleted || len(notices) != 1 || notices[0].Code != "gap" {
		t.Errorf("%q, %+v, %+v", said, stop, notices)
	}
}

func TestALogIsReadOnFromItsPosition(t *testing.T) {
	t.Parallel()
	for _, cut := range []int{1, 2, 3, 5, 7} {
		s := newScaffold(t, nil)
		s.cut, s.pace = cut, 5*time.Millisecond
		talk := open(t, openharness.Runtime{URL: s.URL}) // its patience with a silent server is long, so that only the server cuts
		r := talk.host.Turn(prompt("tool"))
		said, stop := end(t, r, func() error { return talk.s.Prompt(t.Context(), prompt("tool"), r.Builder) })
		if said != "I look. One file." || stop.Outcome != trace.OutcomeCompleted || len(agenttest.Each[trace.ToolResult](r.Events())) != 2 {
			t.Errorf("cut after %d: %q, %+v", cut, said, stop)
		}
		if want := fmt.Sprintf("GET /sessions/session-1/events?fromPosition=%d&history=1", cut); !slices.Contains(s.calls, want) {
			t.Errorf("the server got %q", s.calls)
		}
	}
}

func TestAnAnswerThatIsGivenElsewhereCounts(t *testing.T) {
	t.Parallel()
	s := newScaffold(t, nil)
	talk := open(t, scaffold(s))
	talk.host.OnPermit = func(ctx context.Context, p trace.PermissionRequest) trace.PermissionResponse {
		res, err := http.Post(s.URL+"/sessions/session-1/input", "application/json", strings.NewReader(`{"event":{"id":"e","name":"input:received","payload":{"id":"`+p.RequestID+`","value":"yes","approved":true}}}`))
		if err == nil {
			_ = res.Body.Close()
		}
		<-ctx.Done()
		return trace.PermissionResponse{}
	}
	r := talk.host.Turn(prompt("permit"))
	said, _ := end(t, r, func() error { return talk.s.Prompt(t.Context(), prompt("permit"), r.Builder) })
	answers := agenttest.Each[trace.PermissionResponse](r.Events())
	if said != "The answer was yes." || len(answers) != 1 || answers[0].ChosenOption != "yes" {
		t.Errorf("%q, %+v", said, answers)
	}
}

func TestAnAnswerIsACompleteEvent(t *testing.T) {
	t.Parallel()
	s := newScaffold(t, nil)
	talk := open(t, scaffold(s))
	talk.host.OnPermit = func(context.Context, trace.PermissionRequest) trace.PermissionResponse {
		return trace.PermissionResponse{Outcome: trace.Selected, ChosenOption: "no", OptionKind: trace.RejectOnce}
	}
	talk.says("permit")
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.sessions["session-1"].log {
		if e["name"] == "input:received" {
			got, _ := json.Marshal(e["payload"])
			if id, _ := e["id"].(string); string(got) != `{"approved":false,"id":"input-4","value":"no"}` || len(id) != 36 || e["timestamp"] == nil {
				t.Errorf("%v", e)
			}
			return
		}
	}
	t.Error("there is no answer")
}

// TestAPromptBehindAStopWaitsUntilTheFlowHasPaused: the server refuses prompts until then.
func TestAPromptBehindAStopWaitsUntilTheFlowHasPaused(t *testing.T) {
	t.Parallel()
	server := newWeb(t)
	server.lingers = make(chan struct{})
	st := open(t, openharness.Runtime{URL: server.URL, Options: openharness.Options{Protocol: openharness.HTTP02}})
	r, done := st.host.Turn(prompt("slow")), make(chan error, 1)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() { done <- st.s.Prompt(ctx, prompt("slow"), r.Builder) }()
	if _, err := r.Await(t.Context(), func(e trace.Event) bool { return e.Payload.Kind() == trace.KindMessageDelta }); err != nil {
		t.Fatal(err)
	}
	if err := r.Finish(trace.Stop{Reason: "stopped", Outcome: trace.OutcomeCanceled}); err != nil {
		t.Fatal(err)
	}
	cancel()
	<-done
	if said, stop := st.says("hello"); stop.Outcome != trace.OutcomeCompleted {
		t.Errorf("the next turn said %q and ended as %+v", said, stop)
	}
}

func TestWhatIsWrongIsOneSentence(t *testing.T) {
	t.Parallel()
	secret := httptest.NewTLSServer(nil)
	t.Cleanup(secret.Close)
	w, s, k := newWeb(t), newScaffold(t, nil), newKernel(t)
	for name, c := range map[string]struct{ url, protocol, prompt, want string }{
		"no kernel":       {"ws://127.0.0.1:1", "", "hello", "connection refused"},
		"wrong path":      {k.address() + "/else", "", "hello", "the server answers 404 (Not Found) and opens no WebSocket: is the address right?"},
		"no WebSocket":    {k.address() + "/page", "", "hello", "the server answers 200 (OK) and opens no WebSocket: is the address right?"},
		"moved":           {k.address() + "/moved", "", "hello", "the server redirects to https://elsewhere.test/: use the final address"},
		"a certificate":   {strings.Replace(secret.URL, "https", "wss", 1), "", "hello", "x509"},
		"a flow fails":    {k.address(), "", "error", "the model is away"},
		"no server":       {"http://127.0.0.1:1", openharness.HTTP02, "hello", "connection refused"},
		"wrong server":    {s.URL, openharness.HTTP02, "hello", "/health with status 404"},
		"busy":            {w.URL, openharness.HTTP02, "busy", "Open Harness did not take the prompt: Runtime not paused (status: running)"},
		"an error":        {w.URL, openharness.HTTP02, "error", "the model is away"},
		"no scaffold":     {"http://127.0.0.1:1", "", "hello", "connection refused"},
		"a page":          {s.URL, "", "page", "text/html and not JSON: is the address right?"},
		"a redirect":      {s.URL, "", "moved", "the server redirects to https://elsewhere.test/: use the final address"},
		"no prompt":       {s.URL, "", " ", "The prompt holds nothing that Open Harness can read."},
		"a workflow dies": {s.URL, "", "die", "Open Scaffold did not go on: the server does not run this workflow any more: the workflow failed or was paused, or the server was started again"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := openharness.Runtime{URL: c.url, Options: openharness.Options{Protocol: c.protocol, Silence: agent.Duration(300 * time.Millisecond)}}
			host := agenttest.NewHost()
			session, err := r.Open(t.Context(), host, agent.Config{})
			if err == nil {
				defer session.Close() //nolint:errcheck // a test's
				_, stop := testSession{t, host, session}.says(c.prompt)
				err = errors.New(stop.Error)
			}
			if got := err.Error(); !strings.Contains(got, c.want) || strings.Contains(got, "\n") {
				t.Errorf("%q", got)
			}
		})
	}
}

func TestWrongSettingsAreNamed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ url, token, options, want string }{
		{"localhost:1", "", "", "url is"},
		{"ftp://a", "", "", "url is"},
		{"http://a", "", `{"protocol":"grpc"}`, "options.protocol is"},
		{"http://a", "", `{"protocol":"kernel"}`, "has other addresses"},
		{"ws://a", "", `{"protocol":"scaffold"}`, "has other addresses"},
		{"ws://a", "NO_SUCH_VARIABLE_HERE", "", "token_env names"},
		{"ws://a", "", `{"protocl":1}`, "the key \"protocl\""},
	} {
		_, err := openharness.Adapter().Make(agent.Settings{URL: c.url, TokenEnv: c.token, Options: json.RawMessage(c.options)})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	if r, err := openharness.Adapter().New(agent.Settings{URL: "ws://a"}); err != nil {
		t.Error(err)
	} else if _, is := r.(agent.Reattacher); is {
		t.Error("a flow of the kernel cannot be taken up again")
	}
}

// A gateway that is restarted at any moment loses nothing and doubles nothing.
func TestAWorkflowGoesOnOverARestart(t *testing.T) {
	t.Parallel()
	srv := newScaffold(t, nil)
	srv.pace = 4 * time.Millisecond
	r, err := openharness.Adapter().New(agent.Settings{URL: srv.URL, Options: json.RawMessage(`{"silence":"300ms"}`)})
	if err != nil {
		t.Fatal(err)
	}
	rounds, random := agenttest.Rounds(t, 20), agenttest.Random(t)
	texts := map[string]string{"tool": "I look. One file.", "words": plain(strings.Repeat("word ", 20)), "permit": "The answer was yes.", "hello": "You said: hello"}
	var taken atomic.Int64
	t.Cleanup(func() {
		if taken.Load() < int64(rounds/2) {
			t.Errorf("only %d of %d turns were taken up again", taken.Load(), rounds)
		}
	})
	names := []string{"tool", "words", "permit", "hello"}
	for n := range rounds {
		pause := time.Duration(random.IntN(60)) * time.Millisecond
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			text := names[n%len(names)]
			host := agenttest.NewHost()
			host.RequestSuffix = "-x"
			host.OnPermit = func(ctx context.Context, _ trace.PermissionRequest) trace.PermissionResponse {
				<-ctx.Done()
				return trace.PermissionResponse{}
			}
			s, err := r.Open(t.Context(), host, agent.Config{SessionID: "s"})
			if err != nil {
				t.Fatal(err)
			}
			ctx, leave := context.WithCancelCause(t.Context())
			defer leave(nil)
			before, done := host.Turn(prompt(text)), make(chan error, 1)
			go func() { done <- s.Prompt(ctx, prompt(text), before.Builder) }()
			for host.Token() == "" {
				time.Sleep(time.Millisecond)
			}
			time.Sleep(pause)
			if before.Over() {
				<-done
				_ = s.Close()
				_ = before.Finish(trace.Stop{Outcome: trace.OutcomeCompleted})
				return // too late
			}
			_ = before.Detach()
			leave(agent.ErrDetached)
			<-done
			_ = s.Close()
			if _, over := before.Result(); over {
				return // in the last moment
			}
			taken.Add(1)
			host2 := agenttest.NewHost()
			host2.RequestSuffix = "-x"
			host2.OnPermit = func(context.Context, trace.PermissionRequest) trace.PermissionResponse {
				return trace.PermissionResponse{Outcome: trace.Selected, ChosenOption: "yes", OptionKind: trace.AllowOnce}
			}
			again, left := host2.OpenTurn(before)
			next, err := r.Open(t.Context(), host2, agent.Config{SessionID: "s", Resume: host.Token()})
			if err != nil {
				t.Fatal(err)
			}
			defer next.Close() //nolint:errcheck // a test's
			said, stop := end(t, again, func() error { return r.(agent.Reattacher).Reattach(t.Context(), next, left) })
			if said != texts[text] || stop.Outcome != trace.OutcomeCompleted {
				t.Errorf("%s: %q, %+v", text, said, stop)
			}
			if calls := agenttest.Each[trace.ToolResult](again.Events()); text == "tool" && len(calls) != 2 || text == "permit" && len(calls) != 1 {
				t.Errorf("the results are %+v", calls)
			}
			if asked := agenttest.Each[trace.PermissionRequest](again.Events()); text == "permit" && len(asked) != 1 {
				t.Errorf("the requests are %+v", asked)
			}
		})
	}
}

// plain is a text without the gaps between its parts.
func plain(text string) string { return strings.Join(strings.Fields(text), " ") }
