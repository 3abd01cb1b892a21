package cli

import (
	"net"
	"time"

	"golang.org/x/sys/unix"
)

// deadAfter is how long a client may leave what it was sent unacknowledged: a phone
// in a tunnel has a minute. Without this bound the system sends again for a quarter
// of an hour, and a keepalive comment fills no buffer that a write could wait for.
const deadAfter = time.Minute

// giveUpDead bounds that for a connection. A sandbox that does not know the option
// does without.
func giveUpDead(conn *net.TCPConn) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(fd uintptr) {
		_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(deadAfter.Milliseconds())) //nolint:gosec // a file descriptor
	})
}
