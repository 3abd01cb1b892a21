package runner_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/tributary-dev/tributary/adapter/agentops/runner"
	"github.com/tributary-dev/tributary/adapter/agentops/wire"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/internal/testkit/replay/replaytest"
	"github.com/tributary-dev/tributary/policy/toolkind"
	"github.com/tributary-dev/tributary/trace"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestSuite(t *testing.T) {
	agenttest.Run(t, agenttest.Suite{
		Open: func(tb testing.TB) agent.Runtime {
			r := runner.New(runner.Options{Token: token})
			t, is := tb.(*testing.T)
			if !is {
				tb.Fatal("no test")
			}
			p := ready(t, r)
			go p.serve()
			return r
		},
		Prompts: map[agenttest.Ability]string{agenttest.Text: "hello", agenttest.Slow: "slow", agenttest.Question: "ask"},
		Without: agenttest.WithoutFaults("the tests of hostile runners play them on the runner's connection"),
		Decoder: func() agent.Decoder { return runner.NewDecoder(toolkind.OpenCode()) },
		Turns:   []string{"tool"},
	})
}

// bench is a session with a runtime.
type bench struct {
	t       *testing.T
	runtime *runner.Runtime
	host    *agenttest.Host
	session agent.Session
}

func newBench(t *testing.T, host *agenttest.Host) *bench {
	t.Helper()
	b := &bench{t: t, runtime: runner.New(runner.Options{Token: token}), host: host}
	b.open()
	return b
}

func (b *bench) open() {
	b.t.Helper()
	s, err := b.runtime.Open(b.t.Context(), b.host, agent.Config{SessionID: "session"})
	if err != nil {
		b.t.Fatal(err)
	}
	b.session = s
	b.t.Cleanup(func() { _ = s.Close() })
}

type pendingPrompt struct {
	*agenttest.Recorder
	cancel context.CancelFunc
	done   chan error
}

func (b *bench) prompt(text string) pendingPrompt {
	b.t.Helper()
	p := agent.Prompt{
		Message: trace.UserMessage{ID: "user-" + text, Parts: []trace.InputPart{{Type: trace.InputText, Text: text}}},
		By:      "ada", Channel: "thread:th1", Caller: agent.Caller{Traceparent: "00-x"},
	}
	a := pendingPrompt{Recorder: b.host.Turn(p), done: make(chan error, 1)}
	ctx, cancel := context.WithCancel(b.t.Context())
	a.cancel = cancel
	go func() { a.done <- b.session.Prompt(ctx, p, a.Builder) }()
	return a
}

// end waits for the turn and returns its records, which are well formed.
func (b *bench) end(a pendingPrompt) ([]trace.Event, trace.Stop) {
	b.t.Helper()
	if err := <-a.done; err != nil {
		b.t.Errorf("Prompt: %v", err)
	}
	a.cancel()
	verdict, told := a.Result()
	if !told {
		b.t.Error("no end came")
	}
	if err := a.Finish(verdict); err != nil {
		b.t.Error(err)
	}
	if err := agenttest.CheckTurn(a.Events()); err != nil {
		b.t.Error(err)
	}
	return a.Events(), verdict
}

func TestARunnersStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, agenttest.NewHost())
		a := b.prompt("hello")
		p := connect(t, b.runtime)
		var got []string
		for range 4 {
			data, err := wire.Encode(p.receive())
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, string(data))
		}
		want := []string{
			`{"type":"init"}`, `{"type":"opencode-config","config":{"isOrchestrator":false}}`,
			`{"type":"plugin-content","pluginContent":{"personas":[],"skills":[],"tools":[],"allowRepoContent":false}}`,
			`{"type":"repo-config","token":null,"gitConfig":{}}`,
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		time.Sleep(30 * time.Second)
		synctest.Wait()
		if len(p.out) != 0 {
			t.Errorf("before it is ready the runner gets %s", <-p.out)
		}
		p.send(wire.AgentStatus{Status: wire.StatusThinking})
		synctest.Wait()
		if len(p.out) != 0 {
			t.Error("thinking is not ready")
		}
		p.send(wire.AgentStatus{Status: wire.StatusIdle})
		prompt := p.prompt()
		if prompt.Content != "hello" || prompt.AuthorID != "ada" || prompt.ThreadID != "th1" || prompt.ChannelType != "thread" || prompt.Traceparent != "00-x" {
			t.Errorf("prompt %+v", prompt)
		}
		p.sendTurn(prompt.MessageID, "t1", "Hello.")
		if events, stop := b.end(a); stop.Outcome != trace.OutcomeCompleted || agenttest.Said(events) != "Hello.\n" {
			t.Errorf("%+v %q", stop, agenttest.Said(events))
		}
	})
}

