package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/tributary-dev/tributary/internal/launch"
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
	if !s.ReadyForConnections(answerWithin) {
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
	s, err := launch.Start(ctx, exec.CommandContext(ctx, self, "-serve-nats", dir))
	if err != nil {
		return "", nil, err
	}
	return s.Address.String(), func() { _ = s.End() }, nil
}
