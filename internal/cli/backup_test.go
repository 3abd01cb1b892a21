package cli

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tributary-dev/tributary/access/accessdb"
	"github.com/tributary-dev/tributary/config"
	"github.com/tributary-dev/tributary/eventlog/sqllog"
)

// listed are the names in a directory.
func listed(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// Back-ups come in time, the oldest go, and nothing else in the directory does. A back-up that fails is
// tried again, and said.
func TestBackupsAreKeptInTime(t *testing.T) {
	t.Parallel()
	data, dir := t.TempDir(), t.TempDir()
	log, err := sqllog.Open(t.Context(), sqllog.Options{Dir: data})
	if err != nil {
		t.Fatal(err)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	store, err := accessdb.Open(t.Context(), data, "", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{
		"tributary-19990101T000000Z/tributary.db", "tributary-19990102T000000Z/tributary.db", "tributary-19990102T000000Z/mine", // the second has a file of somebody else
		"tributary-19990103T000000Z.part/access.db", "tributary-notes/mine", "tributary-19990104T000000Z-mine", "mine",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	synctest.Test(t, func(t *testing.T) { // its clock begins with the year 2000
		b, err := newBackups(&config.Backup{Dir: dir, Every: time.Hour, Keep: 2}, data, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { defer close(ended); b.keep(ctx) }()
		foreign := []string{"mine", "tributary-19990102T000000Z", "tributary-19990104T000000Z-mine", "tributary-notes"}
		for _, step := range []struct {
			wait    time.Duration
			want    []string
			failing bool
			hurt    string
		}{
			{time.Second, []string{"tributary-20000101T000000Z"}, false, ""},
			{59 * time.Minute, []string{"tributary-20000101T000000Z"}, false, ""},
			{time.Minute, []string{"tributary-20000101T000000Z", "tributary-20000101T010000Z"}, false, ""},
			{time.Hour, []string{"tributary-20000101T010000Z", "tributary-20000101T020000Z"}, false, ""},
			{time.Hour, []string{"tributary-20000101T010000Z", "tributary-20000101T020000Z"}, true, "access.db"},
			{10 * time.Minute, []string{"tributary-20000101T020000Z", "tributary-20000101T031000Z"}, false, ""},
		} {
			if step.hurt != "" {
				if err := os.Rename(filepath.Join(data, step.hurt), filepath.Join(data, "away")); err != nil {
					t.Fatal(err)
				}
			}
			time.Sleep(step.wait)
			synctest.Wait()
			if step.hurt != "" {
				if err := os.Rename(filepath.Join(data, "away"), filepath.Join(data, step.hurt)); err != nil {
					t.Fatal(err)
				}
			}
			names := slices.DeleteFunc(listed(t, dir), func(name string) bool { return slices.Contains(foreign, name) })
			if !slices.Equal(names, step.want) {
				t.Errorf("%s after the start there are %v, want %v", time.Since(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)), names, step.want)
			}
			if is := b.status()(); (is.FailingSince != nil) != step.failing || is.Last == nil {
				t.Errorf("the status is %v", is)
			}
		}
		cancel()
		<-ended
		for _, name := range foreign {
			if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
				t.Error(err)
			}
		}
	})
	if mine, err := os.ReadFile(filepath.Join(dir, "tributary-19990102T000000Z", "mine")); err != nil || string(mine) != "x" {
		t.Errorf("somebody's file is %q, %v", mine, err)
	}
	for _, name := range []string{"tributary.db", "access.db"} {
		path := filepath.Join(dir, "tributary-20000101T031000Z", name)
		if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 {
			t.Errorf("%s: %v, %v", path, info, err)
		}
	}
}

func TestADirectoryForBackupsThatCannotBeOne(t *testing.T) {
	t.Parallel()
	data, taken := t.TempDir(), file(t, "taken", "")
	for name, c := range map[string]struct {
		status     int
		yaml, want string
	}{
		"PostgreSQL":          {exitUsage, "db: postgres://x@127.0.0.1/x\nbackup: {dir: /b}", "backup is for SQLite, and this gateway uses PostgreSQL: remove the section, and run pg_dump"},
		"in the data":         {exitUsage, "backup: {dir: " + data + "/b}", "overlaps with the data directory " + data},
		"around the data":     {exitUsage, "backup: {dir: " + filepath.Dir(data) + "}", "overlaps with the data directory " + data},
		"a file":              {exitFailed, "backup: {dir: " + taken + "}", "the directory for back-ups " + taken + " cannot be written: correct its permissions, or name another in backup.dir"},
		"a file in its place": {exitFailed, "backup: {dir: " + taken + "/b}", "cannot be written: correct its permissions"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			command(t, "", "serve", "--listen", "127.0.0.1:0", "--data", data, "--config", file(t, "t.yaml", c.yaml)).want(t, c.status, c.want)
		})
	}
}
