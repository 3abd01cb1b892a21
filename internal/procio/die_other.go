//go:build !linux

package procio

import "syscall"

func dieWithUs() *syscall.SysProcAttr { return nil }