func TestASecondRunnerTakesThePlaceOfTheFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, agenttest.NewHost())
		one := ready(t, b.runtime)
		synctest.Wait()
		two := ready(t, b.runtime)
		<-one.served
		if one.reason != "Replaced by new runner connection" {
			t.Errorf("the first is closed with %q", one.reason)
		}
		a := b.prompt("hello")
		two.sendTurn(two.prompt().MessageID, "t1", "Hello.")
		b.end(a)
	})
}

func TestTokens(t *testing.T) {
	r := runner.New(runner.Options{Token: token})
	for given, want := range map[string]error{
		token: nil, runner.SessionToken(token, "session"): nil,
		"": runner.ErrToken, "guess": runner.ErrToken, runner.SessionToken(token, "another"): runner.ErrToken,
	} {
		if _, err := r.Admit("session", given); !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", given, err, want)
		}
	}
	none := runner.New(runner.Options{})
	if _, err := none.Admit("session", ""); !errors.Is(err, runner.ErrNoToken) {
		t.Errorf("without a token: %v", err)
	}
	if _, err := none.Open(t.Context(), agenttest.NewHost(), agent.Config{}); !errors.Is(err, runner.ErrNoToken) {
		t.Errorf("without a token: %v", err)
	}
	if _, err := none.Probe(t.Context()); !errors.Is(err, runner.ErrNoToken) {
		t.Errorf("without a token: %v", err)
	}
}

// TestEveryRequestIsAnswered asks for all that a runner is known to ask for, and for
// something new.
func TestEveryRequestIsAnswered(t *testing.T) {
	r := runner.New(runner.Options{Token: token})
	p := ready(t, r)
	n := 0
	for _, e := range wire.Events() {
		if e.Answer == "" {
			continue
		}
		n++
		p.sendRaw(`{"type":"` + e.Type + `","requestId":"r-` + e.Type + `","path":5}`)
		data := string(<-p.out)
		if !strings.Contains(data, `"type":"`+e.Answer+`"`) || !strings.Contains(data, `"requestId":"r-`+e.Type+`"`) || !strings.Contains(data, `"error":"`) {
			t.Errorf("%s is answered by %s", e.Type, data)
		}
	}
	if n < 40 {
		t.Errorf("only %d requests are known", n)
	}
	p.sendRaw(`{"type":"of-the-future","requestId":"r1"}`)
	if data := string(<-p.out); !strings.Contains(data, `"type":"of-the-future-result"`) || !strings.Contains(data, `"r1"`) {
		t.Errorf("answer %s", data)
	}
	p.sendRaw(`{"type":"of-the-future"}`)
	p.sendRaw(`{"type":"ping"}`)
	if _, is := p.receive().(wire.Pong); !is {
		t.Error("no pong")
	}
	p.sendRaw(`nonsense`)
	if data := string(<-p.out); !strings.Contains(data, "Invalid JSON") {
		t.Errorf("answer %s", data)
	}
}

