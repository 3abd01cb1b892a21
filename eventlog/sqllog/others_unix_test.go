//go:build unix

package sqllog_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/eventlog/sqllog"
)

// TestOtherProcess is no test: it is the gateway that another test kills.
func TestOtherProcess(t *testing.T) {
	url := os.Getenv("SQLLOG_OTHER_PROCESS")
	if url == "" {
		t.Skip("another test runs this as a process of its own")
	}
	lease, err := time.ParseDuration(os.Getenv("SQLLOG_OTHER_LEASE"))
	if err != nil {
		t.Fatal(err)
	}
	s := open(t, sqllog.Options{Dir: os.Getenv("SQLLOG_OTHER_DIR"), URL: url, Lease: lease})
	writes(t, s, "s")
	fmt.Println("owns")
	select {}
}

// another is the process of a gateway that owns the session s.
func another(t *testing.T, url string, lease time.Duration) *os.Process {
	t.Helper()
	c := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestOtherProcess$")
	c.Env = append(os.Environ(), "SQLLOG_OTHER_PROCESS="+url, "SQLLOG_OTHER_LEASE="+lease.String(), "SQLLOG_OTHER_DIR="+t.TempDir())
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
	})
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if lines.Text() == "owns" {
			return c.Process
		}
	}
	t.Fatal("the process does not own the session")
	return nil
}

// takes is how long it takes until a gateway can write to the session s.
func takes(t *testing.T, s *sqllog.Store) time.Duration {
	t.Helper()
	began := time.Now()
	within(t, time.Minute, "the session is taken", func() bool {
		_, err := s.Append(t.Context(), "s", "t", oneEvent("b", ends("p", "x").Payload))
		return err == nil
	})
	return time.Since(began)
}

// A killed process gives its sessions up at once, though its lease is not over for a long time.
//
//evidence:for promise-one-writer
func TestAKilledProcessIsFoundAtOnce(t *testing.T) {
	t.Parallel()
	const rounds, bound = 3, 6 * time.Second
	var all []time.Duration
	for range rounds {
		o := sqllog.Options{Dir: t.TempDir(), URL: postgres.Database(t), Lease: watchLease}
		s := open(t, o)
		other := another(t, o.URL, time.Minute)
		within(t, 30*time.Second, "the gateway judges others", func() bool { return s.Among().Judges })
		if err := other.Kill(); err != nil {
			t.Fatal(err)
		}
		all = append(all, takes(t, s))
	}
	slices.Sort(all)
	t.Logf("from kill -9 to a write that is accepted elsewhere: %s at the median, %s at most, of %d", all[rounds/2], all[rounds-1], rounds)
	if all[rounds-1] > bound {
		t.Errorf("it took %s, and %s are allowed", all[rounds-1], bound)
	}
}

// A process that is stopped has its lock: it is dead when its lease is over, and not before.
func TestAStoppedProcessIsNotDead(t *testing.T) {
	t.Parallel()
	const lease = 5 * time.Second
	o := sqllog.Options{Dir: t.TempDir(), URL: postgres.Database(t), Lease: watchLease}
	s := open(t, o)
	other := another(t, o.URL, lease)
	within(t, 30*time.Second, "the gateway judges others", func() bool { return s.Among().Judges })
	began := time.Now()
	if err := other.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	finds(t, s)
	if d := time.Since(began); d < lease-2*time.Second { // a busy machine renews late
		t.Errorf("a process is found dead %s after it was stopped", d)
	}
	takes(t, s)
}

// The lock of a process is free for a while before that counts: it may come back.
func TestALockThatIsFreeForAMomentIsNoDeath(t *testing.T) {
	t.Parallel()
	o := sqllog.Options{Dir: t.TempDir(), URL: postgres.Database(t), Lease: watchLease}
	s := open(t, o)
	other := another(t, o.URL, time.Minute)
	within(t, 30*time.Second, "the gateway judges others", func() bool { return s.Among().Judges })
	if err := other.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	before := sqllog.Looks(s)
	within(t, 30*time.Second, "looks", func() bool { return sqllog.Looks(s) > before+10 })
	began := time.Now()
	if err := other.Kill(); err != nil {
		t.Fatal(err)
	}
	finds(t, s)
	if d := time.Since(began); d < sqllog.JudgeAfter/2 {
		t.Errorf("its lock was free for %s", d)
	}
}
