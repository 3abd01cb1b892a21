package cli

import (
	"cmp"
	"context"
	"log/slog"
	"net"

	"github.com/tributary-dev/tributary/config"
	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/gateway/cluster"
	"github.com/tributary-dev/tributary/session"
)

// checkCluster refuses several gateways on a database that only one can use.
func (s *setup) checkCluster() error {
	if s.Cluster == nil {
		return nil
	}
	if s.DB == "" {
		return s.Fault("cluster", "needs a database that several gateways use, and this gateway uses SQLite: set db to the URL of a PostgreSQL, or remove the section")
	}
	host, _, _ := net.SplitHostPort(s.Cluster.Listen) // it was checked
	if ip := net.ParseIP(host); s.Cluster.Address == "" && (host == "" || ip != nil && ip.IsUnspecified()) {
		return s.Fault("cluster", "has no address, and listens on all addresses of the machine: write in cluster.address, or after --cluster-address, how the other gateways reach this one, such as 10.0.0.11:8788")
	}
	return nil
}

// clusterListener is where other gateways reach this one. It is nil without the section.
type clusterListener struct {
	*net.TCPListener
	address string
}

func listenForGateways(ctx context.Context, c *config.Cluster) (*clusterListener, error) {
	if c == nil {
		return nil, nil //nolint:nilnil // there are none
	}
	l, err := listen(ctx, c.Listen, "cluster.listen")
	if err != nil {
		return nil, err
	}
	return &clusterListener{l, cmp.Or(c.Address, l.Addr().String())}, nil
}

// node is this gateway among the others. It is nil without a listener.
func (l *clusterListener) node(hub *session.Hub, logger *slog.Logger) (*cluster.Node, error) {
	if l == nil {
		return nil, nil //nolint:nilnil // it is alone
	}
	logger.Info("other gateways", "listen", l.Addr().String(), "address", l.address)
	return cluster.New(cluster.Options{Store: hub.Log, HomeOf: hub.HomeOf, Version: version(), Logger: logger})
}

// home is this gateway, as sessions know it whose agents keep their memory on its machine.
func (l *clusterListener) home(log *eventlog.Log) session.Home {
	if l == nil {
		return session.Home{}
	}
	return session.Home{Gateway: log.Self().Name, Address: l.address}
}

// close closes the listener, if there is one. A server that runs has closed it before.
func (l *clusterListener) close() {
	if l != nil {
		_ = l.Close()
	}
}
