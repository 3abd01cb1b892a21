package gateway

import (
	"context"
	"errors"
	"math"
	"net/http"
	"os"
	"runtime"
	rtmetrics "runtime/metrics"
	"time"

	"github.com/tributary-dev/tributary/metrics"
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
	told  bool
}

func (c *counted) WriteHeader(status int) {
	if !c.told {
		c.told = true
		c.meter.Answered(status)
	}
	c.ResponseWriter.WriteHeader(status)
}

// Unwrap lets http.ResponseController reach the connection.
func (c *counted) Unwrap() http.ResponseWriter { return c.ResponseWriter }

// metrics shows what was measured.
func (g *gateway) metrics(w http.ResponseWriter, r *http.Request) error {
	g.Meter.Handler().ServeHTTP(w, r)
	return nil
}

// measureAll has the Meter show what others know.
func (g *gateway) measureAll() {
	m := g.Meter
	m.Gauge("tributary_sessions", "Sessions in the registry.", func() float64 {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		sessions, err := g.Hub.Count(ctx)
		if err != nil {
			return math.NaN()
		}
		return float64(sessions)
	})
	m.Gauge("tributary_sessions_damaged", "Sessions of which something is damaged or lost on disk.", func() float64 { return float64(len(g.Hub.Damage().Sessions)) })
	m.Gauge("tributary_files_damaged", "Damaged files that were set aside in the data directory.", func() float64 { return float64(g.Hub.Damage().Files) })
	m.Gauge("tributary_sessions_running", "Sessions with a running turn.", func() float64 { return float64(g.Hub.Running()) })
	m.Gauge("tributary_goroutines", "Goroutines of the process.", func() float64 { return float64(runtime.NumGoroutine()) })
	m.Gauge("tributary_heap_live_bytes", "Bytes of the heap that were in use at the last garbage collection.", liveHeap)
	m.Gauge("tributary_uptime_seconds", "Seconds since the start.", func() float64 { return float64(int64(time.Since(g.Started).Seconds())) })
	m.Counter("tributary_translated_records_total", "Records that were translated and encoded for those who follow.", func() float64 {
		return float64(g.Streams.Cost().Records)
	})
	m.Counter("tributary_translation_seconds_total", "Seconds that this took.", func() float64 { return g.Streams.Cost().Time.Seconds() })
}

// liveHeap is what the last garbage collection found in use. Unlike what is
// allocated it holds no garbage, so that it shows growth and nothing else.
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
	cut, sentAway := wasCut(r, sent, err), wasDismissed(err)
	g.Meter.Streamed(metrics.Stream{
		Agent: turn.Agent, Queued: turn.Queued, Began: began, First: sent.First, Ended: time.Now(), Dismissed: sentAway,
		Failed: sent.Failed, Left: err != nil && !cut && !sentAway && !sent.Whole, Cut: cut || err == nil && sent.Lost,
	})
}

// wasDismissed tells whether a stream ended because its client may not see the rest.
func wasDismissed(err error) bool {
	_, is := errors.AsType[*uistream.Revocation](err)
	return is
}

// wasCut tells whether a stream that did not come to its end was cut here, or by the
// client.
func wasCut(r *http.Request, sent uistream.Sent, err error) bool {
	switch {
	case err == nil, wasDismissed(err):
		return false
	case errors.Is(err, os.ErrDeadlineExceeded):
		return true // which ends the context of its request too
	}
	return r.Context().Err() == nil && !sent.Broken
}
