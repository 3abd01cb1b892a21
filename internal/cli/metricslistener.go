package cli

import (
	"context"
	"net/http"

	"github.com/tributary-dev/tributary/config"
	"github.com/tributary-dev/tributary/gateway/metrics"
)

// mostScrapers bounds the connections of metrics_listen.
const mostScrapers = 100

// serveMetrics answers GET /metrics on an address of its own, without a token, until stop is called. The
// metrics have the names of agents and exporters, and nothing of a user, so neither Host nor a token is checked.
func (s *instance) serveMetrics(ctx context.Context, address string, m *metrics.Meter) (stop func(), err error) {
	if address == "" {
		return func() {}, nil
	}
	l, err := listen(ctx, address, "metrics_listen")
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", m.Handler())
	server := s.newServer(nil, nil, mux)
	server.WriteTimeout = leaveWithin + readHeaderWithin
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = server.Serve(newConnections(l, config.Limit(mostScrapers), s.logger))
	}()
	s.logger.Info("metrics", "listen", l.Addr().String())
	return func() {
		_ = server.Close()
		<-ended
	}, nil
}
