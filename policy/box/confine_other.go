//go:build !linux

package box

import (
	"cmp"
	"context"
	"errors"
	"net"
	"os/exec"
)

// Enter belongs first in the main function of a program that starts agents. Here Enter does nothing.
func Enter() {}

// Available reports why a form cannot be had here, or nil.
func Available(f Form) error {
	if f == Off || f == "" {
		return nil
	}
	return errors.New("boxes need Linux")
}

// Check reports why no program can be started as the rule's user.
func (r Rule) Check(string) error {
	if r.User == nil {
		return nil
	}
	return errors.New("agents run as users of their own on Linux only")
}

func (r Rule) start(*exec.Cmd, string, string) (*Inside, error) {
	return nil, cmp.Or(r.Check(""), Available(r.Form))
}

// Places does nothing here.
type Places struct{}

// Now returns the paths.
func (*Places) Now(paths []string) []string { return paths }

// Inside is the network of a box, as the gateway reaches it. A nil Inside is the gateway's own network.
type Inside struct{}

// Dial connects as net.Dialer does.
func (n *Inside) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	return new(net.Dialer).DialContext(ctx, network, address)
}

// Close does nothing here.
func (n *Inside) Close() {}
