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
	freeStrikes    = 10               // different wrong tokens that an address may send at once
	longestBackoff = time.Minute      // the longest wait
	strikesLast    = 15 * time.Minute // after that time without a new wrong token, an address starts at zero
	mostAddresses  = 4096
	mostWrong      = 32 // wrong tokens of one address that are remembered
)

// backoff slows addresses that send wrong tokens. A right token never waits, whatever others send
// from its address; so the caller checks a token first. What is bounded is the number of different
// wrong tokens: a script that goes on with an old token counts once. It keeps a bounded number of
// addresses, and forgets the one that was used least recently.
type backoff struct {
	mu    sync.Mutex
	of    map[netip.Addr]*list.Element // of *conduct
	order list.List                    // the most recent first
}

// conduct is what the gateway knows of an address.
type conduct struct {
	addr    netip.Addr
	strikes int
	latest  time.Time // the newest wrong token
	until   time.Time // no other wrong token is counted before
	wrong   [][sha256.Size]byte
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

// left returns how long an address has to wait.
func (b *backoff) left(addr netip.Addr) time.Duration {
	addr = group(addr)
	b.mu.Lock()
	defer b.mu.Unlock()
	at := b.of[addr]
	if at == nil {
		return 0
	}
	return max(0, time.Until(at.Value.(*conduct).until)) //nolint:forcetypeassert,errcheck // the list holds nothing else
}

// failed notes a wrong token, and returns how long its address has to wait before another one.
// The wait is zero for a token that the address has sent before.
func (b *backoff) failed(addr netip.Addr, token string) time.Duration {
	addr = group(addr)
	if !addr.IsValid() {
		return 0
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	c, digest, now := b.conduct(addr), sha256.Sum256([]byte(token)), time.Now()
	if slices.Contains(c.wrong, digest) {
		return 0
	}
	if left := c.until.Sub(now); left > 0 {
		return left
	}
	if now.Sub(c.latest) > strikesLast {
		c.strikes = 0
	}
	c.strikes++
	c.latest = now
	c.wrong = append(c.wrong[max(0, len(c.wrong)-mostWrong+1):], digest)
	if over := c.strikes - freeStrikes; over >= 0 {
		c.until = now.Add(min(longestBackoff, time.Second<<min(over, 16)))
	}
	return 0
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
