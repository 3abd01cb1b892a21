package sqllog_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/eventlog/sqllog"
	"github.com/tributary-dev/tributary/internal/testkit/pgtest"
	"github.com/tributary-dev/tributary/trace"
)

// refused opens a log that cannot be opened, and returns the sentence.
func refused(t *testing.T, o sqllog.Options) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	s, err := sqllog.Open(ctx, o)
	if err == nil {
		_ = s.Close()
		t.Fatal("the log was opened")
	}
	return err.Error()
}

func wants(t *testing.T, sentence string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(sentence, part) {
			t.Errorf("the sentence is %q, and lacks %q", sentence, part)
		}
	}
	if strings.Contains(sentence, "wordofpass") || strings.Contains(sentence, "secret") {
		t.Errorf("the sentence has the password: %q", sentence)
	}
}

//evidence:for promise-one-writer
func TestASecondGatewayOnADataDirectoryIsRefused(t *testing.T) {
	onBoth(t, func(t *testing.T, o sqllog.Options) {
		open(t, o)
		_, err := sqllog.Open(t.Context(), o)
		held, ok := errors.AsType[*eventlog.HeldError](err)
		if !ok || !strings.Contains(held.Holder, fmt.Sprint(os.Getpid())) {
			t.Errorf("the error is %v", err)
		}
	})
}

func TestASchemaOfANewerVersionIsNotTouched(t *testing.T) {
	onBoth(t, func(t *testing.T, o sqllog.Options) {
		if err := open(t, o).Close(); err != nil {
			t.Fatal(err)
		}
		db := behind(t, o)
		if _, err := db.ExecContext(t.Context(), `INSERT INTO goose_db_version (version_id, is_applied) VALUES (99, true)`); err != nil {
			t.Fatal(err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		wants(t, refused(t, o), "its schema has version 99", "start the newer tributary that wrote it")
	})
}

func TestTheLogOfTheFirstEditionIsLeftAlone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	old := filepath.Join(dir, "nats", "jetstream")
	if err := os.MkdirAll(old, 0o700); err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	open(t, sqllog.Options{Dir: dir, Logger: slog.New(slog.NewTextHandler(&said, nil))})
	wants(t, said.String(), "first edition: it is not read, and stays as it is")
	if _, err := os.Stat(old); err != nil {
		t.Error(err)
	}
}

// A file that is too large to be checked in time does not end the start.
//
//evidence:for limit-check
func TestACheckThatTakesTooLong(t *testing.T) {
	t.Parallel()
	var said bytes.Buffer
	o := damagedFiles(t, false)
	o.Logger = slog.New(slog.NewTextHandler(&said, nil))
	s := open(t, sqllog.CheckWithin(o, time.Nanosecond))
	wants(t, said.String(), "the database is too large to be checked at the start")
	if n := s.Damage(); len(n.Sessions) > 0 {
		t.Errorf("the damage is %v", n)
	}
}

// A file that is no database is refused, and stays as it is.
func TestADatabaseThatIsNoDatabase(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, text := filepath.Join(dir, "tributary.db"), bytes.Repeat([]byte("no database "), 1000)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	wants(t, refused(t, sqllog.Options{Dir: dir}), "the database "+path+" is damaged: restore a back-up, or save what can be read with `tributary recover "+path+" NEW`")
	if there, err := os.ReadFile(path); err != nil || !bytes.Equal(there, text) {
		t.Errorf("the file was changed, or: %v", err)
	}
	if _, err := sqllog.Recover(t.Context(), path, filepath.Join(t.TempDir(), "new.db")); err == nil {
		t.Error("something was recovered")
	} else {
		wants(t, err.Error(), "nothing can be read of the database "+path+": restore a back-up")
	}
}

func TestADataDirectoryThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	wants(t, refused(t, sqllog.Options{Dir: dir}), "make the data directory")
	wants(t, refused(t, sqllog.Options{}), "choose one with --data")
}

func TestPostgreSQLThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	good := postgres.Database(t)
	postgres.Do(t, "postgres", `DO $$ BEGIN CREATE ROLE stranger LOGIN PASSWORD 'wordofpass'; EXCEPTION WHEN duplicate_object THEN NULL; END $$`)
	at, err := url.Parse(good)
	if err != nil {
		t.Fatal(err)
	}
	to := func(user, password, host, database string) sqllog.Options {
		u := url.URL{Scheme: "postgres", User: url.UserPassword(user, password), Host: host, Path: "/" + database}
		return sqllog.Options{Dir: t.TempDir(), URL: u.String()}
	}
	wants(t, refused(t, to("stranger", "secret-and-wrong", at.Host, at.Path[1:])), `refuses the user "stranger"`, at.Path[1:])
	wants(t, refused(t, to("stranger", "wordofpass", at.Host, at.Path[1:])), `the user "stranger" may not make or write the tables`)
	wants(t, refused(t, to("test", "secret", at.Host, "no_such")), "no such database: make it with `createdb`")
	wants(t, refused(t, to("test", "secret", "127.0.0.1:1", "x")), "the database x on 127.0.0.1:1 cannot be reached: start its server")
	wants(t, refused(t, sqllog.Options{Dir: t.TempDir(), URL: "postgres://u:secret@[::1/x"}), "the URL of the database (--db) cannot be read")
}

// A server that goes down in mid-turn and comes back costs no record, and none is
// there twice.
//
//evidence:for promise-crash
func TestPostgreSQLGoesDownInMidTurn(t *testing.T) {
	t.Parallel()
	var server pgtest.Server
	t.Cleanup(server.Stop)
	s := open(t, sqllog.Options{Dir: t.TempDir(), URL: server.Database(t), Patience: time.Minute, Lease: time.Minute}) // a machine with much to do starts a server in 10 s
	const writers, each = 8, 150
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			session := fmt.Sprint("s", w)
			for i := range each {
				if _, err := s.Append(t.Context(), session, "t", batch(i)); err != nil {
					t.Errorf("append %d: %v", i, err)
					return
				}
				time.Sleep(10 * time.Millisecond)
			}
		})
	}
	for range 3 {
		time.Sleep(200 * time.Millisecond)
		server.Kill()
		time.Sleep(300 * time.Millisecond)
		server.Start(t)
	}
	wg.Wait()
	for w := range writers {
		checkBatches(t, s, fmt.Sprint("s", w), each)
	}
}

// A server that stays away fails appends with a sentence, and once it is back they
// work again.
func TestPostgreSQLStaysAway(t *testing.T) {
	t.Parallel()
	var server pgtest.Server
	t.Cleanup(server.Stop)
	s := open(t, sqllog.Options{Dir: t.TempDir(), URL: server.Database(t), Patience: time.Second, Outage: time.Second})
	add(t, s, begins("p"))
	server.Kill()
	began := time.Now()
	_, err := s.Append(t.Context(), "s", "t", batch(0))
	if err == nil {
		t.Fatal("an append without a server was acknowledged")
	}
	if took := time.Since(began); took < time.Second || took > 20*time.Second {
		t.Errorf("the append failed after %s", took)
	}
	wants(t, err.Error(), "cannot be reached: start its server")
	server.Start(t)
	add(t, s, ends("p", ""), stops())
	if n := len(read(t, s, 0)); n != 3 {
		t.Errorf("%d records are there, 3 were acknowledged", n)
	}
}

// lock locks the database for 2.5 s, as a shell may.
func lock(t *testing.T, dir string) {
	t.Helper()
	c, err := behind(t, sqllog.Options{Dir: dir}).Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.ExecContext(t.Context(), "BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(2500*time.Millisecond, func() {
		if _, err := c.ExecContext(context.Background(), "ROLLBACK"); err != nil {
			t.Error(err)
		}
	})
}

// Another program that locks the database for a while costs no record.
func TestAnotherProgramLocksTheDatabase(t *testing.T) {
	t.Parallel()
	o := sqllog.Options{Dir: t.TempDir()}
	s := open(t, o)
	add(t, s, begins("p"))
	lock(t, o.Dir)
	began := time.Now()
	add(t, s, ends("p", ""), stops())
	if took := time.Since(began); took < 2*time.Second {
		t.Errorf("the append waited %s for a lock of 2.5 s", took)
	}
	if n := len(read(t, s, 0)); n != 3 {
		t.Errorf("%d records are there, 3 were acknowledged", n)
	}
}

