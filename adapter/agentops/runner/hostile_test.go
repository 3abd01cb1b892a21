package runner_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tributary-dev/tributary/adapter/agentops/runner"
	"github.com/tributary-dev/tributary/adapter/agentops/wire"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/trace"
)

// E24: a runner may say complete twice, and February's does not say of which prompt.
func TestE24_ASecondCompleteEndsNotTheNextPrompt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, agenttest.NewHost())
		p := ready(t, b.runtime)
		first := b.prompt("one")
		p.prompt()
		p.send(wire.AgentStatus{Status: wire.StatusThinking}, wire.MessageCreate{TurnID: "t1"}, delta("t1", "One"),
			wire.Finalize{TurnID: "t1", Reason: wire.ReasonEndTurn}, wire.Complete{})
		b.end(first)
		second := b.prompt("two")
		p.prompt()
		p.send(wire.Complete{}, wire.AgentStatus{Status: wire.StatusIdle})
		synctest.Wait()
		p.send(wire.AgentStatus{Status: wire.StatusThinking}, wire.MessageCreate{TurnID: "t2"}, delta("t2", "Two"),
			wire.Finalize{TurnID: "t2", Reason: wire.ReasonEndTurn}, wire.Complete{})
		events, stop := b.end(second)
		if got := agenttest.Said(events); got != "Two\n" || stop.Outcome != trace.OutcomeCompleted {
			t.Errorf("%q %+v", got, stop)
		}
	})
}

// A prompt that ends its runner each time is not sent for ever.
func TestAPromptThatEndsItsRunnerIsNotSentForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, agenttest.NewHost())
		var sent atomic.Int64
		over := make(chan struct{})
		done := make(chan struct{})
		go func() {
			defer close(done)
			for range 200 {
				select {
				case <-over:
					return
				case <-time.After(10 * time.Second):
				}
				p := ready(t, b.runtime)
				select {
				case <-p.out:
					sent.Add(1)
				case <-time.After(time.Second):
				}
				_ = p.Close("")
				<-p.served
			}
		}()
		a := b.prompt("poison")
		_, stop := b.end(a)
		close(over)
		<-done
		if stop.Outcome != trace.OutcomeFailed || !strings.Contains(stop.Error, "runner") || sent.Load() > 5 {
			t.Errorf("%+v after %d times", stop, sent.Load())
		}
	})
}

// I11: what no runner has ever said is counted, each once.
func TestI11_UnknownFramesOfARunnerAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var unknown atomic.Int64
		r := runner.New(runner.Options{Token: token})
		s, err := r.Open(t.Context(), agenttest.NewHost(), agent.Config{SessionID: "session", Meter: func(c agent.Count) {
			if c == agent.UnknownEvent {
				unknown.Add(1)
			}
		}})
		if err != nil {
			t.Fatal(err)
		}
		p := ready(t, r)
		p.sendRaw(`{"type":"brand-new"}`)
		p.sendRaw(`{"type":"brand-new-request","requestId":"r"}`)
		p.sendRaw(`{"type":"git-state","data":{}}`)
		p.sendRaw(`{"type":"mem-read","requestId":"r"}`)
		p.sendRaw(`{"type":"message.create"}`)
		p.sendRaw(`nonsense`)
		p.send(wire.Ping{})
		synctest.Wait()
		if n := unknown.Load(); n != 2 {
			t.Errorf("%d were counted", n)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
}

// A runner that makes calls without end costs bounded memory.
func TestCallsOfARunnerHaveABound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, agenttest.NewHost())
		p := ready(t, b.runtime)
		a := b.prompt("go")
		prompt := p.prompt()
		p.send(wire.MessageCreate{TurnID: "t1"})
		for i := range 12_000 {
			p.sendRaw(fmt.Sprintf(`{"type":"message.part.tool-update","turnId":"t1","callId":"c%d","toolName":"bash","status":"completed","args":{"x":1},"result":"y"}`, i))
		}
		p.send(delta("t1", "Done"), wire.Finalize{TurnID: "t1", Reason: wire.ReasonEndTurn}, wire.Complete{MessageID: prompt.MessageID})
		events, stop := b.end(a)
		if n := len(agenttest.Each[trace.ToolCall](events)); n != 10_000 || agenttest.Said(events) != "Done\n" || stop.Outcome != trace.OutcomeCompleted {
			t.Errorf("%d calls, %q, %+v", n, agenttest.Said(events), stop)
		}
	})
}
