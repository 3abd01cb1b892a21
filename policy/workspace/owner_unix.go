//go:build unix

package workspace

import (
	"os"
	"path/filepath"
	"syscall"
)

// share gives a new file or directory to those who work in its directory, because the gateway may be
// another user than the agent: what root makes belongs to the owner of the directory. In a directory of another
// group that group gets what is new, and may do with it as with the directory. Where the system does not
// let that happen, the file stays as it is.
func (d Dir) share(f *os.File, name string) {
	dir, err := d.root.Stat(filepath.Dir(name))
	if err != nil {
		return
	}
	info, err := f.Stat()
	if err != nil {
		return
	}
	now, is := dir.Sys().(*syscall.Stat_t)
	if !is {
		return
	}
	uid, gid := -1, int(now.Gid)
	if os.Geteuid() == 0 {
		uid = int(now.Uid)
	}
	if uid <= 0 && gid == os.Getegid() || f.Chown(uid, gid) != nil {
		return
	}
	group := dir.Mode() & 0o070
	if !info.IsDir() {
		group &^= 0o010
	}
	_ = f.Chmod(info.Mode() | group)
}
