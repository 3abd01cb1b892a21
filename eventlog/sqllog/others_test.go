package sqllog_test

import (
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/eventlog/sqllog"
	"github.com/tributary-dev/tributary/internal/testkit/faultnet"
)

// watchLease is the lease of a gateway that is to judge others soon.
const watchLease = 1500 * time.Millisecond

// within waits for a condition.
func within(t *testing.T, d time.Duration, what string, is func() bool) {
	t.Helper()
	for began := time.Now(); !is(); time.Sleep(10 * time.Millisecond) {
		if time.Since(began) > d {
			t.Fatalf("%s: not within %s", what, d)
		}
	}
}

// finds waits until a gateway finds another one dead.
func finds(t *testing.T, by *sqllog.Store) {
	t.Helper()
	select {
	case <-by.Died():
	case <-time.After(30 * time.Second):
		t.Fatal("no gateway is found dead")
	}
}

// writes appends to a session.
func writes(t *testing.T, s *sqllog.Store, session string) {
	t.Helper()
	if _, err := s.Append(t.Context(), session, "t", oneEvent("a", begins("p").Payload)); err != nil {
		t.Fatal(err)
	}
}

// gone is a gateway that owns the session s and will never reach its database again. Its lease lasts.
func gone(t *testing.T, url string) (s *sqllog.Store, cut func()) {
	t.Helper()
	s, p := held(t, sqllog.Options{Dir: t.TempDir(), URL: url, Lease: time.Minute, Patience: time.Millisecond})
	writes(t, s, "s")
	t.Cleanup(func() {
		if err := s.Close(); err == nil {
			t.Error("it is closed in order without its database")
		}
	})
	return s, p.Close
}

// others is what a gateway knows of itself among others, but for its times.
func others(s *sqllog.Store) eventlog.Among {
	a := s.Among()
	a.Lease, a.Outage = 0, 0
	return a
}

// ended ends the connection of a gateway by which others know that it runs, as a server or a proxy between may.
func ended(t *testing.T, db *sql.DB, s *sqllog.Store) (was bool) {
	t.Helper()
	err := db.QueryRowContext(t.Context(), `SELECT pg_terminate_backend(l.pid) FROM pg_locks l JOIN gateways g ON (l.classid::bigint << 32) | l.objid::bigint = g.lock
		WHERE l.locktype = 'advisory' AND l.objsubid = 1 AND g.id = $1 AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())`, s.Self().ID).Scan(&was)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		t.Fatal(err)
	}
	return was
}

