package cli

import (
	"net"
	"time"

	"golang.org/x/sys/unix"
)

// deadAfter is how long data may stay unacknowledged: a phone in a tunnel has a minute.
// Without this bound the system sends again for a quarter of an hour. A keepalive
// comment is too short to fill a buffer, so no write would wait and fail.
const deadAfter = time.Minute

// giveUpDead sets the bound for a connection. Some sandboxes do not know the option, so
// an error is ignored.
func giveUpDead(conn *net.TCPConn) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(fd uintptr) {
		_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(deadAfter.Milliseconds())) //nolint:gosec // a file descriptor
	})
}
