package main

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"time"

	"github.com/tributary-dev/tributary/internal/testkit/faultnet"
)

// healedWithin is how long a request may still take when all gateways and ways work again.
const healedWithin = 20 * time.Second

// member is a gateway with a proxy on its way to PostgreSQL, and one on the way of the other gateways to it.
type member struct {
	*gateway

	database, forwards *faultnet.Proxy
}

// interruptions has three gateways on one PostgreSQL under load, each client at all of them. Again and again it stops the process of one,
// or holds what goes between one and PostgreSQL or between one and the others, for less than a lease. No turn fails, and all three
// have the same record.
func (b *bench) interruptions(ctx context.Context, times int, longest time.Duration, t *results) error {
	const name = "interruptions"
	if err := b.postgres.Make(name); err != nil {
		return err
	}
	var all []*member
	for i := range 3 {
		m, err := b.startMember(ctx, fmt.Sprint(name, i), b.postgres.URL(name))
		if err != nil {
			return err
		}
		defer m.database.Close()
		defer m.forwards.Close()
		all = append(all, m)
	}
	if err := pause(ctx, judgesAfter); err != nil { // so that each of them judges the others
		return err
	}
	c, err := startClients(ctx, func() (*gateway, error) { return all[0].gateway, nil }, answerWithin, all[1].gateway, all[2].gateway)
	if err != nil {
		return err
	}
	defer c.stop()
	for i := range times {
		if err := pause(ctx, 200*time.Millisecond+randomDuration(time.Second)); err != nil {
			return err
		}
		m, d := all[randomBelow(len(all))], max(longest>>randomBelow(4), time.Second)
		switch i % 3 {
		case 0:
			err = pauseProcess(ctx, m.gateway, d)
		case 1:
			err = hold(ctx, m.database, d)
		default:
			err = hold(ctx, m.forwards, d)
		}
		if err != nil {
			return err
		}
		t.tried(1)
	}
	healed := time.Now()
	c.stop()
	if took := time.Since(healed); took > healedWithin {
		t.failed("a request has taken %s after all worked again", took.Round(time.Millisecond))
	}
	c.checkComplete(t)
	for _, m := range all {
		if err := c.compare(ctx, m.gateway, t); err != nil {
			return fmt.Errorf("%w; the gateway's log: %s", err, m.Said())
		}
	}
	return endAll(all[0].gateway, all[1].gateway, all[2].gateway)
}

func (b *bench) startMember(ctx context.Context, data, database string) (*member, error) {
	u, err := url.Parse(database)
	if err != nil {
		return nil, fmt.Errorf("read the URL of the database: %w", err)
	}
	listen, err := freeAddress(ctx)
	if err != nil {
		return nil, err
	}
	m := &member{}
	if m.database, err = faultnet.New(ctx, u.Host); err != nil {
		return nil, err
	}
	if m.forwards, err = faultnet.New(ctx, listen); err != nil {
		m.database.Close()
		return nil, err
	}
	u.Host = m.database.Addr()
	m.gateway, err = b.onURL(ctx, data, quickDemo+fmt.Sprintf("cluster: {listen: '%s', address: '%s'}\n", listen, m.forwards.Addr()), u.String())
	if err != nil {
		m.database.Close()
		m.forwards.Close()
	}
	return m, err
}

// freeAddress is an address of this machine at which nobody listens.
func freeAddress(ctx context.Context) (string, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("find a free port: %w", err)
	}
	defer l.Close()
	return l.Addr().String(), nil
}

// hold holds one direction of a way, or both, for a while.
func hold(ctx context.Context, way *faultnet.Proxy, d time.Duration) error {
	which := randomBelow(3)
	way.Hold(which != 0, which != 1)
	defer way.Hold(false, false)
	return pause(ctx, d)
}
