package egress

import (
	"context"
	"net"
	"time"
)

// ConnectIn sets a shorter bound on connections to hosts.
func (p *Proxy) ConnectIn(d time.Duration) { p.connectWithin = d }

// Tunnel is a tunnel between a process and a host, and returns when it has ended.
func Tunnel(ctx context.Context, process, host net.Conn) {
	(&serving{Proxy: &Proxy{}, ctx: ctx}).tunnel(process, keepBusy(host), process)
}
