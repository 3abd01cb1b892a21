//go:build unix

package procio

import "syscall"

// supported says whether processes can be started here.
func supported() error { return nil }

// ownGroup has a process lead a group of its own. On Linux the leader dies with the gateway.
func ownGroup() *syscall.SysProcAttr {
	attr := dieWithUs()
	if attr == nil {
		attr = &syscall.SysProcAttr{}
	}
	attr.Setpgid = true
	return attr
}

// signalGroup sends a signal to all processes of a group.
func signalGroup(pgid int, s syscall.Signal) error { return syscall.Kill(-pgid, s) }
