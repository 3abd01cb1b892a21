package scriptedmodel

import (
	"fmt"
	"net"
)

// Listen opens a listener on a loopback address and refuses any other: what
// the model does with a prompt is nobody else's business.
func Listen(addr string) (net.Listener, error) {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fmt.Errorf("the address %q is not HOST:PORT: %w", addr, err)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil, fmt.Errorf("the scripted model listens on loopback only: use 127.0.0.1 instead of %q", host)
	}
	return net.Listen("tcp", addr)
}
