package gateway

import (
	"context"
	"errors"
	"math"
	"net/http"
	"os"
	rtmetrics "runtime/metrics"
	"time"

	"github.com/tributary-dev/tributary/gateway/metrics"
	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/uistream"
)

// This file counts requests for the metrics.

// count counts requests and the statuses of their answers.
func (g *gateway) count(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		g.Meter.Request()
		next.ServeHTTP(&counted{ResponseWriter: w, meter: g.Meter}, r)
	})
}

// counted notices the status of a response.
type counted struct {
	http.ResponseWriter
	meter *metrics.Meter
	done  bool // the status was counted
}

func (c *counted) WriteHeader(status int) {
	if !c.done {
		c.done = true
		c.meter.Answered(status)
	}
	c.ResponseWriter.WriteHeader(status)
}

// Unwrap lets http.ResponseController reach the connection.
func (c *counted) Unwrap() http.ResponseWriter { return c.ResponseWriter }

// metrics serves the metrics.
func (g *gateway) metrics(w http.ResponseWriter, r *http.Request) error {
	g.Meter.Handler().ServeHTTP(w, r)
	return nil
}

// measureAll adds the metrics that the gateway reads from other packages.
func (g *gateway) measureAll() {
	m, started := g.Meter, float64(time.Now().Unix())
	m.Gauge("tributary_sessions", "Sessions in the registry.", func() float64 {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		sessions, err := g.Hub.Count(ctx)
		if err != nil {
			return math.NaN()
		}
		return float64(sessions)
	})
	m.Gauge("tributary_sessions_damaged", "Sessions with records that are damaged or lost on disk.", func() float64 { return float64(len(g.Hub.Damage().Sessions)) })
	m.Gauge("tributary_sessions_running", "Sessions with a running turn.", func() float64 { return float64(g.Hub.Running()) })
	m.Gauge("tributary_ready", "1 while the gateway takes prompts, as /readyz says, else 0.", func() float64 {
		if g.notReady() != nil {
			return 0
		}
		return 1
	})
	m.Counter("tributary_log_failures_total", "Writes to the log that failed.", func() float64 { return float64(g.Hub.LogFailures()) })
	m.Gauge("tributary_agents", "Agents that have a place of max_agents: they work, or were not closed yet.", func() float64 {
		open, _ := g.Hub.Places()
		return float64(open)
	})
	m.Gauge("tributary_turns_waiting", "Turns that wait for a place of max_agents or of agent_share.", func() float64 {
		_, waiting := g.Hub.Places()
		return float64(waiting)
	})
	m.Gauge("tributary_heap_live_bytes", "Bytes of the heap that were in use at the last garbage collection.", liveHeap)
	m.Gauge("tributary_start_time_seconds", "Unix time at which the gateway started.", func() float64 { return started })
	m.Counter("tributary_translated_records_total", "Records that were translated and encoded for subscribers.", func() float64 {
		return float64(g.Streams.Cost().Records)
	})
	m.Counter("tributary_translation_seconds_total", "Seconds spent on translating and encoding records.", func() float64 { return g.Streams.Cost().Time.Seconds() })
	g.measureCluster()
	g.measureBackups()
	for _, e := range g.Exporters {
		g.measureExporter(e)
	}
}

// measureCluster adds what the gateway knows of the other gateways.
func (g *gateway) measureCluster() {
	m := g.Meter
	m.Gauge("tributary_gateways", "Gateways that run on the database, this one too, as this one sees them.", func() float64 { return float64(g.Hub.Log.Among().Gateways) })
	m.Gauge("tributary_judges_others", "1 while this gateway may find others dead, because it has reached the database without a break for the time of a lease, else 0.", func() float64 {
		if g.Hub.Log.Among().Judges {
			return 1
		}
		return 0
	})
	m.Counter("tributary_gateways_died_total", "Other gateways that this one has found dead.", func() float64 { return float64(g.Hub.Log.Among().Died) })
	m.Gauge("tributary_sessions_owned", "Sessions that this gateway owns.", func() float64 { return float64(g.Hub.Log.Among().Owned) })
	for result, count := range map[string]func(session.TakenUp) uint64{
		"continued": func(t session.TakenUp) uint64 { return t.Continued },
		"held":      func(t session.TakenUp) uint64 { return t.Held },
		"closed":    func(t session.TakenUp) uint64 { return t.Closed },
	} {
		m.Counter("tributary_turns_taken_up_total", "Turns that a gateway has left without an end, and that this one has taken up, by what it did with them.",
			func() float64 { return float64(count(g.Hub.TakenUp())) }, metrics.Label{Name: "result", Value: result})
	}
	m.Counter("tributary_forwards_total", "Requests passed on to the gateways that own their sessions. A stream counts when it ends.", func() float64 { return float64(g.Cluster.Passed().All) })
	m.Counter("tributary_forwards_failed_total", "Requests passed on that got no whole answer, because the owner could not be reached or ended.", func() float64 { return float64(g.Cluster.Passed().Failed) })
	m.Counter("tributary_forwards_continued_total", "Streams passed on whose owner ended, and that went on at the next one.", func() float64 { return float64(g.Cluster.Passed().Continued) })
}

// liveHeap is the memory that the last garbage collection found in use. Unlike allocated
// memory it holds no garbage, so that it shows growth and nothing else.
func liveHeap() float64 {
	sample := []rtmetrics.Sample{{Name: "/gc/heap/live:bytes"}}
	rtmetrics.Read(sample)
	if sample[0].Value.Kind() != rtmetrics.KindUint64 {
		return 0
	}
	return float64(sample[0].Value.Uint64())
}

// streamed measures a chat request whose stream is over, with what its serving
// returned.
func (g *gateway) streamed(r *http.Request, turn session.Turn, began time.Time, sent uistream.Sent, err error) {
	cut, revoked := wasCut(r, sent, err), wasRevoked(err)
	g.Meter.Streamed(metrics.Stream{
		Agent: turn.Agent, Queued: turn.Queued, Began: began, First: sent.First, Ended: time.Now(), Revoked: revoked,
		Failed: sent.Failed, Left: err != nil && !cut && !revoked && !sent.Whole, Cut: cut || err == nil && sent.Lost,
	})
}

// wasRevoked reports whether a stream ended because its client lost access.
func wasRevoked(err error) bool {
	_, is := errors.AsType[*uistream.Revocation](err)
	return is
}

// wasCut reports whether a stream that did not come to its end was cut here, or by the
// client.
func wasCut(r *http.Request, sent uistream.Sent, err error) bool {
	switch {
	case err == nil, wasRevoked(err), errors.Is(err, uistream.ErrDetached):
		return false
	case errors.Is(err, os.ErrDeadlineExceeded):
		return true // which ends the context of its request too
	}
	return r.Context().Err() == nil && !sent.Broken
}
