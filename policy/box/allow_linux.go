package box

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Rights of Landlock, by the version of it that has them.
const (
	readRights = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	fileRights = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	allRights  = 1<<16 - 1
)

// allowOnly has the kernel refuse every file but those of the rule and of the system, to this thread and
// to the program that it becomes.
func (o order) allowOnly() error {
	abi, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return step(errno, "use Landlock")
	}
	handled := uint64(allRights)
	switch { // an older kernel refuses rights that it does not know
	case abi < 2:
		handled &^= unix.LANDLOCK_ACCESS_FS_REFER | unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	case abi < 3:
		handled &^= unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	case abi < 5:
		handled &^= unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	}
	attr := unix.LandlockRulesetAttr{Handled_access_fs: handled}
	size := unsafe.Offsetof(attr.Handled_access_net)
	if abi >= 6 { // signals go to processes in the box only, and so do sockets without a file
		attr.Scoped, size = unix.LANDLOCK_SCOPE_SIGNAL|unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET, unsafe.Offsetof(attr.Quiet_access_fs)
	}
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), size, 0) //nolint:gosec // the system call takes a pointer
	if errno != 0 {
		return step(errno, "use Landlock")
	}
	defer unix.Close(int(fd)) //nolint:errcheck,gosec // it ends with the start of the agent anyway
	allow := func(path string, rights uint64) error {
		t, found, err := open(path)
		if err != nil || !found {
			return err
		}
		if !t.dir {
			rights &= fileRights
		}
		under := unix.LandlockPathBeneathAttr{Allowed_access: rights & handled, Parent_fd: int32(t.fd)}                                         //nolint:gosec // a descriptor is small
		_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, fd, unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&under)), 0, 0, 0) //nolint:gosec // as above
		if errno != 0 {
			return step(errno, "open %s", path)
		}
		return nil
	}
	var errs []error
	for _, path := range o.readable() {
		errs = append(errs, allow(path, readRights))
	}
	for _, path := range append(o.writable(), "/dev", "/proc", temp) {
		errs = append(errs, allow(path, allRights))
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return step(err, "give up new privileges")
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, fd, 0, 0); errno != 0 {
		return step(errno, "enter Landlock")
	}
	return nil
}

// writable are the paths that the process may write. What lies below another one is open with that, and left out: a process
// may have put a link in its place, which would open more.
func (o order) writable() []string {
	all := slices.Concat(o.Rule.Write, o.Rule.Open)
	return slices.DeleteFunc(slices.Clone(all), func(path string) bool { return isBelow(path, all) })
}

// readable are the paths that the process may only read.
func (o order) readable() []string {
	written := slices.Concat(o.Rule.Write, o.Rule.Open)
	return slices.DeleteFunc(append(o.programs(), o.Rule.Read...), func(path string) bool { return isBelow(path, written) })
}

// isBelow reports whether a path lies below one of the others, by its text.
func isBelow(path string, others []string) bool {
	return slices.ContainsFunc(others, func(above string) bool {
		return strings.HasPrefix(filepath.Clean(path), strings.TrimSuffix(filepath.Clean(above), "/")+"/")
	})
}

// programs are where the programs of the system are, and the agent's own with the package that it belongs
// to. Nothing of the environment counts here, because an agent may choose that of a command.
func (o order) programs() []string {
	all := []string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc", "/opt", "/sys", "/nix/store", "/run/systemd/resolve", "/var/lib/ca-certificates"}
	for _, path := range []string{o.Path, resolved(o.Path)} {
		all = append(all, path)
		if before, _, in := strings.Cut(path, "/node_modules/"); in {
			all = append(all, before+"/node_modules")
		}
		// A virtual environment of Python, and the Python that it was made with.
		top := filepath.Dir(filepath.Dir(path))
		if _, err := os.Stat(top + "/pyvenv.cfg"); err == nil {
			python := filepath.Dir(filepath.Dir(resolved(top + "/bin/python")))
			all = append(all, top, python+"/bin", python+"/lib")
		}
	}
	return all
}

func resolved(path string) string {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return path // its start says why
	}
	return real
}
