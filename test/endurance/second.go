package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"
)

// seconds starts second gateways on the data directory of a running one. Each start fails and names
// the process that uses the directory.
func (b *bench) seconds(ctx context.Context, times int, t *results) error {
	start := func() (*gateway, error) { return b.start(ctx, filepath.Join(b.dir, "seconds"), quickDemo) }
	c, err := startClients(ctx, start, answerWithin)
	if err != nil {
		return err
	}
	defer c.stop()
	for range times {
		if err := pause(ctx, randomDuration(300*time.Millisecond)); err != nil {
			return err
		}
		second, err := start()
		switch {
		case err == nil:
			second.kill()
			t.failed("a second gateway has started on the same data directory")
		case !strings.Contains(err.Error(), "is in use by process"):
			t.failed("a second gateway was refused with %v", err)
		}
		t.tried(1)
	}
	return c.stopAndCompare(ctx, t, "", start)
}

// rivals sends prompts to a second gateway on the same PostgreSQL, for sessions that the first one
// owns. The second gateway refuses each prompt and records none. When the first gateway has ended,
// the second one has all sessions.
func (b *bench) rivals(ctx context.Context, times int, t *results) error {
	start, err := b.onPostgres(ctx, "rivals")
	if err != nil {
		return err
	}
	c, err := startClients(ctx, start, answerWithin)
	if err != nil {
		return err
	}
	defer c.stop()
	second, err := b.startOnDatabase(ctx, "rivals-second", "rivals")
	if err != nil {
		return err
	}
	for c.answered() < 2*groupClients { // until the first gateway owns each session
		if err := pause(ctx, 50*time.Millisecond); err != nil {
			return err
		}
	}
	var refused []string
	for range times {
		session, prompt := randomOf([]string{"s0", "s1", "s2", "s3"}), "rival-"+rand.Text()
		res, err := second.prompt(ctx, session, prompt, "hello")
		if err != nil {
			return fmt.Errorf("a prompt to the second gateway: %w; its log: %s", err, second.Said())
		}
		body, _ := io.ReadAll(res.Body)
		_ = res.Body.Close()
		switch {
		case res.StatusCode == 200:
			t.failed("%s: the second gateway took a prompt of a session that the first one owns: %q", session, tail(string(body)))
		case !strings.Contains(string(body), "nother gateway on the same database has this session"):
			t.failed("%s: the second gateway refused with %s %.200s", session, res.Status, body)
		}
		refused = append(refused, prompt)
		t.tried(1)
	}
	c.stop()
	c.checkComplete(t, "")
	if err := c.compare(ctx, c.g, t); err != nil {
		return err
	}
	for _, w := range c.verifiers {
		p, err := c.g.history(ctx, w.session, 1000)
		if err != nil {
			return err
		}
		for _, prompt := range refused {
			if p.times[prompt] > 0 {
				t.failed("%s: a refused prompt of the second gateway is in the history", w.session)
			}
		}
	}
	if err := c.g.end(); err != nil {
		return err
	}
	if err := c.compare(ctx, second, t); err != nil {
		return fmt.Errorf("on the second gateway: %w", err)
	}
	return second.end()
}