// A turn that has begun waits for its database for longer than its lease, and a prompt does not. Nothing is lost if nobody else
// has taken the session.
//
//evidence:for promise-crash
func TestATurnOutlivesAnOutageOfPostgreSQL(t *testing.T) {
	t.Parallel()
	var server pgtest.Server
	t.Cleanup(server.Stop)
	s := open(t, sqllog.Options{Dir: t.TempDir(), URL: server.Database(t), Patience: time.Second, Lease: 2 * time.Second})
	if _, err := s.Append(t.Context(), "s", "t", batch(0)); err != nil {
		t.Fatal(err)
	}
	server.Kill()
	waits := make(chan error, 1)
	go func() {
		_, err := s.Append(t.Context(), "s", "t", batch(1))
		waits <- err
	}()
	began := time.Now()
	if _, err := s.Append(t.Context(), "other", "t", batch(0)); err == nil {
		t.Error("a turn begins without a database")
	}
	for s.Among().Lease > 0 {
		if time.Since(began) > 10*time.Second {
			t.Fatal("the lease has no end")
		}
		time.Sleep(20 * time.Millisecond)
	}
	if s.Owned("s") != 0 {
		t.Error("the session is owned behind the end of the lease")
	}
	server.Start(t)
	if err := <-waits; err != nil {
		t.Errorf("the turn that had begun: %v", err)
	}
	if _, err := s.Append(t.Context(), "s", "t", batch(2)); err != nil {
		t.Errorf("afterwards: %v", err)
	}
	checkBatches(t, s, "s", 3)
}

// A server that crashes may take the newest commits that it was not asked to sync. The gateway writes them again, so that nothing is
// missing below what follows.
//
//evidence:for promise-crash
func TestARecordThatPostgreSQLForgetsIsWrittenAgain(t *testing.T) {
	t.Parallel()
	var server pgtest.Server
	t.Cleanup(server.Stop)
	o := sqllog.Options{Dir: t.TempDir(), URL: server.Database(t), Patience: time.Minute}
	s := open(t, o)
	server.Do(t, "postgres", "ALTER SYSTEM SET wal_writer_delay = '10s'")
	server.Kill()
	server.Start(t)
	db := behind(t, o)
	add(t, s, begins("p"))
	for i := range 3 {
		opens := fmt.Sprint("o", i)
		add(t, s, begins(opens))                               // nobody waits for the disk to have it
		for _, output := range []string{`"half"`, `"whole"`} { // each replaces the one before
			add(t, s, event(trace.ToolResultProgress{ToolCallID: "c", Output: []byte(output)}))
			within(t, 20*time.Second, "the output is kept", func() bool {
				var body []byte
				err := db.QueryRowContext(t.Context(), `SELECT body FROM checkpoints WHERE part = 'output c'`).Scan(&body)
				return err == nil && strings.Contains(string(body), output)
			})
		}
		server.Kill()
		server.Start(t)
		add(t, s, ends(opens, ""))
	}
	add(t, s, ends("p", ""), stops())
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if n := len(read(t, open(t, o), 0)); n != 9 {
		t.Errorf("%d records are there, 9 were acknowledged", n)
	}
}

