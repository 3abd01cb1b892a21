package agentops_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tributary-dev/tributary/adapter/agentops"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/trace"
)

// stage is a session on a server, with a host that records.
type stage struct {
	t             *testing.T
	server        *server
	runtime       agentops.Runtime
	host          *agenttest.Host
	session       agent.Session
	openFailures  atomic.Int64 // connections that could not be opened
	unknownFrames atomic.Int64 // frames of unknown types
	n             int
}

// newStage opens a session; change may alter the runtime.
func newStage(t *testing.T, e serverKind, change ...func(*agentops.Runtime)) *stage {
	t.Helper()
	st := &stage{t: t, server: newServer(t, e), host: agenttest.NewHost()}
	st.runtime = st.server.runtime()
	for _, c := range change {
		c(&st.runtime)
	}
	t.Cleanup(func() {
		for _, r := range st.host.Begun() { // as the session hub would
			_ = r.Finish(trace.Stop{Reason: "shutdown", Outcome: trace.OutcomeCanceled})
		}
	})
	st.open("")
	return st
}

// newStageWithTurn opens a session in which a turn of Ada's runs, which has said "well".
func newStageWithTurn(t *testing.T, e serverKind, change ...func(*agentops.Runtime)) (*stage, *liveTurn) {
	t.Helper()
	st := newStage(t, e, change...)
	p := st.prompt("slow")
	p.waitForText("well")
	return st, p
}

// newStageWithQueuedPrompt opens a session in which a prompt of Ada waits for a turn of Bob.
func newStageWithQueuedPrompt(t *testing.T, e serverKind) (*stage, *liveTurn) {
	t.Helper()
	st := newStage(t, e)
	st.prompt("hello").completes()
	st.server.bobPrompts("slow")
	synctest.Wait()
	p := st.prompt("slow too")
	synctest.Wait()
	return st, p
}

func strict(r *agentops.Runtime)  { r.Strict = true }
func perTurn(r *agentops.Runtime) { r.PerTurn = true }

func (st *stage) open(token string) {
	st.t.Helper()
	session, err := st.runtime.Open(st.t.Context(), st.host, agent.Config{SessionID: st.server.id, Resume: token, Meter: func(c agent.Count) {
		switch c {
		case agent.OpenFailure:
			st.openFailures.Add(1)
		case agent.UnknownEvent:
			st.unknownFrames.Add(1)
		}
	}})
	if err != nil {
		st.t.Fatal(err)
	}
	st.session = session
	st.t.Cleanup(func() {
		if err := session.Close(); err != nil {
			st.t.Error(err)
		}
	})
}

