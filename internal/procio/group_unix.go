//go:build unix

package procio

import "syscall"

// supported says whether processes can be started here.
func supported() error { return nil }

// ownGroup has a process lead a group of its own.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// signalGroup sends a signal to all processes of a group.
func signalGroup(pgid int, s syscall.Signal) error { return syscall.Kill(-pgid, s) }
