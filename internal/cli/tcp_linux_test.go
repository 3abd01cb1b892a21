package cli

import (
	"log/slog"
	"net"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/tributary-dev/tributary/config"
)

// Every connection that is accepted has the bound.
//
//evidence:for limit-dead-peer
func TestConnectionsHaveAUserTimeout(t *testing.T) {
	t.Parallel()
	l, err := listen(t.Context(), "127.0.0.1:0", "--listen")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	client, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	conn, err := newConnections(l, config.None, slog.New(slog.DiscardHandler)).Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	raw, err := conn.(syscall.Conn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	_ = raw.Control(func(fd uintptr) {
		if ms, err := unix.GetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT); err != nil || ms != int(userTimeout.Milliseconds()) {
			t.Errorf("the client may be silent for %d ms, %v", ms, err)
		}
	})
}
