package cli

import (
	"net"
	"time"

	"golang.org/x/sys/unix"
)

// userTimeout is the time for which data may stay unacknowledged: a phone in a tunnel has a
// minute. Without this bound the system sends again for a quarter of an hour. A keepalive
// comment is too short to fill a buffer, so no write would wait and fail.
const userTimeout = time.Minute

// setUserTimeout sets userTimeout for a connection. Some sandboxes do not know the option, so
// an error is ignored.
func setUserTimeout(conn *net.TCPConn) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(fd uintptr) {
		_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(userTimeout.Milliseconds())) //nolint:gosec // a file descriptor
	})
}
