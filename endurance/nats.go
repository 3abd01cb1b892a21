package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// runNATS is a NATS server until ctx ends. It prints its URL.
func runNATS(ctx context.Context, dir string) error {
	s, err := server.NewServer(&server.Options{
		Host: "127.0.0.1", Port: server.RANDOM_PORT, JetStream: true, StoreDir: dir, NoSigs: true, NoLog: true,
	})
	if err != nil {
		return fmt.Errorf("make a NATS server: %w", err)
	}
	s.Start()
	if !s.ReadyForConnections(startWithin) {
		return errors.New("the NATS server is not ready in time")
	}
	fmt.Println(s.ClientURL())
	<-ctx.Done()
	s.Shutdown()
	s.WaitForShutdown()
	return nil
}

// startNATS starts this program as a NATS server, so that its memory is not the
// gateway's.
func startNATS(ctx context.Context, dir string) (at string, stop func(), err error) {
	self, err := os.Executable()
	if err != nil {
		return "", nil, fmt.Errorf("find this program: %w", err)
	}
	cmd := exec.CommandContext(ctx, self, "-serve-nats", dir)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", nil, fmt.Errorf("start a NATS server: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return "", nil, fmt.Errorf("start a NATS server: %w", err)
	}
	stop = func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		stop()
		return "", nil, fmt.Errorf("the NATS server does not start: %w", err)
	}
	return strings.TrimSpace(line), stop, nil
}
