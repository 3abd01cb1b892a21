package natslog

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/tributary-dev/tributary/eventlog"
)

const leaseKey = "gateway"

// lease is the right to write to an external NATS. It is a key that expires
// unless it is renewed. A nil lease is for the embedded server, whose directory is
// locked instead: check always says yes.
type lease struct {
	kv   jetstream.KeyValue
	life time.Duration
	name string // of this gateway, unlike any other
	stop context.CancelFunc
	done chan struct{}

	mu       sync.Mutex
	revision uint64
	renewed  time.Time
	lost     error
}

// takeLease takes the lease. When somebody holds it, it looks whether he renews
// it or is gone.
func takeLease(ctx context.Context, kv jetstream.KeyValue, life time.Duration, epoch string) (*lease, error) {
	host, _ := os.Hostname() // a name for people; empty will do
	l := &lease{kv: kv, life: life, name: fmt.Sprintf("%s on %s, %s", self(), host, epoch), done: make(chan struct{})}
	const looks = 20
	var seen uint64
	for until := time.Now().Add(life + life/2); ; {
		asked := time.Now()
		revision, err := kv.Create(ctx, leaseKey, []byte(l.name))
		if err == nil {
			l.revision, l.renewed = revision, asked
			break
		}
		if !errors.Is(err, jetstream.ErrKeyExists) {
			return nil, fmt.Errorf("take the lease of the NATS account: %w", err)
		}
		holder, err := kv.Get(ctx, leaseKey)
		switch {
		case errors.Is(err, jetstream.ErrKeyNotFound):
			continue
		case err != nil:
			return nil, fmt.Errorf("look who holds the lease of the NATS account: %w", err)
		case seen != 0 && holder.Revision() != seen || time.Now().After(until):
			return nil, &eventlog.HeldError{What: "the NATS account", Holder: string(holder.Value())}
		}
		seen = holder.Revision()
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(life / looks):
		}
	}
	keep, stop := context.WithCancel(context.WithoutCancel(ctx))
	l.stop = stop
	go l.keep(keep)
	return l, nil
}

// keep renews the lease until stop is called or it is lost.
func (l *lease) keep(ctx context.Context) {
	defer close(l.done)
	const often = 4
	tick := time.NewTicker(l.life / often)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		asked := time.Now()
		bounded, cancel := context.WithTimeout(ctx, l.life/often)
		revision, err := l.kv.Update(bounded, leaseKey, []byte(l.name), l.revision)
		if err != nil {
			// The update may have been done, and only its answer got lost.
			if e, getErr := l.kv.Get(bounded, leaseKey); getErr == nil {
				if err = nil; string(e.Value()) != l.name {
					err = fmt.Errorf("%s has it now", e.Value())
					l.lose(err)
				}
				revision = e.Revision()
			} else if errors.Is(getErr, jetstream.ErrKeyNotFound) {
				l.lose(errors.New("it expired"))
			}
		}
		cancel()
		l.mu.Lock()
		if err == nil {
			l.revision = revision
			l.renewed = asked
		}
		lost := l.lost != nil
		l.mu.Unlock()
		if lost {
			return
		}
	}
}

func (l *lease) lose(why error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lost == nil {
		l.lost = fmt.Errorf("this gateway lost its lease of the NATS account (%w) and may not write any more: restart it", why)
	}
}

// check returns why nothing may be written now, if so.
func (l *lease) check() error {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lost == nil && time.Since(l.renewed) > l.life {
		return fmt.Errorf("this gateway could not renew its lease of the NATS account since %s and must not write: is NATS reachable?", l.renewed.Format(time.TimeOnly))
	}
	return l.lost
}

// release gives the lease back and waits.
func (l *lease) release(ctx context.Context) error {
	if l == nil {
		return nil
	}
	l.stop()
	<-l.done
	if l.check() != nil {
		return nil //nolint:nilerr // it isn't ours to give back
	}
	if err := l.kv.Delete(ctx, leaseKey, jetstream.LastRevision(l.revision)); err != nil {
		return fmt.Errorf("give the lease of the NATS account back: %w", err)
	}
	return nil
}
