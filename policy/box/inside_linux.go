package box

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// dialWithin bounds connecting to a server in the box, in seconds.
const dialWithin = 10

// network makes the network of the box, and hands its sockets to the gateway. The variables of proxies
// lead to the first of them.
func (o order) network() error {
	if o.Listen == nil {
		return nil
	}
	var fds []int
	socket := func(family int) (int, error) {
		fd, err := unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		fds = append(fds, fd)
		return fd, step(err, "make a socket")
	}
	for _, address := range o.Listen {
		at, err := netip.ParseAddrPort(address)
		if err != nil {
			return step(err, "listen at %s", address)
		}
		family, to := unix.AF_INET, unix.Sockaddr(&unix.SockaddrInet4{Port: int(at.Port()), Addr: [4]byte{127, 0, 0, 1}})
		if at.Addr().Is6() {
			family, to = unix.AF_INET6, &unix.SockaddrInet6{Port: int(at.Port()), Addr: at.Addr().As16()}
		} else {
			to.(*unix.SockaddrInet4).Addr = at.Addr().As4() //nolint:errcheck,forcetypeassert // as made above
		}
		fd, err := socket(family)
		if err != nil {
			return err
		}
		if len(fds) == 1 {
			if err := linkUp(fd); err != nil {
				return err
			}
		}
		if err := errors.Join(unix.Bind(fd, to), unix.Listen(fd, unix.SOMAXCONN)); err != nil {
			return step(err, "listen at %s", address)
		}
	}
	for range o.Rule.Sockets {
		if _, err := socket(unix.AF_INET); err != nil {
			return err
		}
	}
	name, err := unix.Getsockname(fds[0])
	proxy, is := name.(*unix.SockaddrInet4)
	if err != nil || !is {
		return step(errors.Join(err, unix.EINVAL), "find the port of the proxy")
	}
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"} {
		err = errors.Join(err, os.Setenv(name, fmt.Sprintf("http://127.0.0.1:%d", proxy.Port)))
	}
	for _, name := range []string{"NO_PROXY", "no_proxy"} {
		err = errors.Join(err, os.Setenv(name, "localhost,127.0.0.1,::1")) // these are in the box
	}
	err = errors.Join(err, os.Setenv("NODE_USE_ENV_PROXY", "1")) // Node ignores the others without it
	return step(errors.Join(err, unix.Sendmsg(o.Report, []byte("\n"), unix.UnixRights(fds...), nil, 0)), "hand its sockets to the gateway")
}

// linkUp begins the loopback device of a new network.
func linkUp(fd int) error {
	lo, err := unix.NewIfreq("lo")
	if err == nil {
		lo.SetUint16(unix.IFF_UP)
		err = unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, lo)
	}
	return step(err, "begin a network of its own")
}

// Inside is the network of a box, as the gateway reaches it. A nil Inside is the gateway's own network.
type Inside struct {
	stop    func()
	sockets chan *os.File // not connected
	mu      sync.Mutex
	closed  bool
}

// inside takes the sockets that the box has handed out.
func (r Rule) inside(files []*os.File) (_ *Inside, err error) {
	n := &Inside{sockets: make(chan *os.File, len(files))}
	var listeners []net.Listener
	for i, f := range files {
		if i >= len(files)-r.Sockets {
			n.sockets <- f
			continue
		}
		l, wrong := net.FileListener(f)
		err = errors.Join(err, wrong, f.Close())
		if wrong == nil {
			listeners = append(listeners, l)
		}
	}
	if err != nil {
		for _, l := range listeners {
			_ = l.Close()
		}
		n.Close()
		return nil, fmt.Errorf("take the sockets of the box: %w", err)
	}
	n.stop = r.Network.Serve(listeners)
	return n, nil
}

// Dial connects to a TCP server of IPv4 that listens in the box. While all of the Rule's Sockets are in use,
// Dial waits for one. Without a network of its own, Dial connects as net.Dialer does.
func (n *Inside) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	if n == nil {
		return new(net.Dialer).DialContext(ctx, network, address)
	}
	at, err := netip.ParseAddrPort(address)
	if err != nil || !at.Addr().Is4() {
		return nil, &net.OpError{Op: "dial", Net: network, Err: &net.AddrError{Err: "no address of IPv4 in a box", Addr: address}}
	}
	select {
	case f := <-n.sockets:
		fd := int(f.Fd()) //nolint:gosec // a descriptor is small
		err := errors.Join(unix.SetNonblock(fd, false), unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_SNDTIMEO, &unix.Timeval{Sec: dialWithin}),
			unix.Connect(fd, &unix.SockaddrInet4{Port: int(at.Port()), Addr: at.Addr().As4()}))
		var conn net.Conn
		if err == nil {
			conn, err = net.FileConn(f) // of a copy of the descriptor
		}
		if err != nil {
			n.free(f)
			return nil, &net.OpError{Op: "dial", Net: network, Addr: net.TCPAddrFromAddrPort(at), Err: err}
		}
		return &lent{Conn: conn, free: sync.OnceFunc(func() { n.free(f) })}, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("wait for a socket in the box: %w", context.Cause(ctx))
	}
}

// free disconnects a socket, so that it can be connected again. A process outside of the box cannot make one.
func (n *Inside) free(f *os.File) {
	none := unix.RawSockaddr{Family: unix.AF_UNSPEC}
	_, _, errno := unix.Syscall(unix.SYS_CONNECT, f.Fd(), uintptr(unsafe.Pointer(&none)), unsafe.Sizeof(none)) //nolint:gosec // the system call takes a pointer
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed || errno != 0 {
		_ = f.Close()
		return
	}
	n.sockets <- f
}

// lent is a connection whose socket is used again.
type lent struct {
	net.Conn
	free func()
}

func (c *lent) Close() error {
	err := c.Conn.Close()
	c.free()
	return err
}

// Close ends what the gateway serves in the box, and waits for that.
func (n *Inside) Close() {
	if n == nil {
		return
	}
	if n.stop != nil {
		n.stop()
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.closed = true
	for {
		select {
		case f := <-n.sockets:
			_ = f.Close()
		default:
			return
		}
	}
}

// unserved is a Network in which nothing answers.
type unserved struct{}

func (unserved) Listen() []string { return nil }

func (unserved) Serve(listeners []net.Listener) (stop func()) {
	return func() {
		for _, l := range listeners {
			_ = l.Close()
		}
	}
}
