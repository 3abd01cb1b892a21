package workspace

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"unicode/utf8"
)

// MaxRead is how much of a file is read; what is longer is cut and Marker says
// so in its place.
const MaxRead = 1 << 20

// Marker ends what was cut at MaxRead.
const Marker = "\n[cut here: the file is longer than 1 MiB]\n"

// errNotRegular refuses pipes, sockets and devices, whose reading has no end.
var errNotRegular = errors.New("not a regular file")

// Entry is one name in a directory. Type has no permission bits; a symlink is a
// symlink, wherever it leads.
type Entry struct {
	Name string
	Type fs.FileMode
}

// ReadFile returns the file's content. Of a file longer than MaxRead it returns
// the beginning, at most MaxRead bytes, no rune cut in half, and Marker; cut
// says so, lest the rest is lost when what was read is written back.
func (d Dir) ReadFile(path string) (data []byte, cut bool, err error) {
	name, err := d.open(path)
	if err != nil {
		return nil, false, err
	}
	data, cut, err = d.read(name)
	return data, cut, d.fail("read", path, err)
}

func (d Dir) read(name string) ([]byte, bool, error) {
	// Non-blocking, since opening a pipe would wait for its writer.
	f, err := d.root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, false, err
	}
	if !info.Mode().IsRegular() {
		return nil, false, notRegular(info)
	}
	data, err := io.ReadAll(io.LimitReader(f, MaxRead+1))
	if err != nil || len(data) <= MaxRead {
		return data, false, err
	}
	return append(wholeRunes(data[:MaxRead]), Marker...), true, nil
}

// wholeRunes drops the beginning of a rune at the end of data. Bytes that are
// no UTF-8 anyway stay.
func wholeRunes(data []byte) []byte {
	for i := 1; i < utf8.UTFMax && i <= len(data); i++ {
		if tail := data[len(data)-i:]; utf8.RuneStart(tail[0]) {
			if !utf8.FullRune(tail) {
				return data[:len(data)-i]
			}
			break
		}
	}
	return data
}

// WriteFile makes the file, or replaces its content in place, so that its mode,
// its hard links and a symlink to it stay. Missing directories are made.
func (d Dir) WriteFile(path string, data []byte) error {
	name, err := d.open(path)
	if err != nil {
		return err
	}
	return d.fail("write", path, d.write(name, data))
}

func (d Dir) write(name string, data []byte) error {
	if err := d.makeParents(name); err != nil {
		return err
	}
	// No O_TRUNC: nothing is thrown away before it is known to be a file.
	f, err := d.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|syscall.O_NONBLOCK, 0o644)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = notRegular(info)
	}
	if err == nil {
		err = f.Truncate(0)
	}
	if err == nil {
		_, err = f.Write(data)
	}
	return errors.Join(err, f.Close())
}

// makeParents makes the directories above name. With ".." in it there is
// nothing to make: each step must exist for the next to mean anything.
func (d Dir) makeParents(name string) error {
	parent := filepath.Dir(name)
	if parent == "." || slices.Contains(strings.Split(name, string(filepath.Separator)), "..") {
		return nil
	}
	if info, err := d.root.Stat(parent); err == nil && info.IsDir() {
		return nil
	}
	return d.root.MkdirAll(parent, 0o755)
}

// Stat describes what path leads to.
func (d Dir) Stat(path string) (fs.FileInfo, error) {
	name, err := d.open(path)
	if err != nil {
		return nil, err
	}
	info, err := d.root.Stat(name)
	return info, d.fail("stat", path, err)
}

// List returns the names in a directory, sorted.
func (d Dir) List(path string) ([]Entry, error) {
	name, err := d.open(path)
	if err != nil {
		return nil, err
	}
	entries, err := d.list(name)
	return entries, d.fail("list", path, err)
}

func (d Dir) list(name string) ([]Entry, error) {
	f, err := d.root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	found, err := f.ReadDir(-1)
	if err != nil {
		return nil, err
	}
	entries := make([]Entry, len(found))
	for i, e := range found {
		entries[i] = Entry{Name: e.Name(), Type: e.Type()}
	}
	slices.SortFunc(entries, func(a, b Entry) int { return strings.Compare(a.Name, b.Name) })
	return entries, nil
}

func notRegular(info fs.FileInfo) error {
	if info.IsDir() {
		return fmt.Errorf("%w but a directory", errNotRegular)
	}
	return errNotRegular
}
