package box

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// target is a closed file or directory, or one that stays open below a closed one.
type target struct {
	path string // without symbolic links
	fd   int    // leads to it also when something lies over the path
	dir  bool
}

// open finds a file or a directory. What cannot be reached anyway is not found.
func open(path string) (t target, found bool, err error) {
	t.fd, err = unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	switch {
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.ENOTDIR), errors.Is(err, unix.EACCES), errors.Is(err, unix.ELOOP), errors.Is(err, unix.ENAMETOOLONG):
		return t, false, nil
	case err != nil:
		return t, false, step(err, "open %s", path)
	}
	var stat unix.Stat_t
	if err := unix.Fstat(t.fd, &stat); err != nil {
		return t, false, step(err, "look at %s", path)
	}
	t.dir = stat.Mode&unix.S_IFMT == unix.S_IFDIR
	t.path, err = os.Readlink(t.link())
	return t, true, step(err, "find where %s leads", path)
}

func (t target) link() string { return "/proc/self/fd/" + strconv.Itoa(t.fd) }

// below returns the way from a directory to t.
func (t target) below(dir target) (string, bool) {
	rel, err := filepath.Rel(dir.path, t.path)
	return rel, err == nil && dir.dir && filepath.IsLocal(rel)
}

// openAll finds all that is there, and leaves out what is below another one.
func openAll(paths []string) (all []target, err error) {
	for _, path := range paths {
		t, found, err := open(path)
		if err != nil {
			return nil, err
		}
		if found {
			all = append(all, t)
		}
	}
	slices.SortFunc(all, func(a, b target) int { return cmp.Compare(a.path, b.path) })
	var top []target
	for _, t := range all {
		if !slices.ContainsFunc(top, func(above target) bool { _, is := t.below(above); return is || t.path == above.path }) {
			top = append(top, t)
		}
	}
	return top, nil
}

// cover lays something empty over all that is closed.
func (r Rule) cover() error {
	closed, err := openAll(r.Closed)
	if err != nil || len(closed) == 0 {
		return err
	}
	if err := keepNames(closed); err != nil {
		return err
	}
	if closed, err = openAll(r.Closed); err != nil { // by what keepNames has laid over
		return err
	}
	kept, err := openAll(r.Open)
	if err != nil {
		return err
	}
	kept = slices.DeleteFunc(kept, func(t target) bool { return !t.dir })
	closed = slices.DeleteFunc(closed, func(t target) bool { return slices.ContainsFunc(kept, func(k target) bool { return k.path == t.path }) })
	// A file system in memory has what is laid over. It needs a place for a moment, in which nothing is
	// closed: a directory of the system.
	stage := "/sys"
	if err := unix.Mount("tributary", stage, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "mode=0700,size=1m"); err != nil {
		return step(err, "mount a file system in memory")
	}
	file := filepath.Join(stage, "file")
	if err := os.WriteFile(file, nil, 0); err != nil {
		return step(err, "make an empty file")
	}
	for i, t := range closed {
		over := file
		if t.dir {
			over = filepath.Join(stage, strconv.Itoa(i))
			if err := r.fill(over, t, kept); err != nil {
				return err
			}
		}
		if err := unix.Mount(over, t.link(), "", unix.MS_BIND, ""); err != nil {
			return step(err, "close %s", t.path)
		}
	}
	if err := unix.Mount("", stage, "", unix.MS_REMOUNT|unix.MS_RDONLY|unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return step(err, "make what is empty read-only")
	}
	var empty unix.Stat_t
	if err := unix.Stat(stage, &empty); err != nil {
		return step(err, "look at what is empty")
	}
	if err := unix.Unmount(stage, unix.MNT_DETACH); err != nil {
		return step(err, "remove the place of what is empty")
	}
	for _, t := range kept {
		for _, over := range closed {
			if rel, is := t.below(over); is {
				if err := unix.Mount(t.link(), filepath.Join(over.path, rel), "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
					return step(err, "open %s", t.path)
				}
			}
		}
	}
	for _, t := range closed { // a path may lead elsewhere by now
		var stat unix.Stat_t
		if err := unix.Lstat(t.path, &stat); err != nil || stat.Dev != empty.Dev {
			return step(cmp.Or(err, error(unix.EBUSY)), "close %s", t.path)
		}
	}
	return nil
}

// keepNames lays each directory above something closed over itself, if the process could give it another name: the kernel renames no
// directory at which something is mounted. Else a process could make a directory of its own in its place, with a configuration
// that the gateway reads at its next start.
func keepNames(closed []target) error {
	var above []string
	for _, t := range closed {
		for dir := filepath.Dir(t.path); dir != "/"; dir = filepath.Dir(dir) {
			if unix.Access(filepath.Dir(dir), unix.W_OK) == nil {
				above = append(above, dir)
			}
		}
	}
	slices.Sort(above) // from above: what lies over a directory hides what lies over those below it
	for _, dir := range slices.Compact(above) {
		if err := unix.Mount(dir, dir, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
			return step(err, "keep the name of %s", dir)
		}
	}
	return nil
}

// keepKernel has root only read the settings of the kernel: some of them name programs that the kernel starts as root, outside
// of the box. The kernel itself refuses them to others. In Guard it would end the sandboxes of agents, which need a /proc of
// their own: the kernel gives none to a process whose own is not whole.
func keepKernel() error {
	if os.Geteuid() != 0 {
		return nil
	}
	for _, path := range []string{"/proc/sys", "/proc/sysrq-trigger", "/sys"} {
		err := unix.Mount(path, path, "", unix.MS_BIND|unix.MS_REC, "")
		if err == nil {
			err = unix.MountSetattr(unix.AT_FDCWD, path, unix.AT_RECURSIVE, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY})
		}
		if err != nil && !errors.Is(err, unix.ENOENT) {
			return step(err, "make %s read-only", path)
		}
	}
	return nil
}

// fill makes an empty directory that has the ways to what is kept open below a closed one.
func (r Rule) fill(dir string, closed target, kept []target) error {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return step(err, "make an empty directory")
	}
	mode := os.FileMode(0)
	for _, t := range kept {
		rel, is := t.below(closed)
		if !is {
			continue
		}
		mode = 0o111
		way := dir
		for part := range strings.SplitSeq(rel, string(filepath.Separator)) {
			way = filepath.Join(way, part)
			if err := os.Mkdir(way, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
				return step(err, "make the way to %s", t.path)
			}
		}
		for ; way != dir; way = filepath.Dir(way) { // from below: a directory that is closed cannot be filled
			defer os.Chmod(way, mode) //nolint:errcheck,gosec // it is empty but for the way
		}
	}
	return step(os.Chmod(dir, mode), "close %s", closed.path)
}

// sockets are those by which other programs of the same user start programs outside of the box: the
// user's service manager and the bus that leads to it. Write opens them.
func (r Rule) sockets() (all []string) {
	uid := os.Geteuid()
	if r.User != nil {
		uid = r.User.UID
	}
	for _, dir := range []string{fmt.Sprintf("/run/user/%d", uid), os.Getenv("XDG_RUNTIME_DIR")} {
		if dir != "" {
			all = append(all, filepath.Join(dir, "bus"), filepath.Join(dir, "systemd"))
		}
	}
	if uid == 0 {
		all = append(all, "/run/dbus/system_bus_socket", "/run/systemd/private")
	}
	return slices.DeleteFunc(all, func(path string) bool { return slices.Contains(r.Write, path) })
}
