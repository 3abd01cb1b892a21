package procio

import "syscall"

// dieWithUs has the kernel kill the program when the gateway dies.
func dieWithUs() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
