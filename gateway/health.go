package gateway

import (
	"fmt"
	"net/http"
	"runtime"
	"runtime/metrics"
	"strings"
	"sync/atomic"
	"time"
)

func (g *gateway) healthy(w http.ResponseWriter, _ *http.Request) error {
	return writeJSON(w, http.StatusOK, map[string]string{"status": "ok"})
}

func (g *gateway) ready(w http.ResponseWriter, _ *http.Request) error {
	err := g.Hub.Ready()
	if g.Ready != nil && err == nil {
		err = g.Ready()
	}
	if err != nil {
		return &refusal{http.StatusServiceUnavailable, "not_ready", sentence(err.Error())}
	}
	// Damage does not make the gateway useless to everybody else, so it says so and
	// stays ready.
	return writeJSON(w, http.StatusOK, struct {
		Status  string `json:"status"`
		Damaged int    `json:"damaged_sessions"`
	}{"ready", len(g.Hub.Damaged())})
}

// meter counts requests.
type meter struct {
	requests, refused, failed atomic.Int64
	streams                   atomic.Int64
}

func (m *meter) count(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		m.requests.Add(1)
		next.ServeHTTP(&counted{ResponseWriter: w, meter: m}, r)
	})
}

// counted notices the status of a response.
type counted struct {
	http.ResponseWriter
	meter *meter
	told  bool
}

func (c *counted) WriteHeader(status int) {
	if !c.told {
		c.told = true
		switch {
		case status >= 500:
			c.meter.failed.Add(1)
		case status >= 400:
			c.meter.refused.Add(1)
		}
	}
	c.ResponseWriter.WriteHeader(status)
}

// Unwrap lets http.ResponseController reach the connection.
func (c *counted) Unwrap() http.ResponseWriter { return c.ResponseWriter }

// metrics speaks the Prometheus text format, version 0.0.4.
func (g *gateway) metrics(w http.ResponseWriter, _ *http.Request) error {
	sessions, running := g.Hub.Count()
	var b strings.Builder
	write := func(name, kind, help string, value any) {
		fmt.Fprintf(&b, "# HELP %s %s\n# TYPE %s %s\n%s %v\n", name, help, name, kind, name, value)
	}
	write("tributary_http_requests_total", "counter", "Requests received.", g.meter.requests.Load())
	write("tributary_http_refused_total", "counter", "Requests answered with a 4xx status.", g.meter.refused.Load())
	write("tributary_http_failed_total", "counter", "Requests answered with a 5xx status.", g.meter.failed.Load())
	write("tributary_streams", "gauge", "Chat streams that are open.", g.meter.streams.Load())
	write("tributary_sessions", "gauge", "Sessions in the registry.", sessions)
	write("tributary_sessions_running", "gauge", "Sessions with a running turn.", running)
	write("tributary_sessions_damaged", "gauge", "Sessions of which the log has lost records.", len(g.Hub.Damaged()))
	write("tributary_goroutines", "gauge", "Goroutines of the process.", runtime.NumGoroutine())
	write("tributary_heap_live_bytes", "gauge", "Bytes of the heap that were in use at the last garbage collection.", liveHeap())
	write("tributary_uptime_seconds", "gauge", "Seconds since the start.", int64(time.Since(g.Started).Seconds()))
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	_, _ = w.Write([]byte(b.String()))
	return nil
}

// liveHeap is what the last garbage collection found in use. Unlike what is
// allocated it holds no garbage, so that it shows growth and nothing else.
func liveHeap() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	if sample[0].Value.Kind() != metrics.KindUint64 {
		return 0
	}
	return sample[0].Value.Uint64()
}
