//go:build !linux

package box

import (
	"cmp"
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

// Check reports why no program can be started as the rule's user.
func (r Rule) Check(string) error {
	if r.User == nil {
		return nil
	}
	return errors.New("agents run as users of their own on Linux only")
}

func (r Rule) start(*exec.Cmd, string, string) error {
	return cmp.Or(r.Check(""), Available(r.Form))
}