// waiting is how many connections to the database wait for a lock.
func waiting(t *testing.T, db *sql.DB) (n int) {
	t.Helper()
	if err := db.QueryRowContext(t.Context(), `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// state is that of a gateway's row.
func state(t *testing.T, db *sql.DB, s *sqllog.Store) (is string) {
	t.Helper()
	if err := db.QueryRowContext(t.Context(), `SELECT state FROM gateways WHERE id = $1`, s.Self().ID).Scan(&is); err != nil {
		t.Fatal(err)
	}
	return is
}

// Of the gateways that look, one hears that another one has died, and takes up what that has left.
func TestAGatewayThatHasDiedIsFoundOnce(t *testing.T) {
	t.Parallel()
	o := sqllog.Options{Dir: t.TempDir(), URL: postgres.Database(t), Lease: watchLease}
	dead, cut := gone(t, o.URL)
	var all []*sqllog.Store
	heard := make(chan int, 9)
	for i := range 3 {
		o.Dir = t.TempDir()
		s := open(t, o)
		all = append(all, s)
		ctx, listening := t.Context(), sync.WaitGroup{}
		listening.Go(func() {
			for {
				select {
				case <-s.Died():
					heard <- i
				case <-ctx.Done():
					return
				}
			}
		})
		t.Cleanup(listening.Wait)
	}
	db := behind(t, o)
	for _, s := range all {
		within(t, 30*time.Second, "a gateway judges others", func() bool { return others(s) == eventlog.Among{Gateways: 4, Judges: true} })
	}
	cut()
	row, err := db.BeginTx(t.Context(), nil) // all come to their verdict before one of them has changed the row
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = row.Rollback() }()
	if _, err := row.ExecContext(t.Context(), `SELECT 1 FROM gateways WHERE id = $1 FOR UPDATE`, dead.Self().ID); err != nil {
		t.Fatal(err)
	}
	within(t, 30*time.Second, "all want to change the row", func() bool { return waiting(t, db) == len(all) })
	if err := row.Rollback(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-heard:
	case <-time.After(30 * time.Second):
		t.Fatal("nobody hears of it")
	}
	var is string
	var silent int64
	if err := db.QueryRowContext(t.Context(), `SELECT state, CAST(extract(epoch FROM clock_timestamp()) * 1000 AS bigint) - lease_until + 60000 FROM gateways WHERE id = $1`, dead.Self().ID).Scan(&is, &silent); err != nil {
		t.Fatal(err)
	}
	if is != "dead" || silent < sqllog.JudgeAfter.Milliseconds() {
		t.Errorf("its state is %q, %d ms after its last renewal", is, silent)
	}
	for _, s := range all {
		if _, owned, err := s.OwnerOf(t.Context(), "s"); owned || err != nil {
			t.Errorf("its session has an owner (%v)", err)
		}
	}
	before := sqllog.Looks(all[2])
	within(t, 30*time.Second, "more looks", func() bool { return sqllog.Looks(all[2]) > before+3 })
	if len(heard) > 0 {
		t.Errorf("the gateway %d hears of it too", <-heard)
	}
	died := uint64(0)
	for _, s := range all {
		died += s.Among().Died
		within(t, 30*time.Second, "three gateways run", func() bool { return s.Among().Gateways == 3 })
	}
	if died != 1 {
		t.Errorf("%d gateways have died", died)
	}
}

// A gateway that renews its lease after others have looked, and before they call it dead, is not dead.
func TestARenewalAtTheLastMomentCounts(t *testing.T) {
	t.Parallel()
	o := sqllog.Options{Dir: t.TempDir(), URL: postgres.Database(t), Lease: watchLease}
	other, cut := gone(t, o.URL)
	s := open(t, o)
	db := behind(t, o)
	within(t, 30*time.Second, "the gateway judges others", func() bool { return s.Among().Judges })
	cut()
	renewal, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = renewal.Rollback() }()
	if _, err := renewal.ExecContext(t.Context(), `UPDATE gateways SET lease_until = lease_until + 1 WHERE id = $1`, other.Self().ID); err != nil {
		t.Fatal(err)
	}
	within(t, 30*time.Second, "the verdict waits", func() bool { return waiting(t, db) > 0 })
	before := sqllog.Looks(s)
	if err := renewal.Commit(); err != nil {
		t.Fatal(err)
	}
	within(t, 30*time.Second, "a look", func() bool { return sqllog.Looks(s) > before })
	if len(s.Died()) > 0 {
		t.Error("it is found dead")
	}
	finds(t, s) // nothing more comes of it
}

// A connection may be lost while its gateway runs. One that comes back and renews its lease in time is not dead.
func TestAGatewayWhoseConnectionIsLostIsNotDead(t *testing.T) {
	t.Parallel()
	o := sqllog.Options{Dir: t.TempDir(), URL: postgres.Database(t)}
	first := open(t, o)
	writes(t, first, "s")
	o.Dir, o.Lease = t.TempDir(), watchLease
	second := open(t, o)
	db := behind(t, o)
	within(t, 30*time.Second, "the second judges others", func() bool { return second.Among().Judges })
	for times := 0; times < 4; {
		if ended(t, db, first) {
			times++
		}
		before := sqllog.Looks(second)
		within(t, 30*time.Second, "looks", func() bool { return sqllog.Looks(second) >= before+5 })
	}
	if len(second.Died()) > 0 || state(t, db, first) != "running" || first.Owned("s") == 0 {
		t.Error("it is taken for dead")
	}
}

// A gateway that could not renew its own lease judges nobody for as long as a lease lasts: what kept it from the
// database may keep all gateways from it.
func TestAGatewayThatCannotRenewItsLeaseJudgesNobody(t *testing.T) {
	t.Parallel()
	o := sqllog.Options{Dir: t.TempDir(), URL: postgres.Database(t), Lease: 4 * time.Second}
	began := time.Now() // one that starts has renewed nothing yet
	second := open(t, o)
	db := behind(t, o)
	_, cut := gone(t, o.URL)
	cut()
	finds(t, second)
	if d := time.Since(began); d < o.Lease {
		t.Errorf("it judges %s after its start", d)
	}
	_, cut = gone(t, o.URL)
	within(t, 30*time.Second, "the connection of the second", func() bool { return ended(t, db, second) })
	began = time.Now()
	within(t, o.Lease, "it says that it judges nobody", func() bool { return !second.Among().Judges })
	cut()
	finds(t, second)
	if d := time.Since(began); d < o.Lease {
		t.Errorf("it judges %s after it has lost its connection", d)
	}
}

// A gateway whose lease is over does not count as one that runs, also while nobody may judge it.
func TestAGatewayCountsThoseThatRun(t *testing.T) {
	t.Parallel()
	o := sqllog.Options{Dir: t.TempDir(), URL: postgres.Database(t), Lease: time.Minute}
	s := open(t, o)
	o.Dir = t.TempDir()
	open(t, o)
	if _, err := behind(t, o).ExecContext(t.Context(), `INSERT INTO gateways (id, name, address, key, version, state, lease_until, lock, started) VALUES ('x:1', 'x', '', '', '', 'running', 0, 1, 0)`); err != nil {
		t.Fatal(err)
	}
	before := sqllog.Looks(s)
	within(t, 30*time.Second, "more looks", func() bool { return sqllog.Looks(s) > before+1 })
	if got := others(s); got != (eventlog.Among{Gateways: 2}) {
		t.Errorf("%+v", got)
	}
}

// A gateway that others have taken for dead by mistake goes on with the sessions that nobody has taken.
func TestAGatewayThatWasTakenForDeadGoesOn(t *testing.T) {
	t.Parallel()
	o := sqllog.Options{Dir: t.TempDir(), URL: postgres.Database(t)}
	first, p := held(t, o)
	writes(t, first, "kept")
	writes(t, first, "taken")
	o.Dir = t.TempDir()
	second := open(t, o)
	if n := first.Among().Owned; n != 2 {
		t.Errorf("it owns %d sessions", n)
	}
	p.Hold(true, true)
	if _, err := behind(t, o).ExecContext(t.Context(), `UPDATE gateways SET state = 'dead' WHERE id = $1`, first.Self().ID); err != nil {
		t.Fatal(err)
	}
	writes(t, second, "taken")
	p.Hold(false, false)
	within(t, 30*time.Second, "the session that was taken is lost", func() bool { return first.Owned("taken") == 0 })
	if _, err := first.Append(t.Context(), "taken", "t", oneEvent("b", ends("p", "x").Payload)); !errors.Is(err, eventlog.ErrNotOwner) {
		t.Errorf("it writes to that: %v", err)
	}
	if first.Owned("kept") == 0 || first.Among().Owned != 1 {
		t.Errorf("it owns %d sessions, and not the other one alone", first.Among().Owned)
	}
	if g, owned, err := second.OwnerOf(t.Context(), "kept"); !owned || err != nil || g.ID != first.Self().ID {
		t.Errorf("to the second the owner is %+v (%v)", g, err)
	}
}

// An owner that renews its lease just when another gateway takes a session of it keeps the session, or knows
// that it has lost it.
func TestARenewalWaitsForATakeOver(t *testing.T) {
	t.Parallel()
	o := sqllog.Options{Dir: t.TempDir(), URL: postgres.Database(t)}
	first := open(t, o)
	writes(t, first, "s")
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	o.Dir = t.TempDir()
	second := open(t, o)
	db := behind(t, o)
	for _, q := range []string{`INSERT INTO gateways (id, name, lease_until) VALUES ('other:1', 'other', 0)`, `UPDATE places SET owner = 'other:1'`} {
		if _, err := db.ExecContext(t.Context(), q); err != nil {
			t.Fatal(err)
		}
	}
	renewal, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = renewal.Rollback() }()
	if _, err := renewal.ExecContext(t.Context(), `UPDATE gateways SET lease_until = 1e15 WHERE id = 'other:1'`); err != nil {
		t.Fatal(err)
	}
	taken := make(chan error, 1)
	go func() {
		_, err := second.Append(t.Context(), "s", "t", oneEvent("b", ends("p", "x").Payload))
		taken <- err
	}()
	within(t, 30*time.Second, "the take-over waits", func() bool { return waiting(t, db) > 0 || len(taken) > 0 })
	if err := renewal.Commit(); err != nil {
		t.Fatal(err)
	}
	if err := <-taken; !errors.Is(err, eventlog.ErrNotOwner) {
		t.Errorf("the session is taken from an owner that has renewed its lease: %v", err)
	}
}

// Others may judge a gateway dead that has lost its connection, long before its lease is over. So it shows no text for
// longer than they wait.
func TestTextIsNotShownForLongerThanOthersWait(t *testing.T) {
	t.Parallel()
	for name, cut := range map[string]func(*faultnet.Proxy){
		"the connections end":                (*faultnet.Proxy).Close,
		"nothing reaches the database":       func(p *faultnet.Proxy) { p.Hold(true, false) },
		"nothing comes back of the database": func(p *faultnet.Proxy) { p.Hold(false, true) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const lease = 3 * time.Second
			s, p := held(t, sqllog.Options{Dir: t.TempDir(), URL: postgres.Database(t), Lease: lease, Patience: time.Millisecond})
			writes(t, s, "s")
			cut(p)
			began := time.Now()
			defer time.AfterFunc(2*time.Second, func() { p.Hold(false, false) }).Stop()
			var failed error
			for {
				at := time.Now()
				_, failed = s.Append(t.Context(), "s", "t", oneEvent("d", grows("p", "x").Payload))
				if failed != nil || time.Since(at) > sqllog.JudgeAfter { // it has waited for the database
					break
				}
				if d := at.Sub(began); d > sqllog.JudgeAfter {
					t.Fatalf("a word is shown %s after the database was reached last", d)
				}
				time.Sleep(5 * time.Millisecond)
			}
			if (s.Owned("s") == 0 || failed != nil) && time.Since(began) < lease-time.Second {
				t.Errorf("the session is lost before the lease is over, or its text: %v", failed)
			}
			if name == "the connections end" {
				_ = s.Close()
			}
		})
	}
}

// The cost of a renewal does not depend on how many sessions a gateway owns: no row of a session changes.
func TestARenewalWritesOneRow(t *testing.T) {
	t.Parallel()
	o := sqllog.Options{Dir: t.TempDir(), URL: postgres.Database(t)}
	s := open(t, o)
	for i := range 20 {
		writes(t, s, fmt.Sprint("s", i))
	}
	db := behind(t, o)
	rows := func() (places string, lease int64) {
		if err := db.QueryRowContext(t.Context(), `SELECT (SELECT string_agg(xmin::text, ' ' ORDER BY session) FROM places), (SELECT lease_until FROM gateways)`).Scan(&places, &lease); err != nil {
			t.Fatal(err)
		}
		return places, lease
	}
	places, lease := rows()
	within(t, 30*time.Second, "two renewals", func() bool {
		_, now := rows()
		return now > lease+1000
	})
	if now, _ := rows(); now != places {
		t.Error("renewals write rows of sessions")
	}
}
