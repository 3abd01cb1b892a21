package egress_test

import (
	"fmt"
	"testing"

	"golang.org/x/sys/unix"
)

// full is the address of a server that takes no connections any more, so that the kernel answers nothing.
func full(t *testing.T) string {
	t.Helper()
	to := &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}
	socket := func(flags int) int {
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|flags, 0)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = unix.Close(fd) })
		return fd
	}
	server := socket(0)
	if err := unix.Bind(server, to); err != nil {
		t.Fatal(err)
	}
	if err := unix.Listen(server, 0); err != nil {
		t.Fatal(err)
	}
	name, err := unix.Getsockname(server)
	if err != nil {
		t.Fatal(err)
	}
	to.Port = name.(*unix.SockaddrInet4).Port
	for range 4 { // one more than fit is enough
		_ = unix.Connect(socket(unix.SOCK_NONBLOCK), to)
	}
	return fmt.Sprintf("127.0.0.1:%d", to.Port)
}