// A fail-over to a server that lacks commits which were confirmed is noticed before anything is written on top of it. The next start
// goes on with what is there, with numbers that no client has seen.
//
//evidence:for promise-crash
func TestADatabaseThatLacksCommitsIsNoticed(t *testing.T) {
	t.Parallel()
	for name, next := range map[string]trace.Event{"with a record that is synced": ends("p", "."), "with one that is not": begins("o")} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var server pgtest.Server
			t.Cleanup(server.Stop)
			o := sqllog.Options{Dir: t.TempDir(), URL: server.Database(t), Patience: time.Minute}
			s, err := sqllog.Open(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			add(t, s, begins("p0"), ends("p0", "text"))
			// passed has no owner, neither in what is saved nor in what is lost.
			other := o
			other.Dir = t.TempDir()
			appendElsewhere := func() uint64 {
				second := open(t, other)
				defer second.Close()
				return addTo(t, second, "passed", batch(0)...)
			}
			appendElsewhere()
			if err := server.Save(); err != nil {
				t.Fatal(err)
			}
			lost := map[string]uint64{"passed": appendElsewhere(), "made": addTo(t, s, "made", batch(0)...)}
			add(t, s, begins("p1"), ends("p1", "text"), begins("p"))
			shown, err := s.Last(t.Context(), "s")
			if err != nil {
				t.Fatal(err)
			}
			if err := server.Restore(); err != nil {
				t.Fatal(err)
			}
			for _, session := range []string{"s", "new"} {
				if _, err := s.Append(t.Context(), session, "t", []trace.Event{next}); !errors.Is(err, eventlog.ErrCommitsLost) {
					t.Errorf("the session %s goes on: %v", session, err)
				}
			}
			select {
			case <-s.Unusable():
			default:
				t.Error("nobody is told")
			}
			if err := s.Reachable(); !errors.Is(err, eventlog.ErrCommitsLost) {
				t.Errorf("the database is as it should be: %v", err)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			s = open(t, o)
			checkBatches(t, s, "s", 1)
			if last := add(t, s, begins("p1"), ends("p1", "text")); last <= shown+2 {
				t.Errorf("numbers up to %d were shown, and are given again: %d", shown, last)
			}
			for session, shown := range lost {
				if first := addTo(t, s, session, batch(1)...) - uint64(len(batch(1))) + 1; first <= shown {
					t.Errorf("the session %s gives %d again, and numbers up to %d were shown", session, first, shown)
				}
			}
			checkBatches(t, s, "s", 2)
			if d := s.Damage(); len(d.Sessions) > 0 {
				t.Errorf("damaged: %v", d)
			}
		})
	}
}

// A session that another gateway has deleted is no loss, also if its record was the newest of this gateway.
func TestADeletedSessionIsNoLoss(t *testing.T) {
	t.Parallel()
	var server pgtest.Server
	t.Cleanup(server.Stop)
	o := sqllog.Options{Dir: t.TempDir(), URL: server.Database(t), Idle: time.Millisecond}
	s := open(t, o)
	add(t, s, begins("p0"), ends("p0", "text"), stops())
	other := o
	other.Dir = t.TempDir()
	second := open(t, other)
	within(t, time.Minute, "the session is free and deleted", func() bool { return second.Delete(t.Context(), "s") == nil })
	server.Kill()
	server.Start(t)
	if _, err := s.Append(t.Context(), "next", "t", batch(0)); err != nil {
		t.Errorf("the gateway does not go on: %v", err)
	}
}

// A gateway ends when another process has begun with its name, because its data directory was copied: both would take the sessions of
// the other one for their own.
func TestAGatewayWhoseDataDirectoryWasCopiedEnds(t *testing.T) {
	t.Parallel()
	var server pgtest.Server
	t.Cleanup(server.Stop)
	o := sqllog.Options{Dir: t.TempDir(), URL: server.Database(t)}
	if err := open(t, o).Close(); err != nil {
		t.Fatal(err)
	}
	other := o
	other.Dir = filepath.Join(t.TempDir(), "copy")
	if err := os.CopyFS(other.Dir, os.DirFS(o.Dir)); err != nil {
		t.Fatal(err)
	}
	first := open(t, o)
	add(t, first, begins("p0"), ends("p0", "text"))
	second := open(t, other)
	select {
	case <-first.Unusable():
	case <-time.After(time.Minute):
		t.Fatal("the first gateway goes on")
	}
	if _, err := first.Append(t.Context(), "s", "t", batch(1)); !errors.Is(err, eventlog.ErrCopied) {
		t.Errorf("the first gateway goes on: %v", err)
	}
	add(t, second, begins("p1"), ends("p1", "text"))
	checkBatches(t, second, "s", 2)
}
