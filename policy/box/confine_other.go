//go:build !linux

package box

import (
	"errors"
	"os/exec"
)

// Enter belongs first in the main function of a program that starts agents. Here Enter does nothing.
func Enter() {}

// Available reports why a form cannot be had here, or nil.
func Available(f Form) error {
	if f == Off || f == "" {
		return nil
	}
	return errors.New("boxes need Linux")
}

func (r Rule) start(*exec.Cmd, string) error { return Available(r.Form) }