// stories are what a runner says of one prompt; %p is the prompt.
func stories() map[string]string {
	return map[string]string{
		"D01-text": `
			{"type":"agentStatus","status":"thinking","messageId":"%p"}
			{"type":"agentStatus","status":"streaming","messageId":"%p"}
			{"type":"message.create","turnId":"t1"}
			{"type":"message.part.text-delta","turnId":"t1","delta":"Hel"}
			{"type":"message.part.text-delta","turnId":"t1","delta":"lo \ud83d"}
			{"type":"message.part.text-delta","turnId":"t1","delta":"\ude00"}
			{"type":"message.finalize","turnId":"t1","reason":"end_turn","finalText":"Hello 😀."}
			{"type":"complete","messageId":"%p"}
			{"type":"agentStatus","status":"idle","messageId":"%p"}`,
		"D04-D06-tools": `
			{"type":"message.create","turnId":"t1"}
			{"type":"message.part.text-delta","turnId":"t1","delta":"Look:"}
			{"type":"message.part.tool-update","turnId":"t1","callId":"c1","toolName":"bash","status":"pending","args":{}}
			{"type":"message.part.tool-update","turnId":"t1","callId":"c2","toolName":"read","status":"completed","args":{"filePath":"a"},"result":"x"}
			{"type":"message.part.tool-update","turnId":"t1","callId":"c1","toolName":"bash","status":"running","args":{"command":"make"}}
			{"type":"message.part.tool-update","turnId":"t1","callId":"c1","toolName":"bash","status":"completed","args":{"command":"make"}}
			{"type":"message.part.tool-update","turnId":"t1","callId":"c3","toolName":"webfetch","status":"running","args":{"url":"https://example.com"}}
			{"type":"message.part.text-delta","turnId":"t1","delta":"Done."}
			{"type":"message.finalize","turnId":"t1","reason":"end_turn","finalText":"Done."}
			{"type":"message.part.tool-update","turnId":"t1","callId":"c3","toolName":"webfetch","status":"completed"}
			{"type":"complete","messageId":"%p"}
			{"type":"complete","messageId":"%p"}`,
		"D07-tool-error": `
			{"type":"message.create","turnId":"t1"}
			{"type":"message.part.tool-update","turnId":"t1","callId":"c1","toolName":"bash","status":"error","args":{"command":"false"},"error":"exit 1"}
			{"type":"message.part.tool-update","turnId":"t1","callId":"c2","toolName":"bash","status":"error"}
			{"type":"message.finalize","turnId":"t1","reason":"end_turn","finalText":"It failed."}
			{"type":"complete"}`,
		"D09-error": `
			{"type":"message.create","turnId":"t1"}
			{"type":"message.part.text-delta","turnId":"t1","delta":"I"}
			{"type":"message.finalize","turnId":"t1","reason":"error","error":"The model did not respond."}
			{"type":"complete","messageId":"%p"}`,
		"D10-canceled": `
			{"type":"message.create","turnId":"t1"}
			{"type":"message.finalize","turnId":"t1","reason":"canceled","error":"OpenCode restarting for config update"}
			{"type":"complete","messageId":"%p"}`,
		"D11-unknown-reason": `
			{"type":"message.finalize","turnId":"t1","reason":"bored"}
			{"type":"complete","messageId":"%p"}`,
		"D18-session-error": `
			{"type":"error","messageId":"%p","error":"No model is configured."}
			{"type":"complete","messageId":"%p"}`,
		"E01-empty": `
			{"type":"message.create","turnId":"t1"}
			{"type":"message.finalize","turnId":"t1","reason":"end_turn"}
			{"type":"complete","messageId":"%p"}`,
		"E25-finalize-without-a-turn": `
			{"type":"message.create","turnId":"t1"}
			{"type":"message.finalize","reason":"error","error":"No key."}
			{"type":"complete"}`,
		"E29-failover": `
			{"type":"message.create","turnId":"t1"}
			{"type":"message.part.text-delta","turnId":"t1","delta":"Half a"}
			{"type":"model-switched","messageId":"%p","fromModel":"a","toModel":"b","reason":"overloaded"}
			{"type":"message.create","turnId":"t2"}
			{"type":"message.part.text-delta","turnId":"t2","delta":"All of it."}
			{"type":"message.finalize","turnId":"t2","reason":"end_turn","finalText":"All of it."}
			{"type":"complete","messageId":"%p"}`,
		"E26-others": `
			{"type":"complete","messageId":"another prompt"}
			{"type":"error","messageId":"another prompt","error":"not mine"}
			{"type":"question","messageId":"another prompt","questionId":"q","text":"not mine"}
			{"type":"agentStatus","status":"idle","messageId":"%p"}
			{"type":"agentStatus","status":"tool_calling","detail":"bash","messageId":"%p"}
			{"type":"message.part.text-delta","turnId":"t1","delta":"No create came before."}
			{"type":"message.part.text-delta","turnId":"t1"}
			{"type":"message.part.tool-update","turnId":"t1"}
			{"type":"screenshot","data":"iVBORw0KGgo=","description":"a picture"}
			{"type":"git-state","branch":"main"}
			{"type":"complete","messageId":"%p"}`,
	}
}

