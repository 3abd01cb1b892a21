//go:build unix

package pgtest

import (
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"syscall"
)

// other is a user that is not root: PostgreSQL does not run as root.
func other() (uid, gid int, ok bool) {
	if os.Getuid() != 0 {
		return 0, 0, false
	}
	for _, name := range []string{"postgres", "nobody"} {
		if u, err := user.Lookup(name); err == nil {
			uid, _ = strconv.Atoi(u.Uid)
			gid, _ = strconv.Atoi(u.Gid)
			return uid, gid, true
		}
	}
	return 0, 0, false
}

func giveAway(dir string) error {
	if uid, gid, ok := other(); ok {
		return os.Chown(dir, uid, gid)
	}
	return nil
}

func asOther(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if uid, gid, ok := other(); ok {
		c.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)} //nolint:gosec // they are small
	}
}
