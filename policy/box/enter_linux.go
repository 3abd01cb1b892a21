package box

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// A process that was started to set up a box does so, and becomes the agent, before main. This package needs few others, so
// it comes before most of the program's: the rest would take as long as the box.
func init() { //nolint:gochecknoinits // as it says
	if len(os.Args) > 2 && os.Args[1] == argument {
		enter(os.Args[2], os.Args[3:])
	}
}

// Enter belongs first in the main function of a program that starts agents, which can have boxes from then on. Programs that
// it starts no longer inherit its ambient capabilities: an agent must not get the right to become any user. Nor do they inherit
// files that it has inherited, which another program may have left open.
func Enter() {
	forget()
	enters.Store(true)
}

// stepError says which step of setting up a box failed.
type stepError struct {
	step string
	err  error
}

func (e *stepError) Error() string { return e.step + ": " + e.err.Error() }
func (e *stepError) Unwrap() error { return e.err }

func step(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	return &stepError{fmt.Sprintf(format, args...), err}
}

// enter sets up the box and becomes the program with these arguments, the first of which is its name.
func enter(text string, args []string) {
	runtime.LockOSThread() // what is done to this thread is done to the agent
	var o order
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		fmt.Fprintln(os.Stderr, "tributary: this argument is for agents that the gateway starts: use tributary serve")
		unix.Exit(2)
	}
	unix.CloseOnExec(o.Report)
	err := o.setUp()
	if err == nil {
		if o.Path == "" {
			unix.Exit(0)
		}
		err = syscall.Exec(o.Path, args, os.Environ()) //nolint:gosec // the gateway names it
	}
	f := failure{Errno: syscall.EINVAL}
	if at, is := errors.AsType[*stepError](err); is {
		f.Step = at.step
	}
	_ = errors.As(err, &f.Errno)
	report, _ := json.Marshal(f) //nolint:errcheck,errchkjson // two plain fields
	_, _ = unix.Write(o.Report, report)
	unix.Exit(126)
}

// setUp makes this process one of the rule's user, and the box around it.
func (o order) setUp() error {
	if u := o.Rule.User; u != nil {
		if err := o.become(u); err != nil {
			return err
		}
		if o.Use != "" && unix.Access(o.Use, unix.R_OK|unix.W_OK|unix.X_OK) != nil {
			unix.Exit(notWritable)
		}
	}
	if o.Rule.closes() {
		if err := o.close(); err != nil {
			return err
		}
	}
	if err := surrender(o.Rule); err != nil {
		return err
	}
	if o.Death == 0 {
		return nil
	}
	// The kernel may have forgotten this when the process changed its privileges.
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(o.Death), 0, 0, 0); err != nil {
		return step(err, "end with the gateway")
	}
	if os.Getppid() != o.Parent { // the gateway has ended already
		_ = unix.Kill(os.Getpid(), syscall.Signal(o.Death))
	}
	return nil
}

// close closes files and the network to this process.
func (o order) close() error {
	dir, err := unix.Getwd()
	if err != nil {
		return step(err, "find the directory to work in")
	}
	if err := o.network(); err != nil {
		return err
	}
	if o.Rule.Form == Strict {
		if err := o.ownTemp(); err != nil {
			return err
		}
	}
	if err := o.Rule.cover(); err != nil {
		return err
	}
	if o.Rule.Form == Strict {
		if err := keepKernel(); err != nil {
			return err
		}
	}
	// From the directory as it was before, .. would lead below what lies over it now.
	if err := unix.Chdir(dir); err != nil {
		return step(err, "work in %s", dir)
	}
	if err := unix.Prctl(unix.PR_CAPBSET_DROP, unix.CAP_SYS_ADMIN, 0, 0, 0); err != nil {
		return step(err, "give up the right to change mounts")
	}
	if o.Rule.Form == Strict {
		return o.allowOnly()
	}
	return nil
}

// surrender gives up the rights to change mounts and to become other users, for this process and for every
// program that it becomes. In a further namespace of its own a process has the first again, but not over
// the mounts of the box.
func surrender(r Rule) error {
	if r.User != nil {
		if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
			return step(err, "give up new privileges")
		}
	}
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return step(err, "give up its privileges")
	}
	head, data := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, [2]unix.CapUserData{}
	if err := unix.Capget(&head, &data[0]); err != nil {
		return step(err, "read its privileges")
	}
	for i := range data {
		data[i].Inheritable = 0
		if r.User != nil {
			data[i] = unix.CapUserData{}
		}
	}
	return step(unix.Capset(&head, &data[0]), "give up its inherited privileges")
}
