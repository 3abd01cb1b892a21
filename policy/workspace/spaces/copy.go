package spaces

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"syscall"
	"time"
)

const (
	// maxCopyBytes bounds the content of the files of a copy.
	maxCopyBytes = 10 << 30
	// maxCopyEntries bounds the files, directories and symbolic links of a copy.
	maxCopyEntries = 500_000
	// maxCopyDepth bounds how deep the directories of a copy are nested.
	maxCopyDepth = 200
	// copyPiece is how much of a file is copied before the copy looks at its context again.
	copyPiece = 32 << 20
	// listedAtOnce is how many names of a directory are read before they are counted.
	listedAtOnce = 512
	// partialName begins the names of directories that are not finished.
	partialName = ".partial-"
)

// bounds are what a copy may have.
type bounds struct {
	bytes   int64 // of the content of all files together
	entries int   // files, directories and symbolic links
}

// Copy copies the directory tree at source into the new directory target, whose parent exists.
//
// Files keep their permissions and times. Symbolic links stay as they are, wherever they lead,
// and Copy follows none below source. Copy leaves out devices, sockets and pipes, and files that
// vanish meanwhile. A second hard link becomes a file of its own. Extended attributes, owners,
// set-user-ID bits and the like are not copied.
//
// Copy makes the tree beside target, and renames it at the end: after an error, or when ctx ends,
// nothing is at target. A process that is killed leaves a directory whose name begins with
// ".partial-". Copy fails if target exists or is inside source, and if source is larger than the
// bounds (10 GiB of content, 500,000 files, directories and symbolic links) or its directories are
// nested deeper than 200.
func Copy(ctx context.Context, source, target string) error {
	return copyWithin(ctx, source, target, bounds{bytes: maxCopyBytes, entries: maxCopyEntries})
}

func copyWithin(ctx context.Context, source, target string, b bounds) error {
	if _, err := os.Lstat(target); err == nil {
		return fmt.Errorf("copy %s: %s exists already: name a new directory", source, target)
	}
	if inside, err := isInside(filepath.Dir(target), source); err != nil {
		return fmt.Errorf("copy %s: %w", source, err)
	} else if inside {
		return fmt.Errorf("copy %s: %s is inside of it: name a directory elsewhere", source, target)
	}
	from, err := os.OpenRoot(source)
	if err != nil {
		return fmt.Errorf("copy %s: %w", source, err)
	}
	defer from.Close()
	partial, err := os.MkdirTemp(filepath.Dir(target), partialName)
	if err != nil {
		return fmt.Errorf("copy %s: %w", source, err)
	}
	if err = copyInto(ctx, from, partial, b); err == nil {
		err = renameNew(partial, target)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("copy %s: %w", source, err), RemoveAll(partial))
	}
	return nil
}

// renameNew renames a directory. It does not replace another one.
func renameNew(from, to string) error {
	if _, err := os.Lstat(to); err == nil {
		return fmt.Errorf("%s was made by somebody else meanwhile", to)
	}
	return os.Rename(from, to)
}

// isInside reports whether an existing directory is another one, or is inside of it. It compares
// the directories themselves, so other spellings and links do not deceive it.
func isInside(dir, of string) (bool, error) {
	outer, err := os.Stat(of)
	if err != nil {
		return false, err
	}
	at, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return false, err
	}
	if at, err = filepath.Abs(at); err != nil {
		return false, err
	}
	for ; ; at = filepath.Dir(at) {
		if info, err := os.Stat(at); err == nil && os.SameFile(info, outer) {
			return true, nil
		}
		if at == filepath.Dir(at) {
			return false, nil
		}
	}
}

// copying is one call of Copy. Both trees are open as roots, so a directory that somebody
// replaces by a symbolic link meanwhile leads nowhere else.
type copying struct {
	from, to *os.Root
	left     bounds
	most     bounds
}

func copyInto(ctx context.Context, from *os.Root, partial string, b bounds) (err error) {
	to, err := os.OpenRoot(partial)
	if err != nil {
		return err
	}
	defer to.Close()
	c := copying{from: from, to: to, left: b, most: b}
	return c.directory(ctx, ".", 0)
}

