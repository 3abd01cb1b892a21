package live_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"maps"
	"net/http"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/eventlog/memlog"
	"github.com/tributary-dev/tributary/export/live"
	"github.com/tributary-dev/tributary/export/otlp"
	"github.com/tributary-dev/tributary/export/otlp/otlptest"
	"github.com/tributary-dev/tributary/export/otlp/send"
	"github.com/tributary-dev/tributary/export/redact"
	"github.com/tributary-dev/tributary/trace"
)

const key = "Basic c2VjcmV0LWtleQ=="

// place is a log, with what an exporter of it says.
type place struct {
	*eventlog.Log

	t     *testing.T
	said  bytes.Buffer
	turns int
}

func newPlace(t *testing.T, s eventlog.Store) *place {
	t.Helper()
	p := &place{Log: eventlog.New(s), t: t}
	t.Cleanup(func() { _ = p.Close() })
	return p
}

// turn writes a turn that ends, with a call of a tool, and with totals and an agent that go on from turn to turn.
func (p *place) turn(session, agent string, more ...trace.Payload) {
	p.t.Helper()
	p.turns++
	id, at := fmt.Sprint("t", p.turns), time.Now()
	all := []trace.Payload{
		trace.Prompt{Message: trace.UserMessage{ID: "u" + id, Parts: []trace.InputPart{{Type: trace.InputText, Text: "do " + id}}}, By: "ann"},
		trace.Reply{MessageID: "m" + id},
		trace.AgentInfo{Product: "product", Version: id[:1]}.Payload(),
		trace.Step{Phase: trace.PhaseStart},
		trace.ToolCall{ToolCallID: "c", RawName: "read", Name: "read", Input: []byte(`{"path":"a"}`)},
		trace.ToolResult{ToolCallID: "c", Status: trace.ToolCompleted},
		trace.Message{Part: "p", Role: trace.RoleAssistant, Text: "done " + id},
		trace.Usage{Scope: trace.UsageSession, InputTokens: int64(100 * p.turns), OutputTokens: int64(10 * p.turns)},
	}
	if p.turns%2 == 0 {
		all = slices.Delete(all, 2, 3) // the agent is known from the turn before
	}
	all = append(append(all, more...), trace.Stop{Reason: "end_turn", Outcome: trace.OutcomeCompleted, FinalOutput: "done"})
	for i, payload := range all {
		e := trace.Event{ID: fmt.Sprint(id, ".", i), Time: at.Add(time.Duration(i) * time.Millisecond), Actor: trace.Agent, Payload: payload}
		_, err := p.AppendWith(p.t.Context(), eventlog.Entry{Session: session, Agent: agent, Updated: time.Now(), Doc: []byte("{}")}, id, []trace.Event{e})
		if err != nil {
			p.t.Fatal(err)
		}
	}
}

// score writes a score of a turn.
func (p *place) score(session, turn, name string) {
	p.t.Helper()
	value := 0.5
	e := trace.Event{ID: "score of " + turn + " by " + name, Time: time.Now(), Actor: trace.User, Payload: trace.Score{Turn: turn, Name: name, Verdict: trace.ScoreFail, Score: &value, Reason: "2 of 4"}.Payload()}
	if _, err := p.Append(p.t.Context(), session, "", []trace.Event{e}); err != nil {
		p.t.Fatal(err)
	}
	synctest.Wait()
}

// start starts an exporter, which the end of the test stops.
func (p *place) start(to http.RoundTripper, change ...func(*live.Options)) *live.Exporter {
	p.t.Helper()
	o := live.Options{
		Name: "x", Logger: slog.New(slog.NewTextHandler(&p.said, nil)), Spans: otlp.Options{Version: "1"},
		Receiver: send.Config{URL: "https://receiver.example/?token=query-secret", Header: http.Header{"Authorization": {key}}, Transport: to},
	}
	for _, c := range change {
		c(&o)
	}
	e, err := live.New(o)
	if err != nil {
		p.t.Fatal(err)
	}
	if err := e.Start(p.t.Context(), p.Log); err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(e.Stop)
	return e
}

