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

	requests, errors                                         *prometheus.CounterVec
	abortsClient, abortsServer                               *prometheus.CounterVec
	revocations                                              *prometheus.CounterVec
	openFailures, unknownEvents, unknownTools, egressRefused *prometheus.CounterVec
	firstChunk, duration                                     *prometheus.HistogramVec
	httpRequests, refused, fails                             prometheus.Counter
	streams                                                  prometheus.Gauge
}

// New returns a Meter for the agents of a configuration. All of their series exist from
// the start, because an alert does not see an increase from nothing.
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
	m.requests = by("tributary_chat_requests_total", "Chat requests that got a stream of a turn.")
	m.errors = by("tributary_chat_errors_total", "Chat requests whose stream held an error.")
	m.abortsClient = by("tributary_chat_client_aborts_total", "Chat requests whose client left before the end of the stream.")
	m.abortsServer = by("tributary_chat_server_aborts_total", "Chat requests whose stream was ended by an error on the way or a limit of the gateway.")
	m.revocations = by("tributary_chat_revocations_total", "Chat requests whose client lost access before the end: the token expired, or the session is closed to the user.")
	m.openFailures = by("tributary_agent_open_failures_total", "Connections to a remote agent that could not be opened.")
	m.unknownTools = by("tributary_agent_unknown_tools_total", "Calls of tools that neither the agent's table nor the configuration knows.")
	m.egressRefused = by("tributary_agent_egress_refused_total", "Connections of the agent's processes to hosts that they may not reach.")
	m.unknownEvents = by("tributary_agent_unknown_events_total", "Messages of an agent whose type the adapter does not know.")
	m.firstChunk = times("tributary_chat_first_chunk_seconds", "Seconds from a chat request to the first chunk of its stream, where it waited for no other turn.",
		[]float64{.005, .01, .025, .05, .1, .2, .35, .5, .75, 1, 2.5, 5, 10})
	m.duration = times("tributary_chat_duration_seconds", "Seconds from a chat request to the end of its stream.",
		[]float64{.1, .5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 900, 1800, 3600})
	m.httpRequests = total("tributary_http_requests_total", "Requests received.")
	m.refused = total("tributary_http_refused_total", "Requests answered with a 4xx status, or refused in a stream.")
	m.fails = total("tributary_http_failed_total", "Requests answered with a 5xx status.")
	m.streams = prometheus.NewGauge(prometheus.GaugeOpts{Name: "tributary_streams", Help: "Chat streams that are open."})
	m.registry.MustRegister(
		m.requests, m.errors, m.abortsClient, m.abortsServer, m.revocations, m.openFailures, m.unknownEvents, m.unknownTools, m.egressRefused, m.firstChunk, m.duration,
		m.httpRequests, m.refused, m.fails, m.streams,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	for _, name := range append([]string{Elsewhere}, agents...) {
		m.agents[name] = true
		for _, c := range []*prometheus.CounterVec{m.requests, m.errors, m.abortsClient, m.abortsServer, m.revocations, m.openFailures, m.unknownEvents, m.unknownTools, m.egressRefused} {
			c.WithLabelValues(name)
		}
		m.firstChunk.WithLabelValues(name)
		m.duration.WithLabelValues(name)
	}
	return m
}

// label is the name of an agent in a series.
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
	case agent.EgressRefused:
		m.egressRefused.WithLabelValues(m.label(name)).Inc()
	}
}

// Label is a label of a series, and its value.
type Label struct{ Name, Value string }

func constant(labels []Label) prometheus.Labels {
	all := prometheus.Labels{}
	for _, l := range labels {
		all[l.Name] = l.Value
	}
	return all
}

// Gauge shows a number that is read when the metrics are collected.
func (m *Meter) Gauge(name, help string, value func() float64, labels ...Label) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help, ConstLabels: constant(labels)}, value))
}

// Counter is [Meter.Gauge] for a number that only grows.
func (m *Meter) Counter(name, help string, value func() float64, labels ...Label) {
	m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help, ConstLabels: constant(labels)}, value))
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

// Refused counts a request that was refused in a stream, so not by the status.
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
	// Queued says that the turn waited for the end of another turn.
	Queued bool
	// Failed says that an error was in the stream.
	Failed bool
	// Left says that the client left before the end; Cut that an error on the way, or a
	// limit of the gateway, ended the stream.
	Left, Cut bool
	// Revoked says that the client lost access before the end. The stream holds an error
	// then, which is no error of the agent or of the connection to it.
	Revoked bool
}

// Streamed counts a chat request whose stream is over.
func (m *Meter) Streamed(s Stream) {
	name := m.label(s.Agent)
	switch {
	case s.Revoked:
		m.revocations.WithLabelValues(name).Inc()
	case s.Failed:
		m.errors.WithLabelValues(name).Inc()
	}
	if s.Cut {
		m.abortsServer.WithLabelValues(name).Inc()
	}
	if !s.First.IsZero() && !s.Queued {
		m.firstChunk.WithLabelValues(name).Observe(s.First.Sub(s.Began).Seconds())
	}
	switch {
	case s.Left:
		m.abortsClient.WithLabelValues(name).Inc()
	case !s.Revoked:
		m.duration.WithLabelValues(name).Observe(s.Ended.Sub(s.Began).Seconds())
	}
	m.requests.WithLabelValues(name).Inc() // last: a request that is not counted has no other counts
}

// Handler answers with all series, in the Prometheus text format.
func (m *Meter) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}
