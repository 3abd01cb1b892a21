package gateway_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/tributary-dev/tributary/adapter/demo"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/gateway"
	"github.com/tributary-dev/tributary/gateway/metrics"
	"github.com/tributary-dev/tributary/policy/permission"
	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/trace"
)

// far is an agent that lives elsewhere, as far as the gateway can tell: it counts
// what an adapter with a socket counts.
type far struct{}

func (far) Open(_ context.Context, host agent.Host, cfg agent.Config) (agent.Session, error) {
	if cfg.Model == "unreachable" {
		cfg.Meter.Count(agent.OpenFailure)
		return nil, errors.New("Connection failed") //nolint:staticcheck,revive // the words of the RFC
	}
	return farSession{host, cfg}, nil
}

type farSession struct {
	host agent.Host
	cfg  agent.Config
}

func (s farSession) Prompt(ctx context.Context, p agent.Prompt, b *trace.Builder) error {
	switch p.Text() {
	case "drift":
		s.cfg.Meter.Decoded(agent.ErrUnknownEvent)
		s.cfg.Meter.Decoded(errors.New("a frame that is no JSON"))
		return nil
	case "break":
		return errors.New("Stream interrupted") //nolint:staticcheck,revive // the words of the RFC
	}
	<-ctx.Done() // silent
	return ctx.Err()
}

func (farSession) Close() error { return nil }

// measured is a gateway in a bubble, whose clock stands still while it works.
func measured(t *testing.T, configure func(*session.Options)) (p *pipes, end func()) {
	t.Helper()
	meter := metrics.New("demo", "far", "unreachable")
	return newPipes(t, func(o *session.Options) {
		o.Meter = meter.Count
		o.Agents["demo"] = session.Agent{Runtime: demo.Runtime{Pace: 10 * time.Millisecond}, Cwd: t.TempDir(), Policy: permission.Default()}
		o.Agents["far"] = session.Agent{Runtime: far{}, Cwd: t.TempDir()}
		o.Agents["unreachable"] = session.Agent{Runtime: far{}, Cwd: t.TempDir(), Model: "unreachable"}
		if configure != nil {
			configure(o)
		}
	}, func(o *gateway.Options) { o.Meter = meter })
}

// families are the metrics as Prometheus reads them.
func (p *pipes) families() map[string]*dto.MetricFamily {
	p.t.Helper()
	synctest.Wait() // what a client has read to the end is measured right after
	status, body := p.ask("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
	parser := expfmt.NewTextParser(model.LegacyValidation)
	all, err := parser.TextToMetricFamilies(strings.NewReader(body))
	if err != nil || status != http.StatusOK {
		p.t.Fatalf("/metrics: %d, %v\n%s", status, err, body)
	}
	return all
}

// of is a metric of an agent.
func (p *pipes) of(name, agent string) *dto.Metric {
	p.t.Helper()
	family := p.families()[name]
	for _, m := range family.GetMetric() {
		for _, l := range m.GetLabel() {
			if l.GetName() == "agent" && l.GetValue() == agent {
				return m
			}
		}
	}
	p.t.Fatalf("there is no metric %s of %s", name, agent)
	return nil
}

// counts checks the counters of an agent: requests, errors, aborts by the client and
// by the server.
func (p *pipes) counts(agent string, requests, errs, client, server float64) {
	p.t.Helper()
	for name, want := range map[string]float64{
		"tributary_chat_requests_total": requests, "tributary_chat_errors_total": errs,
		"tributary_chat_client_aborts_total": client, "tributary_chat_server_aborts_total": server,
	} {
		if got := p.of(name, agent).GetCounter().GetValue(); got != want {
			p.t.Errorf("%s of %s is %v, want %v", name, agent, got, want)
		}
	}
}

func (p *pipes) chat(path, id, text string) string {
	p.t.Helper()
	status, body := p.ask(post(path, submit(id, "u-"+text, text)))
	if status != http.StatusOK || !strings.HasSuffix(body, "data: [DONE]\n\n") {
		p.t.Fatalf("%d %s", status, body)
	}
	return body
}

func TestI04_RequestsWithAStreamOfATurnAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, end := measured(t, nil)
		defer end()
		p.counts("demo", 0, 0, 0, 0) // there from the start: an increase needs something to begin at
		p.chat("/api/chat", "c1", "hello")
		p.chat("/api/sessions/c1/chat", "c1", "hello")
		paused := p.chat("/api/chat", "c2", "approve")
		p.counts("demo", 3, 0, 0, 0)
		for path, want := range map[string]int{
			"GET /api/chat/c1/stream HTTP/1.1\r\nHost: x\r\n\r\n":       200, // shows a turn once more
			"GET /api/sessions/c1/trace HTTP/1.1\r\nHost: x\r\n\r\n":    200,
			post("/api/chat", `{"id":"c1","messages":[]}`):              400,
			post("/api/sessions/nowhere/chat", submit("x", "u1", "hi")): 404,
		} {
			if status, body := p.ask(path); status != want {
				t.Errorf("%.40q: %d %s", path, status, body)
			}
		}
		p.counts("demo", 3, 0, 0, 0)
		message := find(paused, `"messageId":"([^"]+)"`)
		answer := `{"id":"c2","messages":[{"id":"` + message + `","role":"assistant","parts":[{"type":"tool-write_file","toolCallId":"` + find(paused, `"toolCallId":"([^"]+)"`) +
			`","state":"approval-responded","approval":{"id":"` + find(paused, `"approvalId":"([^"]+)"`) + `","approved":true}}]}]}`
		if status, body := p.ask(post("/api/chat", answer)); status != http.StatusOK || !strings.HasSuffix(body, "data: [DONE]\n\n") {
			t.Errorf("%d %s", status, body)
		}
		p.counts("demo", 4, 0, 0, 0)
	})
}

