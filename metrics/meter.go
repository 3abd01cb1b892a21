package metrics

import (
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/tributary-dev/tributary/agent"
)

// Elsewhere is the label of agents that the configuration does not name any more.
const Elsewhere = "other"

// Meter holds all that is measured. A Meter is safe for concurrent use.
type Meter struct {
	registry *prometheus.Registry
	agents   map[string]bool

	requests, errors                          *prometheus.CounterVec
	abortsClient, abortsServer                *prometheus.CounterVec
	dismissals                                *prometheus.CounterVec
	openFailures, unknownEvents, unknownTools *prometheus.CounterVec
	firstByte, turnDuration                   *prometheus.HistogramVec
	httpRequests, refused, fails              prometheus.Counter
	streams                                   prometheus.Gauge
}

// New returns a Meter for the agents of a configuration. All of their series are
// there from the start: an increase from nothing is none that an alert would see.
func New(agents ...string) *Meter {
	m := &Meter{registry: prometheus.NewRegistry(), agents: map[string]bool{}}
	by := func(name, help string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, []string{"agent"})
	}
	total := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
	}
	times := func(name, help string, buckets []float64) *prometheus.HistogramVec {
		return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, []string{"agent"})
	}
	m.requests = by("adapter_request_count", "Chat requests that got a stream of a turn.")
	m.errors = by("adapter_request_errors", "Those of them whose stream held an error.")
	m.abortsClient = by("adapter_stream_aborts_client", "Those of them whose client left before the end of the stream.")
	m.abortsServer = by("adapter_stream_aborts_server", "Those of them that ended by an error on the way or a limit of the gateway's.")
	m.dismissals = by("adapter_stream_dismissals", "Those of them whose client was sent away: his token expired, or the session is not his any more.")
	m.openFailures = by("adapter_ws_open_failures", "Connections to an agent elsewhere that could not be opened.")
	m.unknownTools = by("adapter_unknown_tools", "Calls of tools that neither the agent's table nor the configuration knows.")
	m.unknownEvents = by("adapter_translation_unknown_events", "Messages of an agent that are of a type unknown here.")
	m.firstByte = times("adapter_latency_ttfb", "Seconds from a chat request to the first chunk of its stream, where it waited for no other turn.",
		[]float64{.005, .01, .025, .05, .1, .2, .35, .5, .75, 1, 2.5, 5, 10})
	m.turnDuration = times("adapter_latency_turn_duration", "Seconds from a chat request to the end of its stream.",
		[]float64{.1, .5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 900, 1800, 3600})
	m.httpRequests = total("tributary_http_requests_total", "Requests received.")
	m.refused = total("tributary_http_refused_total", "Requests answered with a 4xx status, or refused in a stream.")
	m.fails = total("tributary_http_failed_total", "Requests answered with a 5xx status.")
	m.streams = prometheus.NewGauge(prometheus.GaugeOpts{Name: "tributary_streams", Help: "Chat streams that are open."})
	m.registry.MustRegister(
		m.requests, m.errors, m.abortsClient, m.abortsServer, m.dismissals, m.openFailures, m.unknownEvents, m.unknownTools, m.firstByte, m.turnDuration,
		m.httpRequests, m.refused, m.fails, m.streams,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	for _, name := range append([]string{Elsewhere}, agents...) {
		m.agents[name] = true
		for _, c := range []*prometheus.CounterVec{m.requests, m.errors, m.abortsClient, m.abortsServer, m.dismissals, m.openFailures, m.unknownEvents, m.unknownTools} {
			c.WithLabelValues(name)
		}
		m.firstByte.WithLabelValues(name)
		m.turnDuration.WithLabelValues(name)
	}
	return m
}

// label is what an agent is called in a series.
func (m *Meter) label(name string) string {
	if m.agents[name] {
		return name
	}
	return Elsewhere
}

// Count counts for the agent of that name; it is what session.Options.Meter takes.
func (m *Meter) Count(name string, c agent.Count) {
	switch c {
	case agent.OpenFailure:
		m.openFailures.WithLabelValues(m.label(name)).Inc()
	case agent.UnknownEvent:
		m.unknownEvents.WithLabelValues(m.label(name)).Inc()
	case agent.UnknownTool:
		m.unknownTools.WithLabelValues(m.label(name)).Inc()
	}
}

// Gauge shows a number that is asked for when somebody looks.
func (m *Meter) Gauge(name, help string, value func() float64) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, value))
}

// Counter is [Meter.Gauge] for a number that only grows.
func (m *Meter) Counter(name, help string, value func() float64) {
	m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help}, value))
}

// Request counts a request, and Answered the status of the answer.
func (m *Meter) Request() { m.httpRequests.Inc() }

// Answered counts a request by the status of its answer.
func (m *Meter) Answered(status int) {
	switch {
	case status >= http.StatusInternalServerError:
		m.fails.Inc()
	case status >= http.StatusBadRequest:
		m.refused.Inc()
	}
}

// Refused counts a request that was refused in a stream, which no status tells.
func (m *Meter) Refused() { m.refused.Inc() }

// Follow counts a stream as open until the function that it returns is called.
func (m *Meter) Follow() (leave func()) {
	m.streams.Inc()
	return m.streams.Dec
}

// Stream is how the stream of a chat request went.
type Stream struct {
	Agent string
	// Began is when the request had been read, First when the first chunk of the
	// answer was out (zero: never), Ended when it was over.
	Began, First, Ended time.Time
	// Queued says that the turn had to wait for another's end.
	Queued bool
	// Failed says that an error was in the stream.
	Failed bool
	// Left says that the client went before the end; Cut that an error on the way, or a
	// limit of the gateway's, was the end.
	Left, Cut bool
	// Dismissed says that the client was sent away: he may not see the rest. The error
	// that tells him so is none of the agent's, nor of the way to it.
	Dismissed bool
}

// Streamed counts a chat request whose stream is over.
func (m *Meter) Streamed(s Stream) {
	name := m.label(s.Agent)
	switch {
	case s.Dismissed:
		m.dismissals.WithLabelValues(name).Inc()
	case s.Failed:
		m.errors.WithLabelValues(name).Inc()
	}
	if s.Cut {
		m.abortsServer.WithLabelValues(name).Inc()
	}
	if !s.First.IsZero() && !s.Queued {
		m.firstByte.WithLabelValues(name).Observe(s.First.Sub(s.Began).Seconds())
	}
	switch {
	case s.Left:
		m.abortsClient.WithLabelValues(name).Inc()
	case !s.Dismissed:
		m.turnDuration.WithLabelValues(name).Observe(s.Ended.Sub(s.Began).Seconds())
	}
	m.requests.WithLabelValues(name).Inc() // last: nothing is counted of a request that is not
}

// Handler answers with all series, in the Prometheus text format.
func (m *Meter) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}
