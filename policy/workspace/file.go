package workspace

import (
	"bufio"
	"context"
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

// MaxRead bounds the part of a file that is read. Marker stands in the place of the rest.
const MaxRead = 1 << 20

// Marker ends a text that was cut at MaxRead.
const Marker = "\n[cut here: the file is longer than 1 MiB]\n"

// errNotRegular refuses pipes, sockets and devices, whose reading has no end.
var errNotRegular = errors.New("not a regular file")

// Entry is one name in a directory. Type has no permission bits; a symlink is a
// symlink, wherever it leads.
type Entry struct {
	Name string
	Type fs.FileMode
}

// ReadFile returns the file's content. For a file longer than MaxRead it returns
// the beginning, at most MaxRead bytes and no rune cut in half, with Marker behind.
// Then cut is true, so that the caller does not write the data back and lose the
// rest.
func (d Dir) ReadFile(path string) (data []byte, cut bool, err error) {
	return d.ReadLines(path, 1, 0)
}

// ReadLines is ReadFile for a part of the file: at most limit lines from line on,
// which counts from 1. A limit of 0 means all lines. A part that begins after the
// end of the file is empty.
func (d Dir) ReadLines(path string, line, limit int) (data []byte, cut bool, err error) {
	name, err := d.open(path)
	if err != nil {
		return nil, false, err
	}
	type part struct {
		data []byte
		cut  bool
	}
	p, err := bounded(d.gate, func(ctx context.Context) (part, error) {
		data, cut, err := d.read(ctx, name, line, limit)
		return part{data, cut}, err
	})
	return p.data, p.cut, d.fail("read", path, err)
}

func (d Dir) read(ctx context.Context, name string, line, limit int) ([]byte, bool, error) {
	// Non-blocking, since opening a pipe would wait for its writer.
	f, info, err := d.openFile(name, os.O_RDONLY)
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	if !info.Mode().IsRegular() {
		return nil, false, notRegular(info)
	}
	var data []byte
	if line <= 1 && limit <= 0 {
		data, err = io.ReadAll(io.LimitReader(f, MaxRead+1))
	} else {
		data, err = lines(ctx, f, max(line, 1), limit)
	}
	if err != nil || len(data) <= MaxRead {
		return data, false, err
	}
	return append(wholeRunes(data[:MaxRead]), Marker...), true, nil
}

// openFile opens without waiting, and checks that what was opened is not denied.
func (d Dir) openFile(name string, flag int) (*os.File, fs.FileInfo, error) {
	f, err := d.root.OpenFile(name, flag|syscall.O_NONBLOCK, 0o644)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil {
		err = d.same(name, info)
	}
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return f, info, nil
}

// lines reads limit lines from a line on. lines stops when the text is longer than MaxRead.
func lines(ctx context.Context, f io.Reader, line, limit int) ([]byte, error) {
	r := bufio.NewReaderSize(f, 64<<10)
	data := []byte{}
	for n := 1; limit <= 0 || n < line+limit; {
		piece, err := r.ReadSlice('\n')
		if n >= line {
			data = append(data, piece[:min(len(piece), MaxRead+1-len(data))]...)
		}
		switch {
		case err == nil:
			n++
		case errors.Is(err, io.EOF):
			return data, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
		if len(data) > MaxRead || ctx.Err() != nil {
			return data, ctx.Err()
		}
	}
	return data, nil
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
	_, err = bounded(d.gate, func(ctx context.Context) (struct{}, error) { return struct{}{}, d.write(ctx, name, data) })
	return d.fail("write", path, err)
}

func (d Dir) write(ctx context.Context, name string, data []byte) error {
	if len(d.denied) > 0 && !d.contains(name) {
		return d.escape // before anything is made there
	}
	if err := d.makeParents(name); err != nil {
		return err
	}
	// No O_TRUNC: nothing is thrown away before it is known to be a file.
	f, info, err := d.openFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL)
	if err == nil {
		d.share(f, name)
	} else if f, info, err = d.openFile(name, os.O_WRONLY|os.O_CREATE); err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		err = notRegular(info)
	}
	if err == nil {
		err = ctx.Err() // the caller was told that the write failed
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
	way := ""
	for part := range strings.SplitSeq(parent, string(filepath.Separator)) {
		way = filepath.Join(way, part)
		if err := d.root.Mkdir(way, 0o755); errors.Is(err, fs.ErrExist) {
			continue
		} else if err != nil {
			return err
		}
		if f, err := d.root.Open(way); err == nil {
			d.share(f, way)
			_ = f.Close()
		}
	}
	return nil
}

// Stat describes what path leads to.
func (d Dir) Stat(path string) (fs.FileInfo, error) {
	name, err := d.open(path)
	if err != nil {
		return nil, err
	}
	info, err := bounded(d.gate, func(context.Context) (fs.FileInfo, error) {
		info, err := d.root.Stat(name)
		if err == nil {
			err = d.same(name, info)
		}
		if err != nil {
			return nil, err
		}
		return info, nil
	})
	return info, d.fail("stat", path, err)
}

// List returns the names in a directory, sorted. What is denied by its path is left out.
func (d Dir) List(path string) ([]Entry, error) {
	name, err := d.open(path)
	if err != nil {
		return nil, err
	}
	entries, err := bounded(d.gate, func(context.Context) ([]Entry, error) { return d.list(name) })
	return entries, d.fail("list", path, err)
}

func (d Dir) list(name string) ([]Entry, error) {
	f, _, err := d.openFile(name, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	found, err := f.ReadDir(-1)
	if err != nil {
		return nil, err
	}
	rel, err := d.resolve(name)
	if err != nil {
		return nil, err
	}
	no := d.closed().paths
	entries := make([]Entry, 0, len(found))
	for _, e := range found {
		if !slices.Contains(no, filepath.Join(rel, e.Name())) {
			entries = append(entries, Entry{Name: e.Name(), Type: e.Type()})
		}
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
