package main

import (
	"context"
	"fmt"
	"path/filepath"
	"syscall"
	"time"
)

// stops stops the process of the gateway (SIGSTOP) with turns in progress, and continues it. The
// clients only see a pause, and no turn fails.
func (b *bench) stops(ctx context.Context, times []time.Duration, t *results) error {
	start := func() (*gateway, error) { return b.start(ctx, filepath.Join(b.dir, "stops"), quickDemo) }
	patience := answerWithin // of a client, whose clock goes on
	for _, d := range times {
		patience += d
	}
	c, err := startClients(ctx, start, patience)
	if err != nil {
		return err
	}
	defer c.stop()
	for _, d := range times {
		if err := pause(ctx, 100*time.Millisecond+randomDuration(300*time.Millisecond)); err != nil {
			return err
		}
		if err := pauseProcess(ctx, c.g, d); err != nil {
			return err
		}
		t.tried(1)
	}
	if err := pause(ctx, 300*time.Millisecond); err != nil {
		return err
	}
	return c.stopAndCompare(ctx, t, "", start)
}

// pauseProcess stops the process for a while.
func pauseProcess(ctx context.Context, g *gateway, d time.Duration) error {
	if err := syscall.Kill(g.PID, syscall.SIGSTOP); err != nil {
		return fmt.Errorf("stop the gateway's process: %w", err)
	}
	waited := pause(ctx, d)
	if err := syscall.Kill(g.PID, syscall.SIGCONT); err != nil {
		return fmt.Errorf("continue the gateway's process: %w", err)
	}
	return waited
}
