package access

import (
	"container/list"
	"crypto/sha256"
	"net/netip"
	"slices"
	"sync"
	"time"
)

// Bounds of the back-off after wrong tokens.
const (
	freeStrikes    = 10               // wrong tokens that an address may send at once
	longestBackoff = time.Minute      // the longest wait
	strikesLast    = 15 * time.Minute // after that time without a wrong token, an address starts at zero
	mostAddresses  = 4096
	mostProven     = 4 // credentials of one address that have worked
)

// backoff slows addresses that send wrong tokens. It keeps a bounded number of addresses,
// and forgets the one that was used least recently.
type backoff struct {
	mu    sync.Mutex
	of    map[netip.Addr]*list.Element // of *sender's history
	order list.List                    // the most recent first
}

// conduct is what the gateway knows of an address.
type conduct struct {
	addr    netip.Addr
	strikes int
	latest  time.Time // the newest wrong token
	until   time.Time // no new token is tried before
	proven  [][sha256.Size]byte
}

// group is the part of an address that one client can hardly change: an IPv6 client
// usually has 64 bits for itself. Invalid: no back-off. Loopback has none, because a proxy
// on this machine that is not among the trusted ones sends the requests of everybody.
func group(addr netip.Addr) netip.Addr {
	if !addr.IsValid() || addr.IsLoopback() {
		return netip.Addr{}
	}
	if addr.Is6() {
		prefix, _ := addr.Prefix(64)
		return prefix.Addr()
	}
	return addr
}

// wait returns how long an address must wait before the gateway tries this token. A token
// that has worked from the address is never made to wait.
func (b *backoff) wait(addr netip.Addr, token string) time.Duration {
	addr = group(addr)
	b.mu.Lock()
	defer b.mu.Unlock()
	at := b.of[addr]
	if at == nil {
		return 0
	}
	c := at.Value.(*conduct) //nolint:forcetypeassert,errcheck // the list holds nothing else
	left := time.Until(c.until)
	if left <= 0 || c.has(sha256.Sum256([]byte(token))) {
		return 0
	}
	return left
}

func (c *conduct) has(digest [sha256.Size]byte) bool {
	return slices.Contains(c.proven, digest)
}

// tried notes whether a token was right.
func (b *backoff) tried(addr netip.Addr, token string, right bool) {
	addr = group(addr)
	if !addr.IsValid() {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	c := b.conduct(addr)
	if right {
		if digest := sha256.Sum256([]byte(token)); !c.has(digest) {
			c.proven = append(c.proven[max(0, len(c.proven)-mostProven+1):], digest)
		}
		return
	}
	now := time.Now()
	if now.Sub(c.latest) > strikesLast {
		c.strikes = 0
	}
	c.strikes++
	c.latest = now
	if over := c.strikes - freeStrikes; over >= 0 {
		c.until = now.Add(min(longestBackoff, time.Second<<min(over, 16)))
	}
}

// conduct finds or makes the entry of an address.
func (b *backoff) conduct(addr netip.Addr) *conduct {
	if at := b.of[addr]; at != nil {
		b.order.MoveToFront(at)
		return at.Value.(*conduct) //nolint:forcetypeassert,errcheck // the list holds nothing else
	}
	if b.of == nil {
		b.of = map[netip.Addr]*list.Element{}
	}
	if len(b.of) >= mostAddresses {
		oldest := b.order.Back()
		delete(b.of, b.order.Remove(oldest).(*conduct).addr) //nolint:forcetypeassert,errcheck // the list holds nothing else
	}
	c := &conduct{addr: addr}
	b.of[addr] = b.order.PushFront(c)
	return c
}
