package sqllog_test

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// readOnly keeps everybody from writing a file until the test ends. Root may write
// every file that is not immutable.
func readOnly(t *testing.T, name string) {
	t.Helper()
	if err := os.Chmod(name, 0o400); err != nil {
		t.Fatal(err)
	}
	if os.Getuid() != 0 {
		return
	}
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	const immutable = 0x10 // FS_IMMUTABLE_FL
	flags, err := unix.IoctlGetInt(int(f.Fd()), unix.FS_IOC_GETFLAGS)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(f.Fd()), unix.FS_IOC_SETFLAGS, flags|immutable)
	}
	if err != nil {
		t.Skipf("root may write every file, and this disk has no immutable ones: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.IoctlSetPointerInt(int(f.Fd()), unix.FS_IOC_SETFLAGS, flags); err != nil {
			t.Error(err)
		}
	})
}
