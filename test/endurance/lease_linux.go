package main

import (
	"context"
	"fmt"
	"syscall"
	"time"
)

// pastLease is longer than the lease by which a gateway owns its sessions.
const pastLease = 17 * time.Second

// restarted ends a turn whose gateway was away when another one took its session over.
const restarted = "The gateway was restarted while this turn ran, so it was not finished."

// sleeps stops the process of a gateway for longer than its lease. A second gateway on the same
// PostgreSQL takes the sessions over, closes their turns and runs turns of its own. Then the first
// gateway continues in the middle of its turns. The log refuses each of its appends, so the second
// gateway's records do not change.
func (b *bench) sleeps(ctx context.Context, times int, t *results) error {
	for i := range times {
		if err := b.sleep(ctx, fmt.Sprintf("sleeps%d", i), t); err != nil {
			return err
		}
		t.tried(1)
	}
	return nil
}

func (b *bench) sleep(ctx context.Context, name string, t *results) error {
	start, err := b.onPostgres(ctx, name)
	if err != nil {
		return err
	}
	second, err := b.startOnDatabase(ctx, name+"-second", name)
	if err != nil {
		return err
	}
	c, err := startClients(ctx, start, answerWithin)
	if err != nil {
		return err
	}
	defer c.stop()
	for range 3 {
		c.addLongPrompt(ctx)
	}
	if err := pause(ctx, 300*time.Millisecond); err != nil {
		return err
	}
	stopped := time.Now()
	if err := syscall.Kill(c.g.PID, syscall.SIGSTOP); err != nil {
		return fmt.Errorf("stop the gateway's process: %w", err)
	}
	err = pause(ctx, pastLease)
	if err == nil {
		err = c.takeOver(ctx, second, t)
	}
	if fault := syscall.Kill(c.g.PID, syscall.SIGCONT); fault != nil {
		return fmt.Errorf("continue the gateway's process: %w", fault)
	}
	if err != nil {
		return err
	}
	if err := pause(ctx, time.Second); err != nil {
		return err
	}
	c.stop()
	for _, w := range c.verifiers {
		w.cut = stopped
	}
	c.checkComplete(t, logFailed, restarted) // the second is the stop that the new owner has written
	if err := c.compare(ctx, second, t); err != nil {
		return fmt.Errorf("on the second gateway: %w; its log: %s", err, second.Said())
	}
	if err := c.g.end(); err != nil {
		return err
	}
	return second.end()
}

// takeOver has another gateway run a turn in each session.
func (c *clientGroup) takeOver(ctx context.Context, second *gateway, t *results) error {
	other := &clientGroup{g: second, patience: answerWithin}
	for _, w := range c.verifiers {
		if s := other.prompt(ctx, w, "hello"); !s.complete {
			t.failed("%s: the second gateway did not take the session over: %s", w.session, s.refused)
		}
	}
	return ctx.Err()
}
