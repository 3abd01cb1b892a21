package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/tributary-dev/tributary/internal/testkit/faultnet"
)

// leases holds the way between a gateway and PostgreSQL until another gateway has the session, the
// one direction and then the other.
func (b *bench) leases(ctx context.Context, times int, t *results) error {
	for i := range times {
		if err := b.lease(ctx, fmt.Sprintf("leases%d", i), i%2 == 0, t); err != nil {
			return err
		}
		t.tried(1)
	}
	return nil
}

func (b *bench) lease(ctx context.Context, name string, up bool, t *results) error {
	if err := b.postgres.Make(name); err != nil {
		return err
	}
	u, err := url.Parse(b.postgres.URL(name))
	if err != nil {
		return fmt.Errorf("read the URL of the database: %w", err)
	}
	way, err := faultnet.New(ctx, u.Host)
	if err != nil {
		return err
	}
	defer way.Close()
	u.Host = way.Addr()
	first, err := b.onURL(ctx, name, slowDemo, u.String())
	if err != nil {
		return err
	}
	second, err := b.onURL(ctx, name+"-second", slowDemo, b.postgres.URL(name))
	if err != nil {
		return err
	}
	res, err := first.prompt(ctx, "s", "u1", "long 4000") //nolint:bodyclose // deltas closes it
	if err != nil {
		return err
	}
	shown := deltas(res)
	if err := someOf(ctx, shown, 20); err != nil {
		return err
	}
	way.Hold(up, !up)
	if err := first.notReady(ctx, t); err != nil {
		return err
	}
	if err := second.says(ctx, t, "s"); err != nil {
		return err
	}
	taken := time.Now()
	if err := pause(ctx, time.Second); err != nil {
		return err
	}
	way.Hold(false, false)
	n := 0
	for at := range shown {
		if n++; at.After(taken) {
			t.contradicted("a word is shown %s after another gateway has taken the session", at.Sub(taken).Round(time.Millisecond))
		}
	}
	if n == 0 {
		t.failed("no word is shown while the lease holds")
	}
	if err := second.says(ctx, t, "s"); err != nil {
		return err
	}
	p, err := first.history(ctx, "s", 100)
	if err != nil {
		return err
	}
	if len(p.times) != 6 {
		t.lost("the first gateway's history has %d of 6 messages", len(p.times))
	}
	return endAll(first, second)
}

// notReady waits until the gateway says that it is not ready.
func (g *gateway) notReady(ctx context.Context, t *results) error {
	const within = 10 * time.Second
	for began := time.Now(); ; {
		status, _, err := g.asked(ctx, http.MethodGet, "/readyz", nil)
		if err != nil {
			return err
		}
		if status == http.StatusServiceUnavailable {
			return nil
		}
		if time.Since(began) > within {
			t.failed("a gateway whose database does not answer says that it is ready")
			return nil
		}
		if err := pause(ctx, 100*time.Millisecond); err != nil {
			return err
		}
	}
}
