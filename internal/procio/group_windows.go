package procio

import "syscall"

// supported says whether processes can be started here. Windows has no process groups that
// a signal can end, so an agent could outlive the gateway.
func supported() error { return ErrUnsupported }

func ownGroup() *syscall.SysProcAttr { return nil }

func signalGroup(int, syscall.Signal) error { return ErrUnsupported }