// serviceToken makes Ada's token the gateway's service token. Turns outlive the gateway with it.
func serviceToken(t *testing.T) func(*agentops.Runtime) {
	t.Helper()
	file := t.TempDir() + "/token"
	if err := os.WriteFile(file, []byte("token-ada\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return func(r *agentops.Runtime) { r.Token.File = file }
}

// liveTurn is a turn under way.
type liveTurn struct {
	*agenttest.Recorder
	st     *stage
	cancel context.CancelFunc
	done   chan struct{}
	err    error
}

// sender is how a prompt is sent.
type sender struct{ who, channel, traceparent string }

// prompt prompts as Ada.
func (st *stage) prompt(text string) *liveTurn { return st.promptBy(text, sender{who: "ada"}) }

func (st *stage) promptBy(text string, b sender, files ...trace.InputPart) *liveTurn {
	st.n++
	p := agent.Prompt{
		Message: trace.UserMessage{ID: "user-" + text, Parts: append([]trace.InputPart{{Type: trace.InputText, Text: text}}, files...)},
		By:      b.who, Channel: b.channel, Caller: agent.Caller{Bearer: "token-" + b.who, Traceparent: b.traceparent},
	}
	ctx, cancel := context.WithCancel(st.t.Context())
	pl := &liveTurn{Recorder: st.host.Turn(p), st: st, cancel: cancel, done: make(chan struct{})}
	session := st.session
	go func() {
		defer close(pl.done)
		pl.err = session.Prompt(ctx, p, pl.Builder)
	}()
	return pl
}

// end waits for the turn's end, and checks that it is well formed.
func (p *liveTurn) end() (trace.Stop, []trace.Event) {
	t := p.st.t
	t.Helper()
	select {
	case <-p.done:
	case <-time.After(20 * time.Minute): // the bubble's
		t.Fatal("Prompt did not return")
	}
	p.cancel()
	if p.err != nil {
		t.Fatalf("Prompt: %v", p.err)
	}
	stop, ended := p.Result()
	if !ended {
		t.Fatal("Prompt returned and the turn has no end")
	}
	return finish(t, p.Recorder, stop)
}

// otherTurn returns the only turn of another user, which must have ended.
func (st *stage) otherTurn() (trace.Stop, []trace.Event) {
	st.t.Helper()
	begun := st.host.Begun()
	if len(begun) != 1 {
		st.t.Fatalf("%d turns of other users", len(begun))
	}
	stop, ended := begun[0].Result()
	if !ended {
		st.t.Fatal("the other turn has no end")
	}
	return finish(st.t, begun[0], stop)
}

func finish(t *testing.T, r *agenttest.Recorder, stop trace.Stop) (trace.Stop, []trace.Event) {
	t.Helper()
	if err := r.Finish(stop); err != nil {
		t.Error(err)
	}
	events := r.Events()
	if err := agenttest.CheckTurn(events); err != nil {
		t.Errorf("the turn is not well formed: %v", err)
	}
	return stop, events
}

// completes plays a turn that must be completed, and returns its texts.
func (p *liveTurn) completes() string {
	p.st.t.Helper()
	stop, events := p.end()
	if stop.Outcome != trace.OutcomeCompleted {
		p.st.t.Fatalf("the turn ended as %+v, errors %v", stop, agenttest.Each[trace.Error](events))
	}
	return said(events)
}

// said joins the texts of a turn by a stroke.
func said(events []trace.Event) string {
	return strings.ReplaceAll(strings.TrimSuffix(agenttest.Said(events), "\n"), "\n", "|")
}

// streamed joins the deltas of a turn.
func streamed(events []trace.Event) string {
	var text strings.Builder
	for _, d := range agenttest.Each[trace.MessageDelta](events) {
		text.WriteString(d.Delta)
	}
	return text.String()
}

// waitForText waits until the turn has streamed a text.
func (p *liveTurn) waitForText(text string) {
	p.st.t.Helper()
	ctx, cancel := context.WithTimeout(p.st.t.Context(), 10*time.Minute)
	defer cancel()
	first, all := "", ""
	if _, err := p.Await(ctx, func(e trace.Event) bool {
		if first == "" {
			first = e.ID
		}
		if e.ID == first { // Await looks at all events again
			all = ""
		}
		if d, ok := e.Payload.(trace.MessageDelta); ok {
			all += d.Delta
		}
		return strings.Contains(all, text)
	}); err != nil {
		p.st.t.Fatalf("the turn never said %q", text)
	}
}

// detach ends the session as a gateway does that stops while the turn runs.
func (p *liveTurn) detach() {
	t := p.st.t
	t.Helper()
	if err := errors.Join(p.Flush(), p.Detach(), p.st.session.Close()); err != nil {
		t.Fatal(err)
	}
	<-p.done
}

// reattach re-attaches the turn in a new session, and waits for its end. Some requests of the turn
// are still open.
func (p *liveTurn) reattach(host *agenttest.Host, waiting ...string) (trace.Stop, []trace.Event) {
	t := p.st.t
	t.Helper()
	r, left := host.OpenTurn(p.Recorder)
	left.Waiting = waiting
	session, err := p.st.runtime.Open(t.Context(), host, agent.Config{SessionID: p.st.server.id, Resume: p.st.host.Token(), OpenTurns: []agent.OpenTurn{left}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = session.Close() }()
	if err := p.st.runtime.Reattach(t.Context(), session, left); err != nil {
		t.Fatal(err)
	}
	stop, ok := r.Result()
	if !ok {
		t.Fatal("the turn has no end")
	}
	return finish(t, r, stop)
}
