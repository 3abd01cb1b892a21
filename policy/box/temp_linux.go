package box

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// temp is where programs put temporary files. Some of them look at TMPDIR, and some do not.
const temp = "/tmp"

// ownTemp gives the process a directory for temporary files that no other agent has. What the rule opens below
// the one of the system is in its place.
func (o order) ownTemp() error {
	for _, path := range slices.Concat(o.Rule.Read, o.Rule.Write) {
		if strings.HasSuffix(path, "/") {
			_ = os.MkdirAll(path, 0o700) // one that cannot be made is left out
		}
	}
	for _, path := range o.Rule.Files {
		if f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600); err == nil {
			_ = f.Close()
		}
	}
	read, err := openAll(o.readable())
	if err != nil {
		return err
	}
	write, err := openAll(o.writable())
	if err != nil {
		return err
	}
	old, found, err := open(temp)
	if err != nil || !found || slices.ContainsFunc(slices.Concat(read, write), func(t target) bool { _, is := old.below(t); return is }) {
		return err // all of it may be open
	}
	if o.Rule.Temp == "" {
		err = unix.Mount("tributary", old.path, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=1777")
	} else {
		err = unix.Mount(o.Rule.Temp, old.path, "", unix.MS_BIND, "")
	}
	if err != nil {
		return step(err, "make a directory for temporary files")
	}
	for _, t := range read { // Landlock lets the process write below its directory, so the mount does not
		if err := t.moveBelow(old, unix.MOUNT_ATTR_RDONLY); err != nil {
			return err
		}
	}
	for _, t := range write {
		if err := t.moveBelow(old, 0); err != nil {
			return err
		}
	}
	return step(os.Setenv("TMPDIR", temp), "name the directory for temporary files")
}

// moveBelow opens what was at a path below a directory there again, after another directory lies over it.
func (t target) moveBelow(dir target, attributes uint64) error {
	if _, is := t.below(dir); !is {
		return nil
	}
	var err error
	if _, missing := os.Lstat(t.path); missing != nil && t.dir {
		err = os.MkdirAll(t.path, 0o700)
	} else if missing != nil {
		if err = os.MkdirAll(filepath.Dir(t.path), 0o700); err == nil {
			err = os.WriteFile(t.path, nil, 0o600)
		}
	}
	if err == nil {
		err = unix.Mount(t.link(), t.path, "", unix.MS_BIND|unix.MS_REC, "")
	}
	if err == nil {
		err = unix.MountSetattr(unix.AT_FDCWD, t.path, unix.AT_RECURSIVE, &unix.MountAttr{Attr_set: attributes})
	}
	return step(err, "open %s", t.path)
}
