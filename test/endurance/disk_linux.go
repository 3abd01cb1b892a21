package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// obstacle keeps a gateway from writing its database.
type obstacle struct {
	name     string
	dir      string // the parent of the data directory
	put, off func(*gateway) error
	undo     func() // at the end
	// refused is the error of a gateway that starts behind the obstacle; "": the obstacle holds for
	// one process only.
	refused string
}

// fullDisks are the ways to have a full disk: a limit on the size of the process'
// files, and a small disk where this user may mount one.
func (b *bench) fullDisks() []obstacle {
	limit := func(size uint64) func(*gateway) error {
		return func(g *gateway) error {
			return unix.Prlimit(g.PID, unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: size, Max: unix.RLIM_INFINITY}, nil)
		}
	}
	all := []obstacle{{name: "limit", dir: filepath.Join(b.dir, "limited"), put: limit(1), off: limit(unix.RLIM_INFINITY), undo: func() {}}}
	small := filepath.Join(b.dir, "small")
	if os.Mkdir(small, 0o700) != nil || unix.Mount("tmpfs", small, "tmpfs", 0, "size=64m") != nil {
		progress("no small disk can be mounted here: only files are limited")
		return all
	}
	filler := filepath.Join(small, "filler")
	return append(all, obstacle{
		name: "small disk", dir: small,
		put: func(*gateway) error {
			f, err := os.Create(filler)
			if err != nil {
				return err
			}
			for err == nil { // until the disk is full
				_, err = f.Write(make([]byte, 4<<10))
			}
			return f.Close()
		},
		off:  func(*gateway) error { return os.Remove(filler) },
		undo: func() { _ = unix.Unmount(small, unix.MNT_DETACH) },
	})
}

// readOnly makes the files of the database immutable, so that also a program that has
// them open cannot write them.
func (b *bench) readOnly() (obstacle, error) {
	dir := filepath.Join(b.dir, "immutable")
	set := func(immutable bool) error {
		files, _ := filepath.Glob(filepath.Join(dir, "data", "tributary.db*"))
		for _, name := range files {
			if err := setImmutable(name, immutable); err != nil {
				return err
			}
		}
		return nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return obstacle{}, err
	}
	probe := filepath.Join(dir, "probe")
	if err := errors.Join(os.WriteFile(probe, nil, 0o600), setImmutable(probe, true), setImmutable(probe, false)); err != nil {
		return obstacle{}, fmt.Errorf("%w: this user or disk has no immutable files", errSkipped)
	}
	return obstacle{
		name: "read-only", dir: dir, refused: "cannot be written: correct",
		put: func(*gateway) error { return set(true) }, off: func(*gateway) error { return set(false) }, undo: func() { _ = set(false) },
	}, nil
}

// immutableFlag is FS_IMMUTABLE_FL of Linux.
const immutableFlag = 0x10

func setImmutable(name string, immutable bool) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	flags, err := unix.IoctlGetInt(int(f.Fd()), unix.FS_IOC_GETFLAGS)
	if err != nil {
		return fmt.Errorf("read the flags of %s: %w", name, err)
	}
	flags &^= immutableFlag
	if immutable {
		flags |= immutableFlag
	}
	if err := unix.IoctlSetPointerInt(int(f.Fd()), unix.FS_IOC_SETFLAGS, flags); err != nil {
		return fmt.Errorf("set the flags of %s: %w", name, err)
	}
	return nil
}

func (b *bench) full(ctx context.Context, times int, t *results) error {
	for _, o := range b.fullDisks() {
		if err := b.obstruct(ctx, o, times, t); err != nil {
			return fmt.Errorf("%s: %w", o.name, err)
		}
	}
	return nil
}

func (b *bench) unwritable(ctx context.Context, times int, t *results) error {
	o, err := b.readOnly()
	if err != nil {
		return err
	}
	return b.obstruct(ctx, o, times, t)
}

// obstruct puts an obstacle in the way of a gateway under load, and removes it. Behind the obstacle,
// turns fail and the gateway refuses prompts. Without it the gateway works again without a restart,
// and has closed the failed turns.
func (b *bench) obstruct(ctx context.Context, o obstacle, times int, t *results) error {
	defer o.undo()
	data := filepath.Join(o.dir, "data")
	start := func() (*gateway, error) { return b.start(ctx, data, quickDemo) }
	c, err := startClients(ctx, start, answerWithin)
	if err != nil {
		return err
	}
	defer c.stop()
	for range times {
		if err := pause(ctx, 300*time.Millisecond+randomDuration(300*time.Millisecond)); err != nil {
			return err
		}
		c.addLongPrompt(ctx)
		if err := pause(ctx, 250*time.Millisecond); err != nil {
			return err
		}
		if err := o.put(c.g); err != nil {
			return err
		}
		err := pause(ctx, 500*time.Millisecond+randomDuration(500*time.Millisecond))
		if o.refused != "" && err == nil {
			b.checkReadOnlyStart(ctx, data, o.refused, t)
		}
		if fault := errors.Join(err, o.off(c.g)); fault != nil {
			return fault
		}
		before := c.answered()
		for began := time.Now(); c.answered() == before; {
			if time.Since(began) > closeWithin {
				t.failed("no prompt is answered though the gateway can write again: %s", c.g.Said())
				break
			}
			if err := pause(ctx, 20*time.Millisecond); err != nil {
				return err
			}
		}
		t.tried(1)
	}
	if err := pause(ctx, 500*time.Millisecond); err != nil {
		return err
	}
	return c.stopAndCompare(ctx, t, logFailed, start)
}

// checkReadOnlyStart checks that a gateway refuses to start on a read-only copy of the data directory, and that
// its error names the reason.
func (b *bench) checkReadOnlyStart(ctx context.Context, data, sentence string, t *results) {
	copied, err := os.MkdirTemp(b.dir, "copy-")
	if err == nil {
		err = os.CopyFS(copied, os.DirFS(data))
	}
	if err != nil {
		t.failed("copy the data directory: %v", err)
		return
	}
	defer os.RemoveAll(copied) //nolint:errcheck // it goes with the rest else
	database := filepath.Join(copied, "tributary.db")
	if err := setImmutable(database, true); err != nil {
		t.failed("%v", err)
		return
	}
	defer setImmutable(database, false) //nolint:errcheck // see above
	g, err := b.start(ctx, copied, quickDemo)
	switch {
	case err == nil:
		g.kill()
		t.failed("a gateway has started on a database that is read-only")
	case !strings.Contains(err.Error(), sentence):
		t.failed("a gateway on a read-only database says %v", err)
	}
}