// An agent that says that it failed is an error for the client, and no abort: nothing
// was wrong on the way.
func TestI05_ErrorsInStreamsAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, end := measured(t, nil)
		defer end()
		if body := p.chat("/api/chat", "c1", "error"); !strings.Contains(body, `"type":"error"`) {
			t.Fatal(body)
		}
		p.chat("/api/chat", "c2", "hello")
		p.counts("demo", 2, 1, 0, 0)
	})
}

func TestI06_TheFirstChunkIsTimed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, end := measured(t, nil)
		defer end()
		p.chat("/api/chat", "c1", "slow")
		h := p.of("tributary_chat_first_chunk_seconds", "demo").GetHistogram()
		if h.GetSampleCount() != 1 || h.GetSampleSum() != 0 {
			t.Errorf("the gateway's own time to the first chunk is none here: %v", h)
		}
		bounds := map[float64]bool{}
		for _, b := range h.GetBucket() {
			bounds[b.GetUpperBound()] = true
		}
		if !bounds[0.2] || !bounds[0.5] { // the limits that the RFC sets
			t.Errorf("buckets %v", h.GetBucket())
		}

		// A wait for another turn does not count as a delay of the gateway.
		first := p.send(post("/api/chat", submit("c2", "u1", "slow")))
		go func() { _, _ = io.Copy(io.Discard, first) }()
		synctest.Wait()
		second := p.send(post("/api/chat", submit("c2", "u2", "hello")))
		_, _ = io.CopyN(io.Discard, second, 10)
		time.Sleep(time.Millisecond)
		if status, _ := p.ask(post("/api/chat/c2/stop", "{}")); status != http.StatusOK {
			t.Error(status)
		}
		go func() { _, _ = io.Copy(io.Discard, second) }()
		time.Sleep(time.Minute)
		if n := p.of("tributary_chat_first_chunk_seconds", "demo").GetHistogram().GetSampleCount(); n != 2 {
			t.Errorf("%d requests were timed, want 2: those that did not wait", n)
		}
		if n := p.of("tributary_chat_duration_seconds", "demo").GetHistogram().GetSampleCount(); n != 3 {
			t.Errorf("%d turns were timed", n)
		}
		_, _ = first.Close(), second.Close()
	})
}

func TestI07_TurnsAreTimedFromRequestToFinish(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, end := measured(t, nil)
		defer end()
		before := time.Now()
		p.chat("/api/chat", "c1", "slow") // the clock moves by the agent's pauses only
		took := time.Since(before).Seconds()
		h := p.of("tributary_chat_duration_seconds", "demo").GetHistogram()
		if h.GetSampleCount() != 1 || took < 1 || h.GetSampleSum() != took {
			t.Errorf("the turn took %v s, measured %v", took, h)
		}
	})
}

func TestI08_ConnectionsThatCannotBeOpenedAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, end := measured(t, nil)
		defer end()
		if body := p.chat("/api/chat?agent=unreachable", "c1", "hello"); !strings.Contains(body, `"errorText":"Connection failed"`) {
			t.Error(body)
		}
		if n := p.of("tributary_agent_open_failures_total", "unreachable").GetCounter().GetValue(); n != 1 {
			t.Errorf("%v failures", n)
		}
		if n := p.of("tributary_agent_open_failures_total", "far").GetCounter().GetValue(); n != 0 {
			t.Errorf("%v failures of another agent", n)
		}
		p.counts("unreachable", 1, 1, 0, 1)
	})
}

func TestI09_ClientsThatLeaveBeforeFinishAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, end := measured(t, nil)
		defer end()
		conn := p.send(post("/api/chat", submit("c1", "u1", "slow")))
		_, _ = io.CopyN(io.Discard, conn, 300)
		_ = conn.Close()
		time.Sleep(time.Minute)
		p.counts("demo", 1, 0, 1, 0)
		if n := p.of("tributary_chat_duration_seconds", "demo").GetHistogram().GetSampleCount(); n != 0 {
			t.Errorf("the time until a client left was taken for a turn's")
		}
	})
}

func TestI10_StreamsThatAnErrorOrALimitEndsAreCounted(t *testing.T) {
	t.Run("silence", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			p, end := measured(t, nil)
			defer end()
			p.chat("/api/chat?agent=far", "c1", "be silent")
			p.counts("far", 1, 1, 0, 1)
		})
	})
	t.Run("the connection breaks", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			p, end := measured(t, nil)
			defer end()
			if body := p.chat("/api/chat?agent=far", "c1", "break"); !strings.Contains(body, `"errorText":"Stream interrupted"`) {
				t.Error(body)
			}
			p.counts("far", 1, 1, 0, 1)
		})
	})
	t.Run("a client that reads nothing", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			p, end := measured(t, func(o *session.Options) { o.OnDisconnect = session.Detach })
			defer end()
			conn := p.send(post("/api/chat", submit("c1", "u1", "slow")))
			defer conn.Close()
			time.Sleep(2 * time.Minute)
			p.counts("demo", 1, 0, 0, 1)
		})
	})
}

func TestI11_UnknownEventsAreCountedByAgent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, end := measured(t, nil)
		defer end()
		p.chat("/api/chat?agent=far", "c1", "drift")
		if n := p.of("tributary_agent_unknown_events_total", "far").GetCounter().GetValue(); n != 1 {
			t.Errorf("%v unknown events", n)
		}
		p.counts("far", 1, 0, 0, 0)
	})
}

// The cost of translation grows with what is said, once for each who follows.
func TestI16_TheCostOfTranslationIsMeasured(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, end := measured(t, nil)
		defer end()
		records := func() float64 {
			return p.families()["tributary_translated_records_total"].GetMetric()[0].GetCounter().GetValue()
		}
		p.chat("/api/chat", "c1", "slow")
		once := records()
		if once < 100 {
			t.Errorf("%v records of a hundred words", once)
		}
		if status, _ := p.ask("GET /api/chat/c1/stream HTTP/1.1\r\nHost: x\r\n\r\n"); status != http.StatusOK || records() != 2*once {
			t.Errorf("%d; %v records after somebody else read them", status, records())
		}
		if p.families()["tributary_translation_seconds_total"] == nil {
			t.Error("the time is not there")
		}
	})
}

// No stranger makes a series: an agent that the configuration does not name shares one.
//
//evidence:for ops-labels
func TestTheLabelsAreThoseOfTheConfiguration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, end := measured(t, func(o *session.Options) { o.Agents["unnamed"] = o.Agents["demo"] })
		defer end()
		p.chat("/api/chat?agent=unnamed", "c1", "hello")
		p.counts(metrics.Elsewhere, 1, 0, 0, 0)
		for name, family := range p.families() {
			if (strings.HasPrefix(name, "tributary_chat_") || strings.HasPrefix(name, "tributary_agent_")) && len(family.GetMetric()) != 4 {
				t.Errorf("%s has %d series", name, len(family.GetMetric()))
			}
		}
	})
}