// played plays a test, with a log and a receiver, in time of its own.
func played(t *testing.T, do func(t *testing.T, p *place, r *taken)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { do(t, newPlace(t, memlog.New()), &taken{}) })
}

func backfill(o *live.Options) { o.Backfill = true }

// taken are the turns that the receiver has, in the order in which they came.
type taken struct {
	otlptest.Receiver

	mu     sync.Mutex
	order  []string // of the turns
	bodies map[string][]byte
}

func (r *taken) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	req.Body = io.NopCloser(bytes.NewReader(body))
	before := r.roots()
	res, err := r.Receiver.RoundTrip(req)
	r.mu.Lock()
	defer r.mu.Unlock()
	for id := range r.roots() {
		if !before[id] {
			r.order = append(r.order, id)
		}
	}
	for _, s := range r.Spans() {
		if id, _ := s.Attrs["input.value"].(string); id != "" && (r.bodies[id] == nil || !before[id]) {
			if r.bodies == nil {
				r.bodies = map[string][]byte{}
			}
			r.bodies[id] = body
		}
	}
	return res, err
}

// roots are the turns by what was asked in them.
func (r *taken) roots() map[string]bool {
	all := map[string]bool{}
	for _, s := range r.Spans() {
		if strings.HasPrefix(s.Name, "invoke_agent") {
			all[fmt.Sprint(s.Attrs["input.value"])] = true
		}
	}
	return all
}

func (r *taken) got(t *testing.T, want ...string) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range want {
		want[i] = "do t" + want[i]
	}
	if !slices.Equal(r.order, want) || r.Faults() != nil {
		t.Errorf("the receiver has %q, want %q; %v", r.order, want, r.Faults())
	}
}

// inOrder reports whether the receiver has the one turn before the other.
func inOrder(r *taken, first, second string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	a, b := slices.Index(r.order, first), slices.Index(r.order, second)
	return a >= 0 && a < b
}

func waiting(t *testing.T, e *live.Exporter, want int) {
	t.Helper()
	if n, err := e.Waiting(t.Context()); n != want || err != nil {
		t.Errorf("%d turns wait, %v; want %d", n, err, want)
	}
}

// Each turn arrives when it has ended, as the spans of an export of the whole session.
//
//evidence:for ops-live-export
func TestTurnsArrive(t *testing.T) {
	t.Parallel()
	played(t, func(t *testing.T, p *place, r *taken) {
		p.turn("before", "claude")
		e := p.start(r)
		synctest.Wait()
		for _, session := range []string{"a", "b", "a", "before", "a"} {
			p.turn(session, "claude")
			synctest.Wait()
		}
		r.got(t, "2", "3", "4", "5", "6")
		waiting(t, e, 0)
		s := e.Status()
		if s.Turns != 5 || s.Spans != int64(len(r.Spans())) || s.Dropped+s.Skipped+s.Failures != 0 || s.LastSent == nil || s.FailingSince != nil {
			t.Errorf("%+v", s)
		}

		whole := &otlptest.Receiver{}
		sender, err := send.New(send.Config{URL: "https://receiver.example", Transport: whole})
		if err != nil {
			t.Fatal(err)
		}
		for _, session := range []string{"a", "b", "before"} {
			records := func() iter.Seq2[trace.Record, error] { return p.Durable(t.Context(), session, 0, 0) }
			for requests, err := range otlp.Turns(records, otlp.Options{Version: "1", Filter: redact.Filter{Agent: trace.AgentInfo{Name: "claude"}}}) {
				for _, request := range requests {
					if _, err := sender.Send(t.Context(), request); err != nil {
						t.Fatal(err)
					}
				}
				if err != nil {
					t.Fatal(err)
				}
			}
		}
		all := slices.DeleteFunc(whole.Spans(), func(s otlptest.Span) bool {
			return !slices.ContainsFunc(r.Spans(), func(got otlptest.Span) bool { return got.Trace == s.Trace })
		})
		if !reflect.DeepEqual(all, r.Spans()) || len(whole.Spans()) <= len(all) {
			t.Errorf("live there are %d spans, of an export %d", len(r.Spans()), len(all))
		}
	})
}

