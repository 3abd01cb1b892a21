package cli

import (
	"context"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"sync"

	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/export/live"
	"github.com/tributary-dev/tributary/export/otlp"
	"github.com/tributary-dev/tributary/export/otlp/send"
	"github.com/tributary-dev/tributary/export/redact"
)

// This file makes the exporters of a configuration.

// exporters makes them, by their names in order. None does anything yet.
func (s *setup) exporters(logger *slog.Logger) (all []*live.Exporter, err error) {
	for _, name := range slices.Sorted(maps.Keys(s.Exporters)) {
		c, at := s.Exporters[name], "exporters."+name
		for _, agent := range c.Agents {
			_, named := s.named[agent]
			if _, offered := s.Agents[agent]; !named && !offered {
				return nil, s.Fault(at+".agents", "names %q, which is no agent: there are %s", agent, s.agentNames())
			}
		}
		header := http.Header{}
		for _, key := range slices.Sorted(maps.Keys(c.Headers)) {
			value, err := headerValue(c.Headers[key])
			if err != nil {
				return nil, s.Fault(at+".headers."+key, "%v", err)
			}
			header.Add(key, value)
		}
		drop, err := c.Drop()
		if err != nil {
			return nil, err //nolint:wrapcheck // it was checked when the file was read
		}
		e, err := live.New(live.Options{
			Name: name, Agents: c.Agents, Backfill: c.Backfill, Logger: logger,
			Receiver: send.Config{URL: c.URL, AllowHTTP: c.AllowHTTP, Header: header},
			Spans:    otlp.Options{Version: version(), Filter: redact.Filter{Drop: drop, NoDenied: c.NoDenied, NoSubagents: c.NoSubagents}},
		})
		if err != nil {
			return nil, s.Fault(at, "cannot be used: %v", err)
		}
		all = append(all, e)
	}
	return all, nil
}

// startExporters starts them. The caller calls stop before the log closes.
func startExporters(ctx context.Context, all []*live.Exporter, log *eventlog.Log) (stop func(), err error) {
	stop = func() {
		var wait sync.WaitGroup
		for _, e := range all {
			wait.Go(e.Stop)
		}
		wait.Wait()
	}
	for _, e := range all {
		if err := e.Start(ctx, log); err != nil {
			stop()
			return nil, err //nolint:wrapcheck // a sentence
		}
	}
	return stop, nil
}