func TestV2(t *testing.T) {
	for name, story := range stories() {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, agenttest.NewHost())
			p := ready(t, b.runtime)
			p.send(wire.Ping{})
			p.receive() // what it said before is heeded
			a := b.prompt("hello")
			id := p.prompt().MessageID
			for line := range strings.Lines(strings.ReplaceAll(strings.TrimSpace(story), "%p", id)) {
				p.sendRaw(strings.TrimSpace(line))
			}
			events, _ := b.end(a)
			var got bytes.Buffer
			for _, e := range events {
				payload, err := trace.MarshalPayload(e.Payload)
				if err != nil {
					t.Fatal(err)
				}
				got.WriteString(string(e.Payload.Kind()) + " " + string(payload) + "\n")
			}
			replaytest.Golden(t, filepath.Join("testdata", name+".txt"), got.Bytes())
		})
	}
}

func TestARunnerThatComesBackGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, agenttest.NewHost())
		one := ready(t, b.runtime)
		a := b.prompt("hello")
		id := one.prompt().MessageID
		one.send(wire.MessageCreate{TurnID: "t1"}, delta("t1", "Hello, "))
		_ = one.Close("")
		<-one.served
		time.Sleep(4 * time.Second)
		two := connect(t, b.runtime)
		for range 4 {
			two.receive()
		}
		two.send(delta("t1", "again."))
		two.send(wire.AgentStatus{Status: wire.StatusIdle}) // in the middle, as when it asks
		synctest.Wait()
		if len(two.out) != 0 {
			t.Errorf("a runner that goes on gets %s", <-two.out)
		}
		two.send(wire.Finalize{TurnID: "t1", Reason: wire.ReasonEndTurn}, wire.Complete{MessageID: id})
		if events, _ := b.end(a); agenttest.Said(events) != "Hello, again.\n" {
			t.Errorf("said %q", agenttest.Said(events))
		}
	})
}

// TestAPromptIsSentAgain: what a second runner repeats of the first is not written
// twice, and a call of the first has an end.
//
//evidence:for limit-lost-runner
func TestAPromptIsSentAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, agenttest.NewHost())
		one := ready(t, b.runtime)
		a := b.prompt("hello")
		first := one.prompt()
		one.send(wire.MessageCreate{TurnID: "t1"}, delta("t1", "Let me look. "))
		one.send(wire.ToolUpdate{TurnID: "t1", CallID: "c1", ToolName: "read", Status: wire.ToolRunning, Args: json.RawMessage(`{"filePath":"a"}`)})
		_ = one.Close("")
		<-one.served
		time.Sleep(10 * time.Second)
		two := ready(t, b.runtime)
		if again := two.prompt(); again.MessageID != first.MessageID || again.Content != first.Content {
			t.Errorf("again %+v", again)
		}
		two.send(wire.MessageCreate{TurnID: "t2"}, delta("t2", "Let me look. "))
		two.send(wire.ToolUpdate{TurnID: "t2", CallID: "c1", ToolName: "read", Status: wire.ToolCompleted, Args: json.RawMessage(`{"filePath":"a"}`), Result: json.RawMessage(`"x"`)})
		two.sendTurn(first.MessageID, "t2", "It is x.")
		events, stop := b.end(a)
		if stop.Outcome != trace.OutcomeCompleted || agenttest.Said(events) != "Let me look. \nIt is x.\n" {
			t.Errorf("%+v %q", stop, agenttest.Said(events))
		}
		var ends []trace.ToolStatus
		for _, r := range agenttest.Each[trace.ToolResult](events) {
			ends = append(ends, r.Status)
		}
		if diff := cmp.Diff([]trace.ToolStatus{trace.ToolCanceled, trace.ToolCompleted}, ends); diff != "" {
			t.Error(diff)
		}
	})
}

//evidence:for limit-first-runner limit-lost-runner
func TestARunnerThatStaysAway(t *testing.T) {
	for name, c := range map[string]struct {
		prepare func(*bench) // after the prompt
		after   time.Duration
		want    string
	}{
		"it never came":      {func(*bench) {}, 2 * time.Minute, "No runner has connected"},
		"it was never ready": {func(b *bench) { connect(b.t, b.runtime) }, 2 * time.Minute, "does not become ready"},
		"it is gone": {func(b *bench) {
			p := ready(b.t, b.runtime)
			p.prompt()
			_ = p.Close("")
			<-p.served
		}, time.Minute, "is gone: start it again"},
		"another came and was never ready": {func(b *bench) {
			p := ready(b.t, b.runtime)
			p.prompt()
			_ = p.Close("")
			<-p.served
			connect(b.t, b.runtime)
		}, time.Minute, "is gone: start it again"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t, agenttest.NewHost())
				began := time.Now()
				a := b.prompt("hello")
				c.prepare(b)
				_, stop := b.end(a)
				if took := time.Since(began); stop.Outcome != trace.OutcomeFailed || !strings.Contains(stop.Error, c.want) || took < c.after || took > c.after+time.Second {
					t.Errorf("%+v after %s", stop, took)
				}
			})
		})
	}
}

