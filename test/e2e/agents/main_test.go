//go:build linux

package agents_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tributary-dev/tributary/internal/testkit/realagent"
	"github.com/tributary-dev/tributary/policy/box"
)

// The environment of the tests' second process.
const (
	which   = "TRIBUTARY_TEST_AGENTS"
	boxForm = "TRIBUTARY_TEST_BOX"     // set: the form of the agents' box, in place of the default one
	gateway = "TRIBUTARY_TEST_GATEWAY" // the binary
	network = "TRIBUTARY_TEST_NETWORK" // set: the process has a network of its own
)

var update = flag.Bool("update", false, "write docs/reference/matrix.md")

// TestMain installs the agents and builds the gateway. Then it runs the tests in
// a second process whose network has only loopback.
func TestMain(m *testing.M) {
	box.Enter()
	flag.Parse()
	if os.Getenv(gateway) != "" {
		if os.Getenv(network) != "" {
			if err := loopback(); err != nil {
				fmt.Fprintln(os.Stderr, "the network of the tests has no loopback:", err)
				os.Exit(1)
			}
		}
		os.Exit(m.Run())
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code, err := closed(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// closed runs the tests in a network of their own, or without where the system
// does not allow one.
func closed(ctx context.Context) (code int, err error) {
	dir, err := os.MkdirTemp("", "tributary-agents-")
	if err != nil {
		return 1, err
	}
	defer os.RemoveAll(dir)
	if err := install(ctx); err != nil {
		return 1, err
	}
	binary := os.Getenv("TRIBUTARY_BINARY")
	if binary == "" {
		binary = filepath.Join(dir, "tributary")
		build := exec.CommandContext(ctx, "go", "build", "-o", binary, "../../../cmd/tributary")
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			return 1, fmt.Errorf("build the gateway: %w\n%s", err, out)
		}
	}
	for _, alone := range []*syscall.SysProcAttr{
		{Cloneflags: unix.CLONE_NEWNET},
		{
			Cloneflags:  unix.CLONE_NEWNET | unix.CLONE_NEWUSER,
			UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}, GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
		},
		nil,
	} {
		cmd := exec.CommandContext(ctx, os.Args[0], os.Args[1:]...)
		cmd.Env = append(os.Environ(), gateway+"="+binary)
		if alone != nil {
			cmd.Env = append(cmd.Env, network+"=own")
		}
		cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = os.Stdout, os.Stderr, alone
		cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
		cmd.WaitDelay = 20 * time.Second
		if err := cmd.Start(); err != nil {
			continue
		}
		_ = cmd.Wait() // the status says it
		return cmd.ProcessState.ExitCode(), nil
	}
	return 1, fmt.Errorf("%s could not be started a second time", os.Args[0])
}

// install installs what the tests run; with -short they skip what is missing.
func install(ctx context.Context) error {
	if testing.Short() {
		return nil
	}
	store, err := realagent.DefaultStore()
	if err != nil {
		return err
	}
	for _, k := range chosen() {
		if k.Package.Name == "" {
			continue
		}
		if _, err := store.Install(ctx, k.Package); err != nil {
			return err
		}
	}
	return nil
}

// chosen are the agents of this run.
func chosen() []realagent.Kind {
	names := os.Getenv(which)
	return slices.DeleteFunc(realagent.Kinds(), func(k realagent.Kind) bool {
		switch names {
		case "":
			return !k.Everywhere
		case "all":
			return false
		case "others":
			return k.Everywhere
		}
		return !slices.Contains(strings.Split(names, ","), k.Name)
	})
}

// loopback brings the loopback device of a new network up.
func loopback() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	lo.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, lo)
}
