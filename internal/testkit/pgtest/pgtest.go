// Package pgtest starts a PostgreSQL server for tests and measurements.
//
//	var server pgtest.Server
//
//	func TestMain(m *testing.M) { code := m.Run(); server.Stop(); os.Exit(code) }
//	func TestIt(t *testing.T)   { url := server.Database(t) … }
//
// The server is Debian's, on a port of its own on loopback. Where PostgreSQL is not
// installed, the test is skipped; on a CI machine it fails.
package pgtest

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/internal/testkit/installed"
)

// startWithin is how long a busy machine may take to start the server.
const startWithin = time.Minute

// Server is a PostgreSQL server that is started for the first test that asks. The
// zero value is ready.
type Server struct {
	// Synced has the server sync each commit to the disk, as it does in production.
	// Tests need not wait for that.
	Synced bool

	mu      sync.Mutex
	dir     string
	port    int
	running *exec.Cmd
	failed  error
	empty   []string // databases that tests have given back
}

// ErrMissing says that this machine has no PostgreSQL.
var ErrMissing = errors.New("PostgreSQL is not installed: `apt-get install postgresql` does it")

// Database returns the URL of an empty database, which no other test has. After the test another
// one gets it, emptied: the server copies hundreds of files for a new database.
func (s *Server) Database(t testing.TB) string {
	t.Helper()
	name := s.emptied()
	if name == "" {
		name = newName()
		check(t, s.Make(name))
	}
	t.Cleanup(func() {
		if err := s.takeBack(name); err != nil {
			t.Errorf("empty the database of this test: %v", err)
		}
	})
	return s.URL(name)
}

// emptied is a database that a test has given back, or "".
func (s *Server) emptied() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.empty) == 0 {
		return ""
	}
	name := s.empty[len(s.empty)-1]
	s.empty = s.empty[:len(s.empty)-1]
	return name
}

