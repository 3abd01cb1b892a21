package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/tributary-dev/tributary/config"
	"github.com/tributary-dev/tributary/eventlog/sqllog"
	"github.com/tributary-dev/tributary/gateway"
	"github.com/tributary-dev/tributary/session/agentset"
)

// This file writes back-ups while the gateway runs.

// backups writes back-ups: each is a folder in a directory, which has a copy of each database.
type backups struct {
	config.Backup

	sources []string // the databases
	logger  *slog.Logger

	mu  sync.Mutex
	now gateway.BackupStatus
}

// The names of back-ups. A folder of another name is never deleted.
const (
	backupPrefix = "tributary-"
	backupTime   = "20060102T150405Z"
	backupPart   = ".part"
	// backupAgain is when a back-up that failed is tried again, at the latest.
	backupAgain = 10 * time.Minute
)

var backupName = regexp.MustCompile(`^tributary-\d{8}T\d{6}Z(\.part)?$`) //nolint:gochecknoglobals // never written

// checkBackup refuses a directory for back-ups that cannot be one. It makes nothing.
func (s *setup) checkBackup() error {
	if s.Backup == nil {
		return nil
	}
	if s.DB != "" {
		return s.Fault("backup", "is for SQLite, and this gateway uses PostgreSQL: remove the section, and run pg_dump")
	}
	if agentset.Within(s.Backup.Dir, s.Data) || agentset.Within(s.Data, s.Backup.Dir) {
		return s.Fault("backup.dir", "is %s, which overlaps with the data directory %s: name another directory, best on another disk", s.Backup.Dir, s.Data)
	}
	return nil
}

// newBackups makes the directory, and finds the newest back-up that is there. It is nil without the section.
func newBackups(c *config.Backup, data string, logger *slog.Logger) (*backups, error) {
	if c == nil {
		return nil, nil //nolint:nilnil // there are none
	}
	b := &backups{Backup: *c, sources: []string{filepath.Join(data, "tributary.db"), filepath.Join(data, "access.db")}, logger: logger}
	if err := writable(b.Dir); err != nil {
		return nil, fmt.Errorf("the directory for back-ups %s cannot be written: correct its permissions, or name another in backup.dir: %w", b.Dir, reason(err))
	}
	if there := b.there(); len(there) > 0 {
		newest, err := time.Parse(backupPrefix+backupTime, there[len(there)-1])
		if err == nil {
			b.now.Last = &newest
		}
	}
	return b, nil
}

// status tells how the back-ups are doing. It is nil if there are none.
func (b *backups) status() func() gateway.BackupStatus {
	if b == nil {
		return nil
	}
	return func() gateway.BackupStatus {
		b.mu.Lock()
		defer b.mu.Unlock()
		return b.now
	}
}

// keep writes back-ups until ctx ends. The first one is due when the newest of an earlier start is old
// enough.
func (b *backups) keep(ctx context.Context) {
	wait := time.Duration(0)
	if last := b.status()().Last; last != nil {
		wait = time.Until(last.Add(b.Every))
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
		began := time.Now()
		name, err := b.write(ctx, began)
		if ctx.Err() != nil {
			return
		}
		b.mu.Lock()
		if wait = b.Every; err != nil {
			wait = min(wait, backupAgain)
			if b.now.FailingSince == nil {
				b.now.FailingSince = &began
			}
		} else {
			b.now = gateway.BackupStatus{Last: &began}
		}
		b.mu.Unlock()
		if err != nil {
			b.logger.Error("no back-up was written", "dir", b.Dir, "again_in", wait, "error", err)
			continue
		}
		b.logger.Info("a back-up was written", "backup", filepath.Join(b.Dir, name), "took", time.Since(began).Round(time.Millisecond))
		wait = time.Until(began.Add(wait))
	}
}

// write writes a back-up under another name, gives it its name when the disk has it, and deletes the
// oldest ones.
func (b *backups) write(ctx context.Context, now time.Time) (name string, err error) {
	name = now.UTC().Format(backupPrefix + backupTime)
	part := filepath.Join(b.Dir, name+backupPart)
	if err := os.Mkdir(part, 0o700); err != nil {
		return name, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, b.remove(name+backupPart))
		}
	}()
	for _, from := range b.sources {
		if err := sqllog.CopySQLite(ctx, from, filepath.Join(part, filepath.Base(from))); err != nil {
			return name, fmt.Errorf("copy %s: %w", from, err)
		}
	}
	if err := errors.Join(syncDir(part), os.Rename(part, filepath.Join(b.Dir, name)), syncDir(b.Dir)); err != nil {
		return name, err
	}
	there := b.there()
	for _, old := range there[:max(0, len(there)-b.Keep)] {
		if err := b.remove(old); err != nil {
			b.logger.Warn("an old back-up is not deleted", "backup", filepath.Join(b.Dir, old), "error", err)
		}
	}
	return name, nil
}

// there lists the back-ups, the oldest first, and removes what a killed gateway has left of one.
func (b *backups) there() (names []string) {
	entries, err := os.ReadDir(b.Dir) // sorted
	if err != nil {
		return nil
	}
	for _, e := range entries {
		switch {
		case !e.IsDir() || !backupName.MatchString(e.Name()):
		case strings.HasSuffix(e.Name(), backupPart):
			_ = b.remove(e.Name())
		default:
			names = append(names, e.Name())
		}
	}
	return names
}

// remove deletes a back-up: the files that this gateway writes, and the folder if nothing else is in it.
func (b *backups) remove(name string) error {
	dir := filepath.Join(b.Dir, name)
	for _, from := range b.sources {
		if err := os.Remove(filepath.Join(dir, filepath.Base(from))); err != nil && !os.IsNotExist(err) {
			return err
		}
	}
	return os.Remove(dir)
}

// syncDir waits until the disk has the names in a directory. Windows has no such call.
func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	if err = f.Sync(); runtime.GOOS == "windows" {
		err = nil
	}
	return errors.Join(err, f.Close())
}
