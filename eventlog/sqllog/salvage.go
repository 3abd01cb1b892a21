package sqllog

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"
)

// This file makes a new database of what can be read of a damaged one.

// Names of the files beside the database.
const (
	savedSuffix   = ".saved"    // the new database, until it takes the place of the damaged one
	asideSuffix   = ".damaged-" // a damaged file, and when it was set aside
	scratchSuffix = ".scratch"
	asideTime     = "20060102T150405.000"
	pageSize      = 4096
)

// besides are the files that belong to a database.
func besides(path string) []string { return []string{path, path + "-wal", path + "-shm"} }

func removeDatabase(path string) error {
	var all error
	for _, name := range besides(path) {
		if err := os.Remove(name); err != nil && !os.IsNotExist(err) {
			all = errors.Join(all, err)
		}
	}
	return all
}

// setAside gives a damaged file a name that says so. Nothing deletes that file, unless it
// is empty.
func setAside(name string, at time.Time) (aside string, err error) {
	if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() && info.Size() == 0 {
		return "", os.Remove(name)
	}
	aside = name + asideSuffix + at.UTC().Format(asideTime)
	if err = os.Rename(name, aside); os.IsNotExist(err) {
		return "", nil
	}
	return aside, err
}

// asides counts the damaged files in a data directory.
func asides(dir string) int {
	found, _ := filepath.Glob(filepath.Join(dir, databaseFile+"*"+asideSuffix+"*")) // the pattern is well formed
	return len(found)
}

// salvage saves what can be read of a damaged database into a new one, and sets the damaged
// one aside. A start that is cut short begins again.
func salvage(ctx context.Context, path string, o Options, why error) error {
	began := time.Now()
	o.Logger.Error("the database is damaged: the gateway saves what can be read of it, which can take minutes", "database", path, "error", why)
	saved, scratch := path+savedSuffix, path+scratchSuffix
	if err := errors.Join(removeDatabase(saved), removeDatabase(scratch)); err != nil {
		return err
	}
	fresh, err := openFile(ctx, saved, o)
	if err != nil {
		return err
	}
	c := copying{to: fresh.write, log: o.Logger, told: began}
	err = c.from(ctx, path, saved, scratch)
	if err = errors.Join(err, fresh.close(), removeDatabase(scratch)); err != nil {
		return errors.Join(err, removeDatabase(saved))
	}
	aside, err := setAside(path, began)
	if err != nil {
		return err
	}
	if _, err := setAside(path+"-wal", began); err != nil {
		return err
	}
	if err := os.Remove(path + "-shm"); err != nil && !os.IsNotExist(err) {
		return err
	}
	if err := os.Rename(saved, path); err != nil {
		return err
	}
	if c.rows == 0 {
		return beginEmpty(o, began, "nothing could be read of the database, which is kept as "+aside)
	}
	o.Logger.Error("the database was damaged: the gateway goes on with what could be read. Compare with a back-up, look at the disk, and delete the damaged file when you do not need it any more",
		"kept", aside, "rows", c.rows, "took", time.Since(began).Round(time.Millisecond))
	return nil
}

// beginEmpty begins without the sessions that were there. It sets the state of agents aside:
// agents find their state by the id of a session, and new sessions may have old ids.
func beginEmpty(o Options, now time.Time, why string) error {
	agents, err := setAside(filepath.Join(o.Dir, "agents"), now)
	if err == nil {
		_, err = setAside(filepath.Join(o.Dir, databaseFile+"-wal"), now)
	}
	o.Logger.Error("all sessions are lost: restore a back-up, or go on without them", "reason", why, "kept", agents)
	return err
}
