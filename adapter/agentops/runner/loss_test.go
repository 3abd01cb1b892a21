package runner_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tributary-dev/tributary/adapter/agentops/wire"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/trace"
)

// reconnect is a runner that comes back and has said nothing yet.
func reconnect(t *testing.T, b *bench) *program {
	t.Helper()
	p := connect(t, b.runtime)
	for range 4 {
		p.receive()
	}
	return p
}

func (p *program) disconnect() {
	_ = p.Close("")
	<-p.served
}

func TestH18_AnAbortReachesARunnerThatIsBackAndSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, agenttest.NewHost())
		one := ready(t, b.runtime)
		a := b.prompt("hello")
		one.prompt()
		one.send(wire.MessageCreate{TurnID: "t1"})
		one.disconnect()
		two := reconnect(t, b)
		a.cancel()
		if f, is := two.receive().(wire.Abort); !is || f.ChannelID != "th1" {
			t.Errorf("the runner got %+v", f)
		}
		two.send(wire.Aborted{})
		if _, stop := b.end(a); stop.Outcome != trace.OutcomeCanceled {
			t.Errorf("%+v", stop)
		}
	})
}

func TestH18_ATurnThatIsStoppedWithoutARunnerEndsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, agenttest.NewHost())
		one := ready(t, b.runtime)
		a := b.prompt("hello")
		one.prompt()
		one.disconnect()
		synctest.Wait()
		began := time.Now()
		a.cancel()
		if _, stop := b.end(a); stop.Outcome != trace.OutcomeCanceled || time.Since(began) > time.Second {
			t.Errorf("%+v after %s", stop, time.Since(began))
		}
	})
}

func TestARunnerGetsAnAbortWhenItsSessionCloses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, agenttest.NewHost())
		p := ready(t, b.runtime)
		a := b.prompt("hello")
		p.prompt()
		if err := b.session.Close(); err != nil {
			t.Error(err)
		}
		if f, is := p.receive().(wire.Abort); !is {
			t.Errorf("the runner got %+v", f)
		}
		if _, stop := b.end(a); stop.Outcome != trace.OutcomeCanceled {
			t.Errorf("%+v", stop)
		}
	})
}

func TestAQuestionThatARunnerRepeatsIsAskedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host := agenttest.NewHost()
		answered := make(chan struct{})
		host.OnAsk = func(ctx context.Context, _ trace.Question) trace.Answer {
			select {
			case <-answered:
			case <-ctx.Done():
			}
			return trace.Answer{Outcome: trace.Selected, Values: []string{"red"}, By: "ada"}
		}
		b := newBench(t, host)
		one := ready(t, b.runtime)
		a := b.prompt("hello")
		id := one.prompt().MessageID
		question := wire.Question{QuestionID: "q", Text: "Which?", MessageID: id}
		one.send(wire.MessageCreate{TurnID: "t1"}, question)
		one.disconnect()
		two := reconnect(t, b)
		two.send(delta("t1", "Well? "), question)
		close(answered)
		if answer, is := two.receive().(wire.Answer); !is || answer.Answer.Text != "red" {
			t.Errorf("answer %+v", answer)
		}
		two.send(wire.Finalize{TurnID: "t1", Reason: wire.ReasonEndTurn}, wire.Complete{MessageID: id})
		if events, _ := b.end(a); len(agenttest.Each[trace.Question](events)) != 1 {
			t.Error("the question was asked twice")
		}
	})
}

func TestAQuestionOfALostTryIsCanceled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host := agenttest.NewHost()
		host.OnAsk = func(ctx context.Context, _ trace.Question) trace.Answer {
			<-ctx.Done()
			return trace.Answer{}
		}
		b := newBench(t, host)
		one := ready(t, b.runtime)
		a := b.prompt("hello")
		id := one.prompt().MessageID
		one.send(wire.MessageCreate{TurnID: "t1"}, wire.Question{QuestionID: "q", Text: "Which?", MessageID: id})
		one.disconnect()
		two := ready(t, b.runtime)
		two.sendTurn(two.prompt().MessageID, "t2", "Never mind.")
		events, _ := b.end(a)
		if answers := agenttest.Each[trace.Answer](events); len(answers) != 1 || answers[0].Outcome != trace.Canceled {
			t.Errorf("answers %+v", answers)
		}
		if len(two.out) > 0 {
			t.Errorf("the runner got %s", <-two.out)
		}
	})
}

// A runner pings all the time, also when it has forgotten to say complete. Late results of
// tools are a sign that it has not.
func TestOnlyFramesOfThePromptDelayTheEndOfAFinalizedTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, agenttest.NewHost())
		p := ready(t, b.runtime)
		a := b.prompt("hello")
		p.prompt()
		p.send(wire.MessageCreate{TurnID: "t1"}, delta("t1", "Hello."), wire.Finalize{TurnID: "t1", Reason: wire.ReasonEndTurn})
		began := time.Now()
		for i := range 4 {
			time.Sleep(25 * time.Second)
			p.send(wire.Ping{})
			p.receive()
			if i == 1 {
				p.send(wire.ToolUpdate{TurnID: "t1", CallID: "c1", ToolName: "bash", Status: wire.ToolCompleted})
			}
		}
		if _, stop := b.end(a); stop.Outcome != trace.OutcomeCompleted || time.Since(began) != 110*time.Second {
			t.Errorf("%+v after %s", stop, time.Since(began))
		}
	})
}

// The runner does not know of sessions: it goes on with a turn whose session was closed.
func TestE28_LateFramesAreLateInTheNextSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, agenttest.NewHost())
		p := ready(t, b.runtime)
		a := b.prompt("one")
		p.prompt()
		p.send(wire.MessageCreate{TurnID: "t1"}, delta("t1", "One"))
		_ = b.session.Close()
		p.receive()
		b.end(a)
		b.open()
		next := b.prompt("two")
		id := p.prompt().MessageID
		p.send(delta("t1", " is late"))
		p.sendTurn(id, "t2", "Two")
		if events, stop := b.end(next); stop.Outcome != trace.OutcomeCompleted || agenttest.Said(events) != "Two\n" {
			t.Errorf("%+v %q", stop, agenttest.Said(events))
		}
	})
}
