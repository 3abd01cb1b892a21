//go:build !linux

package cli

import "net"

// setUserTimeout does nothing: this system has no such option.
func setUserTimeout(*net.TCPConn) {}