// A score goes out when it comes, into the trace of its turn, as an export of the whole session has it.
// So it is also after a restart, in a session that is not in memory, and when the receiver was down.
func TestScoresArrive(t *testing.T) {
	t.Parallel()
	played(t, func(t *testing.T, p *place, r *taken) {
		var down atomic.Bool
		r.Answer = func(_ int, w http.ResponseWriter, _ *http.Request) bool {
			if down.Load() {
				w.WriteHeader(http.StatusServiceUnavailable)
			}
			return down.Load()
		}
		of := func(o *live.Options) { o.Agents = []string{"claude"} }
		p.turn("claude's", "claude")
		p.score("claude's", "t1", "before")
		e := p.start(r, of)
		for _, agent := range []string{"claude", "claude", "other"} {
			p.turn(agent+"'s", agent)
			synctest.Wait()
		}
		p.score("claude's", "t2", "tests")
		p.score("claude's", "t2", "style")
		p.score("other's", "t4", "tests")
		check := func(want ...string) {
			t.Helper()
			var got []string
			traces := map[string]otlptest.Span{}
			for _, s := range r.Spans() {
				if strings.HasPrefix(s.Name, "invoke_agent") {
					traces[s.Trace] = s
				}
			}
			for _, s := range r.Spans() {
				if name, is := strings.CutPrefix(s.Name, "evaluation "); is {
					got = append(got, fmt.Sprint(traces[s.Trace].Attrs["input.value"], " ", name))
					if s.Parent != traces[s.Trace].ID || s.Attrs["gen_ai.evaluation.score.value"] != 0.5 {
						t.Errorf("%+v", s)
					}
				}
			}
			slices.Sort(got)
			if !slices.Equal(got, want) || r.Faults() != nil {
				t.Errorf("the scores are %q, want %q; %v", got, want, r.Faults())
			}
		}
		check("do t2 style", "do t2 tests")
		requests := r.Requests()
		p.turn("claude's", "claude")
		synctest.Wait()
		if n := r.Requests() - requests; n != 1 {
			t.Errorf("a turn after the scores is %d requests", n)
		}
		down.Store(true)
		p.score("claude's", "t3", "tests")
		down.Store(false)
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		check("do t2 style", "do t2 tests", "do t3 tests")
		if s := e.Status(); s.Turns != 3 || s.Spans != int64(len(r.Spans())) || s.FailingSince != nil || s.Skipped > 0 {
			t.Errorf("%+v", s)
		}
		e.Stop()
		p.score("claude's", "t3", "style") // while no exporter runs
		p.start(r, of)
		p.score("claude's", "t5", "tests")
		check("do t2 style", "do t2 tests", "do t3 style", "do t3 tests", "do t5 tests")
	})
}

