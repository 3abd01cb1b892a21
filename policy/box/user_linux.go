package box

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// notWritable is the exit status of a trial when the user may not work in the directory.
const notWritable = 3

// switching are the capabilities by which a gateway that is not root has programs of another user: to
// become the user, and to end the programs.
const switching = 1<<unix.CAP_SETUID | 1<<unix.CAP_SETGID | 1<<unix.CAP_KILL

// mayNot reports whether the gateway lacks one of some capabilities.
func mayNot(wanted uint32) (lacks bool, err error) {
	head, data := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, [2]unix.CapUserData{}
	if err := unix.Capget(&head, &data[0]); err != nil {
		return true, fmt.Errorf("read the capabilities of the gateway: %w", err)
	}
	return data[0].Effective&wanted != wanted, nil
}

// Check tries the rule's user: it starts a program of ours as that user, in the rule's box. The error says why
// no program can be started so, or who may not work in the directory: the user, or the gateway. Without a user
// there is nothing to check.
func (r Rule) Check(dir string) error {
	u := r.User
	if u == nil {
		return nil
	}
	if u.UID == os.Geteuid() || u.UID == os.Getuid() {
		return fmt.Errorf("the gateway itself runs as the user %s, so the agent could read all that the gateway can: make another user for the agent", u.Name)
	}
	if lacks, err := mayNot(switching); lacks {
		return errors.Join(err, fmt.Errorf("the gateway may not start programs as the user %s: run it as root, or give its unit AmbientCapabilities=CAP_SETUID CAP_SETGID CAP_KILL", u.Name))
	}
	cmd := exec.Command("/proc/self/exe") //nolint:noctx // it ends within setUpWithin
	cmd.Env = []string{}
	r.Network = nil
	if _, err := r.start(cmd, "", dir); err != nil {
		return fmt.Errorf("no program can be started as the user %s: %w", u.Name, err)
	}
	err := cmd.Wait()
	if exit, is := errors.AsType[*exec.ExitError](err); is && exit.ExitCode() == notWritable {
		return fmt.Errorf("the user %s may not read and write the workspace %s: give it to that user with `chown -R %s %s`, and let everybody pass the directories above it with `chmod o+x`", u.Name, dir, u.Name, dir)
	}
	if err != nil {
		return fmt.Errorf("a program that was started as the user %s ended with %w", u.Name, err)
	}
	if dir != "" && unix.Access(dir, unix.R_OK|unix.W_OK|unix.X_OK) != nil {
		return fmt.Errorf("the gateway may not read and write the workspace %s of the user %s: make the gateway's user a member of the group %d, and run `chgrp -R %d %s` and `chmod -R g+rwX %s`", dir, u.Name, u.GID, u.GID, dir, dir)
	}
	return nil
}

// become makes this process one of the user. The right to set up the box is kept, if there is to be one.
func (o order) become(u *User) error {
	if err := unix.Setgroups(u.Groups); err != nil {
		return step(err, "take the groups of the user %s", u.Name)
	}
	if err := unix.Setresgid(u.GID, u.GID, u.GID); err != nil {
		return step(err, "take the group of the user %s", u.Name)
	}
	if err := unix.Setresuid(u.UID, u.UID, u.UID); err != nil {
		return step(err, "become the user %s", u.Name)
	}
	// Else the agent would have the keys of the gateway's session. There need not be a keyring.
	_, _ = unix.KeyctlJoinSessionKeyring("")
	if o.Share {
		unix.Umask(unix.Umask(0o077) &^ 0o070)
	}
	return step(unix.Chdir(o.Dir), "work in %s", o.Dir)
}

// forget has the programs that this program starts inherit no capabilities. A unit of systemd gives them as ambient ones, which
// every program would get. Nor do those programs inherit a file that this one inherited, beside the first three: who started it
// may have left a secret open.
func forget() {
	open, _ := os.ReadDir("/proc/self/fd") //nolint:errcheck // without /proc there is no box
	for _, file := range open {
		if fd, err := strconv.Atoi(file.Name()); err == nil && fd > 2 {
			unix.CloseOnExec(fd)
		}
	}
	_, _, _ = syscall.AllThreadsSyscall6(unix.SYS_PRCTL, unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0, 0) // programs with cgo cannot
}