//evidence:for limit-runner-end
func TestARunnerThatForgetsToSayComplete(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, agenttest.NewHost())
		p := ready(t, b.runtime)
		a := b.prompt("hello")
		p.prompt()
		p.send(wire.MessageCreate{TurnID: "t1"}, delta("t1", "Hello."), wire.Finalize{TurnID: "t1", Reason: wire.ReasonEndTurn})
		if _, stop := b.end(a); stop.Outcome != trace.OutcomeCompleted {
			t.Errorf("%+v", stop)
		}
	})
}

// TestE28_FramesAfterAnAbort is of no other turn: neither what the runner still
// says, nor its confirmation if that is late.
func TestE28_FramesAfterAnAbort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, agenttest.NewHost())
		p := ready(t, b.runtime)
		a := b.prompt("one")
		first := p.prompt().MessageID
		p.send(wire.MessageCreate{TurnID: "t1"}, delta("t1", "One"))
		a.cancel()
		if abort, is := p.receive().(wire.Abort); !is || abort.ChannelID != "th1" {
			t.Errorf("the runner got %+v", abort)
		}
		p.send(wire.Complete{MessageID: first}) // it was done already
		if _, stop := b.end(a); stop.Outcome != trace.OutcomeCanceled {
			t.Errorf("%+v", stop)
		}
		next := b.prompt("two")
		second := p.prompt().MessageID
		p.send(delta("t1", " is late"), wire.Aborted{}, wire.AgentStatus{Status: wire.StatusIdle})
		p.sendTurn(second, "t2", "Two")
		if events, stop := b.end(next); stop.Outcome != trace.OutcomeCompleted || agenttest.Said(events) != "Two\n" {
			t.Errorf("%+v %q", stop, agenttest.Said(events))
		}
	})
}

// A real runner confirms an abort at once, and reports later that it is done. This report names no
// prompt, so it would end any prompt that the runner gets in between.
func TestE28_APromptAfterAnAbortWaitsUntilTheRunnerIsDone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, tells := range []bool{true, false} {
			b := newBench(t, agenttest.NewHost())
			p := ready(t, b.runtime)
			a := b.prompt("one")
			p.prompt()
			p.send(wire.MessageCreate{TurnID: "t1"}, delta("t1", "One"))
			a.cancel()
			p.receive()
			p.send(wire.Aborted{}, wire.AgentStatus{Status: wire.StatusIdle})
			b.end(a)

			began := time.Now()
			next := b.prompt("two")
			synctest.Wait()
			if len(p.out) > 0 {
				t.Error("the runner has the next prompt while it is stopping")
			}
			if tells {
				p.sendRaw(`{"type":"message.finalize","turnId":null,"reason":"error","error":"The operation was aborted."}`)
				p.sendRaw(`{"type":"complete"}`)
				p.sendRaw(`{"type":"agentStatus","status":"idle"}`)
			}
			p.sendTurn(p.prompt().MessageID, "t2", "Two")
			if events, stop := b.end(next); stop.Outcome != trace.OutcomeCompleted || agenttest.Said(events) != "Two\n" {
				t.Errorf("%+v %q", stop, agenttest.Said(events))
			}
			if took := time.Since(began); took > 5*time.Second || tells && took > 0 {
				t.Errorf("it took %s", took)
			}
		}
	})
}