// While the receiver is down turns wait, also beyond the end of the process, and arrive in the order of each session.
func TestReceiverIsDown(t *testing.T) {
	t.Parallel()
	played(t, func(t *testing.T, p *place, r *taken) {
		var down atomic.Bool
		down.Store(true)
		r.Answer = func(_ int, w http.ResponseWriter, _ *http.Request) bool {
			if down.Load() {
				w.WriteHeader(http.StatusServiceUnavailable)
				fmt.Fprintf(w, "no disk for %s, nor for query-secret", key)
			}
			return down.Load()
		}
		e := p.start(r)
		for range 3 {
			p.turn("a", "claude")
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		waiting(t, e, 3)
		s := e.Status()
		if s.Turns != 0 || s.Failures < 60 || s.Failures > 300 || s.FailingSince == nil || time.Since(*s.FailingSince) < 59*time.Minute || !strings.Contains(s.LastFailure, "no disk for …") {
			t.Errorf("%+v", s)
		}
		e.Stop()
		p.turn("a", "claude")
		down.Store(false)
		second := p.start(r)
		synctest.Wait()
		r.got(t, "1", "2", "3", "4")
		waiting(t, second, 0)

		down.Store(true) // the receiver goes down again, and comes up
		p.turn("a", "claude")
		p.turn("b", "claude")
		time.Sleep(3 * time.Hour)
		synctest.Wait()
		p.turn("a", "claude")
		down.Store(false)
		time.Sleep(2*time.Minute + 10*time.Second)
		synctest.Wait()
		if s := second.Status(); s.Turns != 7 || s.FailingSince != nil || !inOrder(r, "do t5", "do t7") {
			t.Errorf("%+v", s)
		}
		for _, secret := range []string{"c2VjcmV0", "query-secret"} {
			if said := p.said.String() + fmt.Sprintf("%+v %+v", s, second.Status()); strings.Contains(said, secret) {
				t.Errorf("a secret is told: %s", said)
			}
		}
		if n := strings.Count(p.said.String(), "level=WARN"); n == 0 || n > 30 {
			t.Errorf("%d lines in the log", n)
		}
	})
}

// A span that is refused costs no other, and is told in one line for its turn.
func TestBadSpan(t *testing.T) {
	t.Parallel()
	played(t, func(t *testing.T, p *place, r *taken) {
		r.Refuse = func(s otlptest.Span) string {
			if strings.HasPrefix(s.Name, "execute_tool") {
				return "no tools"
			}
			return ""
		}
		e := p.start(r)
		p.turn("a", "claude")
		p.turn("a", "claude")
		synctest.Wait()
		r.got(t, "1", "2")
		if s := e.Status(); s.Dropped != 2 || s.Turns != 2 || s.Failures != 0 || strings.Count(p.said.String(), "did not take all spans") != 2 {
			t.Errorf("%+v %s", s, p.said.String())
		}
	})
}

// A receiver that takes nothing, as with a wrong header, loses no turn.
func TestNothingIsTaken(t *testing.T) {
	t.Parallel()
	played(t, func(t *testing.T, p *place, r *taken) {
		var wrong atomic.Bool
		wrong.Store(true)
		r.Refuse = func(otlptest.Span) string { return map[bool]string{true: "wrong version"}[wrong.Load()] }
		e := p.start(r)
		for range 10 {
			p.turn("a", "claude")
		}
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		waiting(t, e, 10)
		if s := e.Status(); s.Dropped != 0 || !strings.Contains(s.LastFailure, "takes no span") {
			t.Errorf("%+v", s)
		}
		wrong.Store(false)
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		r.got(t, "1", "2", "3", "4", "5", "6", "7", "8", "9", "10")
	})
}

// A turn on which the receiver fails holds up its own session only.
func TestOneTurnFails(t *testing.T) {
	t.Parallel()
	played(t, func(t *testing.T, p *place, r *taken) {
		e := p.start(broken{r, "do t1"})
		p.turn("a", "claude")
		p.turn("a", "claude")
		synctest.Wait()
		for i := range 100 {
			p.turn(fmt.Sprint("b", i), "claude")
			began := time.Now()
			for waits := true; waits; time.Sleep(100 * time.Millisecond) {
				n, err := e.Waiting(t.Context())
				if waits = n != 2; err != nil || time.Since(began) > 10*time.Second {
					t.Fatalf("%d turns wait after %v, %v", n, time.Since(began), err)
				}
			}
		}
		if s := e.Status(); s.Turns != 100 || s.FailingSince == nil {
			t.Errorf("%+v", s)
		}
	})
}

// broken fails on requests that hold a text.
type broken struct {
	*taken

	text string
}

func (b broken) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	req.Body = io.NopCloser(bytes.NewReader(body))
	trial := req.Clone(req.Context())
	trial.Body = io.NopCloser(bytes.NewReader(body))
	seen := &taken{}
	if _, err := seen.RoundTrip(trial); err != nil {
		return nil, err
	}
	if seen.roots()[b.text] {
		return &http.Response{StatusCode: http.StatusInternalServerError, Body: http.NoBody, Request: req}, nil
	}
	return b.taken.RoundTrip(req)
}

