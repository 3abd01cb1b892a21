package gateway

import (
	"context"
	"math"
	"net/http"
	"time"

	"github.com/tributary-dev/tributary/export/live"
	"github.com/tributary-dev/tributary/gateway/metrics"
)

// This file tells how exporters are doing.

// exporters lists the exporters, with the turns that wait.
func (g *gateway) exporters(w http.ResponseWriter, r *http.Request) error {
	type exporterView struct {
		live.Status

		Waiting int `json:"waiting"`
	}
	views := []exporterView{}
	for _, e := range g.Exporters {
		n, err := e.Waiting(r.Context())
		if err != nil {
			return err //nolint:wrapcheck // a sentence
		}
		views = append(views, exporterView{e.Status(), n})
	}
	return writeJSON(w, http.StatusOK, map[string]any{"exporters": views})
}

// measureExporter adds the metrics of an exporter.
func (g *gateway) measureExporter(e *live.Exporter) {
	of := metrics.Label{Name: "exporter", Value: e.Name}
	for name, c := range map[string]struct {
		help  string
		value func(live.Status) int64
	}{
		"tributary_export_turns_total":         {"Turns that the receiver has taken.", func(s live.Status) int64 { return s.Turns }},
		"tributary_export_spans_total":         {"Spans that the receiver has taken.", func(s live.Status) int64 { return s.Spans }},
		"tributary_export_spans_dropped_total": {"Spans that the receiver has refused.", func(s live.Status) int64 { return s.Dropped }},
		"tributary_export_turns_skipped_total": {"Turns that could not be exported.", func(s live.Status) int64 { return s.Skipped }},
		"tributary_export_failures_total":      {"Attempts in vain to send.", func(s live.Status) int64 { return s.Failures }},
	} {
		g.Meter.Counter(name, c.help, func() float64 { return float64(c.value(e.Status())) }, of)
	}
	g.Meter.Gauge("tributary_export_waiting_turns", "Turns that wait, on all gateways of the database.", func() float64 {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		n, err := e.Waiting(ctx)
		if err != nil {
			return math.NaN()
		}
		return float64(n)
	}, of)
	g.Meter.Gauge("tributary_export_failing_seconds", "Time since the first attempt in vain to send a turn that still waits.", func() float64 {
		if s := e.Status(); s.FailingSince != nil {
			return time.Since(*s.FailingSince).Seconds()
		}
		return 0
	}, of)
}
