package box

import "golang.org/x/sys/unix"

func (o order) allowOnly() error { return step(unix.ENOSYS, "use Landlock") }