// faulty is a store with a session that is damaged, and that can be away.
type faulty struct {
	eventlog.Store

	away atomic.Bool
	lost int // positions that are not kept
}

func (f *faulty) Durable(ctx context.Context, session string, after, until uint64) iter.Seq2[trace.Record, error] {
	if session == "damaged" {
		return func(yield func(trace.Record, error) bool) {
			yield(trace.Record{}, &eventlog.DamageError{Session: session, What: "its entry"})
		}
	}
	if session == "gone" {
		return func(func(trace.Record, error) bool) {}
	}
	return f.Store.Durable(ctx, session, after, until)
}

func (f *faulty) NextUnsent(ctx context.Context, exporter, session string, agents []string) (eventlog.UnsentTurn, bool, error) {
	if f.away.Load() {
		return eventlog.UnsentTurn{}, false, errors.New("the database cannot be reached")
	}
	return f.Store.NextUnsent(ctx, exporter, session, agents)
}

func (f *faulty) Sent(ctx context.Context, exporter, session string, stop uint64) error {
	if f.lost--; f.lost >= 0 {
		return errors.New("the database cannot be reached")
	}
	return f.Store.Sent(ctx, exporter, session, stop)
}

// What cannot be exported is left out, in a line of the log, and all others arrive.
func TestTurnsThatCannotBeExported(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &faulty{Store: memlog.New()}
		p, r := newPlace(t, f), &taken{}
		e := p.start(r)
		p.turn("damaged", "claude")
		p.turn("gone", "claude")
		_, err := p.AppendWith(t.Context(), eventlog.Entry{Session: "recording", Updated: time.Now()}, "t", []trace.Event{{ID: "e", Time: time.UnixMilli(5), Payload: trace.Stop{Outcome: trace.OutcomeCompleted}}})
		if err != nil {
			t.Fatal(err)
		}
		p.turn("whole", "claude")
		synctest.Wait()
		r.got(t, "3")
		waiting(t, e, 0)
		if s := e.Status(); s.Skipped != 3 || s.Failures != 0 || strings.Count(p.said.String(), "a turn is not exported") != 3 {
			t.Errorf("%+v %s", s, p.said.String())
		}
		f.away.Store(true)
		p.turn("whole", "claude")
		p.turn("deleted", "claude")
		time.Sleep(time.Minute)
		synctest.Wait()
		if err := p.Delete(t.Context(), "deleted"); err != nil {
			t.Fatal(err)
		}
		f.away.Store(false)
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		r.got(t, "3", "4")
		if s := e.Status(); s.FailingSince != nil {
			t.Errorf("%+v", s)
		}
	})
}

// A turn that is sent again has the same bytes: after a crash, by another gateway, and when the exporter has
// forgotten what came before it.
//
//evidence:for ops-live-export
func TestSentTwiceIsTheSame(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &faulty{Store: memlog.New(), lost: 2}
		p, first := newPlace(t, f), &taken{}
		p.start(first)
		for i := range 150 {
			p.turn(fmt.Sprint("s", i%10), "claude")
			synctest.Wait()
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		n := first.Requests()
		if len(first.bodies) != 150 || n != 152 {
			t.Errorf("%d turns in %d requests", len(first.bodies), n)
		}
		second := &taken{}
		p.start(second, backfill, func(o *live.Options) { o.Name = "another" })
		time.Sleep(time.Minute)
		synctest.Wait()
		if !maps.EqualFunc(first.bodies, second.bodies, bytes.Equal) || first.Faults() != nil {
			t.Errorf("%d turns, and again %d: the bytes differ; %v", len(first.bodies), len(second.bodies), first.Faults())
		}
	})
}

