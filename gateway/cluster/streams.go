package cluster

import (
	"context"
	"net/http"
)

// This file has the streams that one gateway passes on for another, and their end when one of the two stops.

// PassesStream counts a stream that this gateway passes on, until done. It calls stop when its client is to be told to come back.
func (n *Node) PassesStream(stop func()) (done func()) {
	n.streams.Begin()
	unhook := context.AfterFunc(n.stopping, stop)
	return func() { unhook(); n.streams.End() }
}

// Stopping is closed when EndStreams has had the clients told to come back.
func (n *Node) Stopping() <-chan struct{} { return n.stopping.Done() }

// EndStreams waits until this gateway passes no stream on, or ctx ends. Then the clients of the others are told to come back.
func (n *Node) EndStreams(ctx context.Context) {
	if n == nil {
		return
	}
	_ = n.streams.Wait(ctx)
	n.stop()
}

// Shutdown lets the other gateways have the rest of what this one sends them, until ctx ends. From then on this gateway takes no requests from them.
func (n *Node) Shutdown(ctx context.Context) error {
	if n == nil {
		return nil
	}
	return n.server.Shutdown(ctx) //nolint:wrapcheck // the caller says more
}

// PasserEnded reports, each time it is asked, whether the gateway that has passed a request on runs no more; nil if the request came
// from its client. Its clients need some time to find another gateway.
func (n *Node) PasserEnded(r *http.Request) func() bool {
	if !Forwarded(r.Context()) || r.TLS == nil || len(r.TLS.PeerCertificates) == 0 {
		return nil
	}
	key := digest(r.TLS.PeerCertificates[0])
	return func() bool { return !n.isGateway(key) } //nolint:contextcheck // it is asked when the request has ended
}