// takeBack empties a database, unless the test has left the server killed.
func (s *Server) takeBack(name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running == nil {
		return nil
	}
	out, err := s.sql(name, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid();
		DROP SCHEMA public CASCADE; CREATE SCHEMA public; GRANT USAGE ON SCHEMA public TO PUBLIC`)
	if err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	s.empty = append(s.empty, name)
	return nil
}

// Named makes the database with that name unless it is there.
func (s *Server) Named(t testing.TB, name string) {
	t.Helper()
	check(t, s.Make(name))
}

func check(t testing.TB, err error) {
	t.Helper()
	installed.Needed(t, !errors.Is(err, ErrMissing), ErrMissing.Error())
	if err != nil {
		t.Fatal(err)
	}
}

// New is Database for a program that is no test.
func (s *Server) New() (url string, err error) {
	name := newName()
	if err := s.Make(name); err != nil {
		return "", err
	}
	return s.URL(name), nil
}

func newName() string { return "test_" + strings.ToLower(rand.Text()[:12]) }

// Make is Named for a program that is no test.
func (s *Server) Make(name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running == nil && s.failed == nil {
		s.failed = s.setUp()
	}
	if s.failed != nil {
		return s.failed
	}
	out, err := s.sql("postgres", "CREATE DATABASE "+name)
	if err != nil && !bytes.Contains(out, []byte("already exists")) {
		return fmt.Errorf("make the database %s: %w: %s", name, err, out)
	}
	return nil
}

// URL is where a database is.
func (s *Server) URL(name string) string {
	return fmt.Sprintf("postgres://test:secret@127.0.0.1:%d/%s", s.port, name)
}

func (s *Server) setUp() error {
	if _, err := find("initdb"); err != nil {
		return ErrMissing
	}
	dir, err := os.MkdirTemp("", "pgtest-")
	if err != nil {
		return err
	}
	s.dir = dir
	if err := giveAway(dir); err != nil {
		return err
	}
	if out, err := s.command("initdb", "-D", s.data(), "-U", "test", "-A", "trust", "-E", "UTF8", "--locale=C", "-N").CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w: %s (the user that runs PostgreSQL must be able to enter %s)", err, out, filepath.Dir(dir))
	}
	if err := os.WriteFile(filepath.Join(s.data(), "pg_hba.conf"), []byte("host all test 127.0.0.1/32 trust\nhost all all 127.0.0.1/32 scram-sha-256\n"), 0o644); err != nil { //nolint:gosec // the server's user reads it
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // it takes no time
	if err != nil {
		return err
	}
	s.port = l.Addr().(*net.TCPAddr).Port //nolint:forcetypeassert,errcheck // it is asked for tcp
	if err := l.Close(); err != nil {
		return err
	}
	return s.start()
}

func (s *Server) data() string { return filepath.Join(s.dir, "data") }

func (s *Server) start() error {
	log, err := os.OpenFile(filepath.Join(s.dir, "server.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	c := s.command("postgres", "-D", s.data(), "-p", fmt.Sprint(s.port), "-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=",
		"-c", "max_connections=300", "-c", "shared_buffers=32MB", "-c", "fsync="+map[bool]string{true: "on", false: "off"}[s.Synced])
	c.Stdout, c.Stderr = log, log
	if err := c.Start(); err != nil {
		return err
	}
	s.running = c
	for began := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		if _, err := s.sql("postgres", "SELECT 1"); err == nil {
			return nil
		}
		if time.Since(began) > startWithin {
			text, _ := os.ReadFile(filepath.Join(s.dir, "server.log"))
			return fmt.Errorf("PostgreSQL did not start: %s", text)
		}
	}
}

// Do runs a statement in a database, as the superuser.
func (s *Server) Do(t testing.TB, database, statement string) {
	t.Helper()
	if err := s.Run(database, statement); err != nil {
		t.Fatal(err)
	}
}

// Run is Do for a program that is no test.
func (s *Server) Run(database, statement string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if out, err := s.sql(database, statement); err != nil {
		return fmt.Errorf("%s: %w: %s", statement, err, out)
	}
	return nil
}

func (s *Server) sql(database, statement string) ([]byte, error) {
	return s.command("psql", "-h", "127.0.0.1", "-p", fmt.Sprint(s.port), "-U", "test", "-d", database, "-qc", statement).CombinedOutput()
}

// Kill kills the server at once, as a machine that fails would.
func (s *Server) Kill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.end()
}

// Start starts the server that was killed.
func (s *Server) Start(t testing.TB) {
	t.Helper()
	if err := s.Revive(); err != nil {
		t.Fatal(err)
	}
}

// Revive is Start for a program that is no test.
func (s *Server) Revive() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.start()
}

// Save ends the server, keeps a copy of its files, and starts it again.
func (s *Server) Save() error { return s.replace(s.saved(), s.data()) }

// Restore puts the copy in the place of the files: the server lacks what it has committed since, like a standby that did not have it.
func (s *Server) Restore() error { return s.replace(s.data(), s.saved()) }

func (s *Server) saved() string { return filepath.Join(s.dir, "saved") }

func (s *Server) replace(to, from string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.end()
	for _, c := range []*exec.Cmd{s.command("rm", "-rf", to), s.command("cp", "-a", from, to)} {
		if out, err := c.CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w: %s", c, err, out)
		}
	}
	return s.start()
}

// Stop ends the server and removes its files.
func (s *Server) Stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.end()
	if s.dir != "" {
		_ = os.RemoveAll(s.dir)
	}
}

func (s *Server) end() {
	if s.running == nil {
		return
	}
	_ = s.command("pg_ctl", "stop", "-D", s.data(), "-m", "immediate", "-w").Run()
	_ = s.running.Wait()
	s.running = nil
}

// command is a program of PostgreSQL, as a user who may run it.
func (s *Server) command(name string, args ...string) *exec.Cmd {
	path, err := find(name)
	if err != nil {
		path = name
	}
	c := exec.Command(path, args...) //nolint:noctx // Stop ends the server, and the others take no time
	c.Dir = s.dir
	asOther(c)
	return c
}

// find finds a program, also where Debian hides it.
func find(name string) (string, error) {
	if found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/" + name); len(found) > 0 {
		return found[len(found)-1], nil
	}
	return exec.LookPath(name)
}
