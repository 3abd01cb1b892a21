package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"
)

const (
	// judgesAfter is from when on a gateway judges others: it has reached the database itself for a lease.
	judgesAfter = 16 * time.Second
	// takenWithin is how long it may take from the death of a gateway to a prompt that another one accepts.
	takenWithin = 6 * time.Second
)

// deaths kills a gateway while it runs a turn, again and again, and measures the time until another
// one on the same PostgreSQL takes a prompt for the session.
func (b *bench) deaths(ctx context.Context, times int, t *results) error {
	const name = "deaths"
	first, second, err := b.pair(ctx, name, slowDemo)
	if err != nil {
		return err
	}
	if err := pause(ctx, judgesAfter); err != nil {
		return err
	}
	var all []time.Duration
	for i := range times {
		if i > 0 {
			if first, err = b.onURL(ctx, fmt.Sprint(name, i), slowDemo, b.postgres.URL(name)); err != nil {
				return err
			}
		}
		session := fmt.Sprint("s", i)
		res, err := first.prompt(ctx, session, "u1", "long 4000") //nolint:bodyclose // deltas closes it
		if err != nil {
			return err
		}
		shown := deltas(res)
		if err := someOf(ctx, shown, 5); err != nil {
			return err
		}
		killed := time.Now()
		first.kill()
		accepted, err := second.accepts(ctx, t, session)
		if err != nil {
			return err
		}
		took := accepted.Sub(killed)
		if all = append(all, took); took > takenWithin {
			t.failed("%s after the death of its gateway another one takes a prompt; %s are allowed", took.Round(time.Millisecond), takenWithin)
		}
		for range shown { //nolint:revive // to the end
		}
		page, err := second.history(ctx, session, 100)
		if err != nil {
			return err
		}
		if len(page.times) != 4 {
			t.lost("the history has %d of 4 messages", len(page.times))
		}
		t.tried(1)
	}
	slices.Sort(all)
	at := func(percent int) time.Duration { return all[(len(all)-1)*percent/100].Round(time.Millisecond) }
	progress("from kill -9 to a prompt that another gateway accepts: half within %s, 99 %% within %s, all within %s, of %d", at(50), at(99), at(100), len(all))
	return second.end()
}

// accepts tries a prompt until the gateway takes it, and returns when that was. The answer is read to its end.
func (g *gateway) accepts(ctx context.Context, t *results, session string) (at time.Time, err error) {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	for {
		res, err := g.prompt(ctx, session, "u"+rand.Text(), "hello")
		if err != nil {
			return time.Time{}, err
		}
		at = time.Now()
		body, _ := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if res.StatusCode == http.StatusOK {
			return at, nil
		}
		if res.StatusCode != http.StatusServiceUnavailable {
			t.failed("a prompt: %s %.200s", res.Status, body)
			return at, nil
		}
		if err := pause(ctx, 10*time.Millisecond); err != nil {
			return at, err
		}
	}
}