func TestQuestionsOfARunner(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host := agenttest.NewHost()
		expire := false
		host.OnAsk = func(context.Context, trace.Question) trace.Answer {
			if expire {
				return trace.Answer{Outcome: trace.Expired}
			}
			return trace.Answer{Outcome: trace.Selected, Values: []string{"blue", "red"}, By: "ada"}
		}
		b := newBench(t, host)
		p := ready(t, b.runtime)
		for _, want := range []string{"blue, red", "__expired__"} {
			a := b.prompt("hello")
			id := p.prompt().MessageID
			p.send(wire.Question{QuestionID: "native", Text: "Which?", Options: []string{"red", "blue"}, MessageID: id})
			answer, is := p.receive().(wire.Answer)
			if !is || answer.QuestionID != "native" || answer.Answer.Text != want {
				t.Errorf("answer %+v, want %s", answer, want)
			}
			p.sendTurn(id, "t-"+want, "Thanks.")
			b.end(a)
			expire = true
		}
	})
}

func TestNotes(t *testing.T) {
	b := newBench(t, agenttest.NewHost())
	p := ready(t, b.runtime)
	p.send(wire.Title{Title: "A title"}, wire.UsageReport{TurnID: "t1", Entries: []wire.UsageEntry{
		{Model: "m", InputTokens: 1, OutputTokens: 2}, {Model: "m", InputTokens: 10, OutputTokens: 20},
	}})
	p.sendRaw(`{"type":"files-changed","files":[]}`)
	p.sendRaw(`{"type":"tunnels","tunnels":[]}`)
	p.send(wire.Ping{})
	p.receive()
	var got []string
	for _, n := range b.host.Notes() {
		payload, err := trace.MarshalPayload(n)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, string(payload))
	}
	want := []string{
		`{"name":"runner","value":{"connected":true},"transient":true,"domain":true}`, `{"name":"title","value":"A title"}`,
		`{"scope":"session","input_tokens":11,"output_tokens":22,"model":"m"}`,
		`{"name":"files-changed","id":"files-changed","value":{"files":[]},"domain":true}`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func FuzzRunnerFrame(f *testing.F) {
	for _, story := range stories() {
		f.Add(story)
	}
	f.Add(`{"type":"message.part.tool-update","turnId":"t","callId":"c","toolName":5,"status":{},"args":[1],"result":null}`)
	f.Add(`{"type":"question","questionId":"q","text":"?","options":[1,"a"]}`)
	f.Fuzz(func(t *testing.T, story string) {
		b := newBench(t, agenttest.NewHost())
		p := ready(t, b.runtime)
		a := b.prompt("hello")
		id := p.prompt().MessageID
		for line := range strings.Lines(story) {
			p.sendRaw(strings.ReplaceAll(line, "%p", id))
		}
		p.send(wire.Complete{MessageID: id})
		b.end(a)
	})
}

//evidence:for limit-runner-questions
func TestQuestionsOfARunnerHaveABound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host := agenttest.NewHost()
		host.OnAsk = func(ctx context.Context, _ trace.Question) trace.Answer {
			<-ctx.Done() // nobody answers
			return trace.Answer{Outcome: trace.Canceled}
		}
		b := newBench(t, host)
		p := ready(t, b.runtime)
		a := b.prompt("hello")
		id := p.prompt().MessageID
		for i := range 33 {
			p.send(wire.Question{QuestionID: fmt.Sprint("q", i), Text: "Again?", MessageID: id})
		}
		if answer, is := p.receive().(wire.Answer); !is || answer.QuestionID != "q32" || answer.Answer.Text != wire.Expired {
			t.Errorf("answer %+v", answer)
		}
		p.send(wire.Complete{MessageID: id})
		b.end(a)
	})
}

// A turn is stopped while its prompt is being written. The runner keeps its connection and gets the
// abort through it.
func TestH18_AnAbortCutsNoRunner(t *testing.T) {
	b := newBench(t, agenttest.NewHost())
	p := ready(t, b.runtime)
	stop := make(chan context.CancelFunc, 1)
	p.slow = func() {
		select {
		case cancel := <-stop:
			if cancel != nil {
				cancel()
				close(stop)
			}
		case <-p.closed:
		}
	}
	a := b.prompt("hello")
	stop <- a.cancel
	if prompt, is := p.receive().(wire.RunnerPrompt); !is {
		t.Errorf("the runner got %+v", prompt)
	}
	if abort, is := p.receive().(wire.Abort); !is {
		t.Errorf("the runner got %+v", abort)
	}
	p.send(wire.Aborted{}, wire.AgentStatus{Status: wire.StatusIdle})
	if _, stop := b.end(a); stop.Outcome != trace.OutcomeCanceled {
		t.Errorf("the turn ended with %+v", stop)
	}
}
