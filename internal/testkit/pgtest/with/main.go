// Command with starts a PostgreSQL server, runs a program beside it, and stops the
// server when the program has ended:
//
//	go run ./internal/testkit/pgtest/with node test/conformance/run.mjs --once
//
// The program gets an address in TRIBUTARY_TEST_DATABASES. The answer to a POST there is
// the URL of a new, empty database. Where PostgreSQL is not installed, the program is
// not run; on a CI machine that is a failure.
package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"github.com/tributary-dev/tributary/internal/testkit/pgtest"
)

// databases, in the environment, is where the program gets its databases.
const databases = "TRIBUTARY_TEST_DATABASES"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	exit := new(exec.ExitError)
	switch {
	case err == nil:
	case errors.Is(err, pgtest.ErrMissing) && os.Getenv("CI") == "":
		fmt.Fprintln(os.Stderr, "skipped:", err)
	case errors.As(err, &exit):
		os.Exit(max(1, exit.ExitCode()))
	default:
		fmt.Fprintln(os.Stderr, "with:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, program []string) error {
	if len(program) == 0 {
		return errors.New("name the program that needs the server")
	}
	var server pgtest.Server
	defer server.Stop()
	if _, err := server.New(); err != nil {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("find a port for the databases: %w", err)
	}
	desk := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		url, err := server.New()
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		_, _ = w.Write([]byte(url))
	})}
	go desk.Serve(listener)                                              //nolint:errcheck // it ends by Close
	defer desk.Close()                                                   //nolint:errcheck // nothing is left to do
	c := exec.CommandContext(ctx, program[0], program[1:]...)            //nolint:gosec // to run that program is what this is for
	c.Cancel = func() error { return c.Process.Signal(syscall.SIGTERM) } // the program ends what it has started
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
	c.Env = append(os.Environ(), databases+"=http://"+listener.Addr().String()+"/")
	return c.Run()
}