func (c *copying) directory(ctx context.Context, name string, depth int) error {
	if depth > maxCopyDepth {
		return fmt.Errorf("the directories in it are nested deeper than %d: remove some, or name another directory", maxCopyDepth)
	}
	info, err := c.from.Lstat(name)
	if err != nil {
		return err
	}
	dir, err := c.open(name, info)
	if err != nil {
		return err
	}
	defer dir.Close()
	for {
		entries, err := dir.ReadDir(listedAtOnce)
		for _, e := range entries {
			if err := c.entry(ctx, path.Join(name, e.Name()), depth+1); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
	}
	// The permissions come last, since a directory may be one that nobody may write to.
	if err := c.to.Chmod(name, info.Mode().Perm()); err != nil {
		return err
	}
	return c.to.Chtimes(name, time.Time{}, info.ModTime())
}

// open opens what info is about, and nothing else that has got its name since. It does not wait
// for the writer of a pipe.
func (c *copying) open(name string, info fs.FileInfo) (*os.File, error) {
	f, err := c.from.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	now, err := f.Stat()
	if err == nil && !os.SameFile(now, info) {
		err = fmt.Errorf("%s was replaced while it was copied: copy again", name)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func (c *copying) entry(ctx context.Context, name string, depth int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	info, err := c.from.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if c.left.entries--; c.left.entries < 0 {
		return fmt.Errorf("it has more than %d files and directories: remove some, or name a smaller directory", c.most.entries)
	}
	switch {
	case info.IsDir():
		if err := c.to.Mkdir(name, 0o700); err != nil {
			return err
		}
		err = c.directory(ctx, name, depth)
	case info.Mode()&fs.ModeSymlink != 0:
		var leads string
		if leads, err = c.from.Readlink(name); err == nil {
			err = c.to.Symlink(leads, name)
		}
	case info.Mode().IsRegular():
		err = c.file(ctx, name, info)
	}
	return err
}

func (c *copying) file(ctx context.Context, name string, info fs.FileInfo) (err error) {
	in, err := c.open(name, info)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := c.to.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	for n := int64(-1); n != 0 && err == nil; {
		// The system's own way to copy works for a limited reader, too.
		n, err = io.Copy(out, io.LimitReader(in, copyPiece))
		if c.left.bytes -= n; c.left.bytes < 0 && err == nil {
			err = fmt.Errorf("its files have more than %d bytes: remove some, or name a smaller directory", c.most.bytes)
		}
		if err == nil {
			err = ctx.Err()
		}
	}
	if err := errors.Join(err, out.Close()); err != nil {
		return err
	}
	if err := c.to.Chmod(name, info.Mode().Perm()); err != nil {
		return err
	}
	return c.to.Chtimes(name, time.Time{}, info.ModTime())
}

// RemoveAll removes a directory tree as [os.RemoveAll] does, with directories that nobody may
// write to, such as those of Go's module cache. It follows no symbolic links.
func RemoveAll(dir string) error {
	failed := os.RemoveAll(dir)
	if info, err := os.Lstat(dir); failed == nil || err != nil || !info.IsDir() {
		return failed
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	makeWritable(root, ".", 0)
	if err := root.Close(); err != nil {
		return err
	}
	return os.RemoveAll(dir)
}

// makeWritable lets the owner change the directories of a tree. What cannot be changed stays, and
// its removal fails and says why.
func makeWritable(root *os.Root, name string, depth int) {
	if info, err := root.Lstat(name); err != nil || !info.IsDir() || depth > maxCopyDepth {
		return
	}
	_ = root.Chmod(name, 0o700) //nolint:gosec // a directory, which is about to be removed
	dir, err := root.Open(name)
	if err != nil {
		return
	}
	defer dir.Close()
	for {
		entries, err := dir.ReadDir(listedAtOnce)
		for _, e := range entries {
			if e.IsDir() {
				makeWritable(root, path.Join(name, e.Name()), depth+1)
			}
		}
		if err != nil {
			return
		}
	}
}
