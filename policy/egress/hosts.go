package egress

import (
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// MaxHosts bounds the hosts of one agent. Those on the loopback device cost a socket in each process.
const (
	MaxHosts    = 1000
	MaxLoopback = 64
)

// Hosts are the hosts that may be reached. The zero Hosts are none.
type Hosts struct{ entries []entry }

// entry is one host of a list.
type entry struct {
	name    string       // in lower case; with a leading dot it stands for all names that end so
	network netip.Prefix // of addresses, where there is no name
	port    uint16       // 0 stands for 443 and 80
}

// Parse reads a list of hosts: a name, a name after *. for all below it, an address, or a network such as
// 10.1.0.0/16. Each may end with a port after a colon. Else the ports 443 and 80 are meant. A host on the
// loopback device needs the port.
func Parse(list []string) (Hosts, error) {
	var h Hosts
	if len(list) > MaxHosts {
		return h, fmt.Errorf("has %d hosts: write %d at most", len(list), MaxHosts)
	}
	for _, text := range list {
		e, err := parse(text)
		if err != nil {
			return h, err
		}
		h.entries = append(h.entries, e)
	}
	if n := len(h.Loopback()); n > MaxLoopback {
		return h, fmt.Errorf("has %d addresses of the loopback device: write %d at most", n, MaxLoopback)
	}
	return h, nil
}

func parse(text string) (e entry, err error) {
	wrong := func(why string) (entry, error) {
		return e, fmt.Errorf("has %q, %s: write a host such as api.example.com, *.example.com, 192.0.2.7:8443 or 10.1.0.0/16, with a port if it is neither 443 nor 80", text, why)
	}
	if strings.Contains(text, "://") {
		return wrong("which is a URL")
	}
	host := text
	if at, port, err := net.SplitHostPort(text); err == nil {
		n, err := strconv.ParseUint(port, 10, 16)
		if err != nil || n == 0 {
			return wrong("whose port is no number from 1 to 65535")
		}
		host, e.port = at, uint16(n)
	}
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if host == "localhost" {
		host = "127.0.0.1"
	}
	bare := strings.Trim(host, "[]")
	switch addr, err := netip.ParseAddr(bare); {
	case err == nil && addr.Zone() == "":
		addr = addr.Unmap()
		e.network = netip.PrefixFrom(addr, addr.BitLen())
	case strings.Contains(host, "/"):
		if e.network, err = netip.ParsePrefix(host); err != nil || e.network.Masked() != e.network || e.network.Bits() == 0 || e.network.Addr().Is4In6() {
			return wrong("which is no network")
		}
	default:
		rest, below := strings.CutPrefix(host, "*.")
		if !isName(rest) {
			return wrong("which is no name of a host")
		}
		if e.name = rest; below {
			e.name = "." + rest
		}
	}
	if e.network.IsValid() && e.network.Addr().IsLoopback() && (e.port == 0 || !e.network.IsSingleIP()) {
		return wrong("which is this machine: name one address and its port, such as 127.0.0.1:11434")
	}
	return e, nil
}

// isName reports whether a text can be the name of a host. What looks like an address is none: 127.1 and 0x7f.1 are
// addresses for some resolvers.
func isName(s string) bool {
	labels := strings.Split(s, ".")
	last := labels[len(labels)-1]
	return len(s) <= 253 && strings.ContainsFunc(last, func(r rune) bool { return r >= 'a' && r <= 'z' }) && !strings.HasPrefix(last, "0x") &&
		!slices.ContainsFunc(labels, func(label string) bool {
			return label == "" || len(label) > 63 || strings.Trim(label, "abcdefghijklmnopqrstuvwxyz0123456789-_") != ""
		})
}

// Target is a host and a port, as a process asks for them.
type Target struct {
	// Host is a name in lower case without a last dot, or an address in its usual form.
	Host string
	Port uint16
}

// String returns HOST:PORT.
func (t Target) String() string { return net.JoinHostPort(t.Host, strconv.Itoa(int(t.Port))) }

// target reads HOST:PORT, and false for what cannot be a host.
func target(text string) (t Target, ok bool) {
	host, port, err := net.SplitHostPort(text)
	n, wrong := strconv.ParseUint(port, 10, 16)
	if err != nil || wrong != nil || n == 0 {
		return t, false
	}
	t = Target{strings.ToLower(strings.TrimSuffix(host, ".")), uint16(n)}
	if t.Host == "localhost" {
		t.Host = "127.0.0.1"
	}
	if addr, err := netip.ParseAddr(t.Host); err == nil && addr.Zone() == "" {
		t.Host = addr.Unmap().String()
		return t, true
	}
	return t, isName(t.Host)
}

// Allow reports whether a host may be reached.
func (h Hosts) Allow(t Target) bool {
	addr, err := netip.ParseAddr(t.Host)
	if err == nil {
		return h.listed(addr, t.Port)
	}
	return isName(t.Host) && slices.ContainsFunc(h.entries, func(e entry) bool {
		return e.name != "" && e.at(t.Port) && (e.name == t.Host || e.name[0] == '.' && strings.HasSuffix(t.Host, e.name))
	})
}

// listed reports whether the list has an address.
func (h Hosts) listed(addr netip.Addr, port uint16) bool {
	return slices.ContainsFunc(h.entries, func(e entry) bool { return e.name == "" && e.at(port) && e.network.Contains(addr) })
}

func (e entry) at(port uint16) bool {
	return e.port == port || e.port == 0 && (port == 443 || port == 80)
}

// Loopback are the addresses of the loopback device that may be reached.
func (h Hosts) Loopback() (all []string) {
	for _, e := range h.entries {
		if e.name == "" && e.network.Addr().IsLoopback() {
			all = append(all, netip.AddrPortFrom(e.network.Addr(), e.port).String())
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// private are networks that no name may lead to, beside those that package netip knows.
func private(addr netip.Addr) bool {
	if !addr.IsGlobalUnicast() || addr.IsPrivate() {
		return true
	}
	return slices.ContainsFunc([]string{
		"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "198.18.0.0/15", "240.0.0.0/4", // of the machine's network, its provider, tests, nobody
		"64:ff9b::/96", "64:ff9b:1::/48", "2001::/32", "2002::/16", "fec0::/10", // with an address of IPv4 in them, or of a site
	}, func(text string) bool { return netip.MustParsePrefix(text).Contains(addr) })
}

// own reports whether an address is one of this machine.
func own(addr netip.Addr) bool {
	all, err := net.InterfaceAddrs()
	return err != nil || slices.ContainsFunc(all, func(a net.Addr) bool {
		prefix, err := netip.ParsePrefix(a.String())
		return err == nil && prefix.Addr().Unmap() == addr
	})
}