// Of a deleted session nothing is in the spans of the next session with its id.
func TestNextLifeOfASession(t *testing.T) {
	t.Parallel()
	played(t, func(t *testing.T, p *place, r *taken) {
		p.start(r)
		p.turn("a", "claude")
		synctest.Wait()
		if err := p.Delete(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
		p.turn("a", "claude")
		synctest.Wait()
		again := &taken{}
		p.start(again, backfill, func(o *live.Options) { o.Name = "another" })
		synctest.Wait()
		if len(again.bodies) != 1 || !bytes.Equal(again.bodies["do t2"], r.bodies["do t2"]) {
			t.Errorf("%d turns", len(again.bodies))
		}
	})
}

func TestAgentsAndBackfill(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, some, all := newPlace(t, memlog.New()), &taken{}, &taken{}
		p.turn("a", "claude")
		p.turn("b", "codex")
		e := p.start(some, backfill, func(o *live.Options) { o.Name, o.Agents = "some", []string{"codex"} })
		p.start(all)
		p.turn("a", "claude")
		p.turn("b", "codex")
		synctest.Wait()
		some.got(t, "2", "4")
		slices.Sort(all.order)
		all.got(t, "3", "4")
		waiting(t, e, 0)
	})
}

// A receiver that does not answer holds up neither sessions nor other exporters.
func TestSilentReceiver(t *testing.T) {
	t.Parallel()
	played(t, func(t *testing.T, p *place, r *taken) {
		silent := p.start(never{}, func(o *live.Options) { o.Name = "silent" })
		p.start(r)
		began := time.Now()
		for range 20 {
			p.turn("a", "claude")
			synctest.Wait()
		}
		if len(r.order) != 20 || time.Since(began) != 0 {
			t.Errorf("%d turns after %v", len(r.order), time.Since(began))
		}
		silent.Stop() // at once
		if time.Since(began) != 0 {
			t.Errorf("stopped after %v", time.Since(began))
		}
	})
}

type never struct{}

func (never) RoundTrip(req *http.Request) (*http.Response, error) {
	<-req.Context().Done()
	return nil, req.Context().Err()
}

// heap notes the memory that is in use while requests are sent.
type heap struct {
	otlptest.Receiver

	most uint64
}

func (h *heap) RoundTrip(req *http.Request) (*http.Response, error) {
	_, _ = io.Copy(io.Discard, req.Body)
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	h.most = max(h.most, m.HeapAlloc)
	return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody, Request: req}, nil
}

// A large turn is in memory a few times, and turns that wait are not.
//
//nolint:paralleltest // it measures the memory
func TestMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("it measures memory")
	}
	p, h := newPlace(t, memlog.New()), &heap{}
	const size, turns = 16 << 20, 4
	for range turns {
		var more []trace.Payload
		for i := range size >> 19 {
			id := fmt.Sprint("big", i)
			more = append(more, trace.ToolCall{ToolCallID: id, RawName: "read"}, trace.ToolResult{ToolCallID: id, Status: trace.ToolCompleted, Output: []byte(`"` + strings.Repeat("x", 1<<19) + `"`)})
		}
		p.turn("a", "claude", more...)
	}
	var before runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	e := p.start(h, backfill)
	deadline := time.Now().Add(time.Minute)
	for e.Status().Turns < turns && time.Now().Before(deadline) {
		time.Sleep(time.Millisecond)
	}
	if grown := float64(h.most-min(h.most, before.HeapAlloc)) / size; grown > 4 || e.Status().Turns != turns {
		t.Errorf("a turn takes its size %.1f times, %+v", grown, e.Status())
	} else {
		t.Logf("a turn takes its size %.1f times", grown)
	}
}
