package access

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"github.com/tributary-dev/tributary/internal/address"
)

// authority is host[:port] as Host and Origin carry it: the name in lower case
// or the address without brackets, and the port, "" when there is none.
type authority struct {
	host string
	port string
}

// maxAuthority bounds what the parser looks at: the longest DNS name, a port.
const maxAuthority = 253 + len(":65535")

// parseAuthority reads what a browser can send, and nothing more: no userinfo,
// no empty or padded port, no trailing dot, no zone, no raw IPv6.
func parseAuthority(s string) (authority, bool) {
	if len(s) > maxAuthority {
		return authority{}, false
	}
	if rest, ok := strings.CutPrefix(s, "["); ok {
		inside, after, ok := strings.Cut(rest, "]")
		addr, err := netip.ParseAddr(inside)
		if !ok || err != nil || !addr.Is6() || addr.Zone() != "" {
			return authority{}, false
		}
		port, ok := parsePort(after)
		return authority{addr.String(), port}, ok
	}
	host, after := s, ""
	if i := strings.IndexByte(s, ':'); i >= 0 {
		host, after = s[:i], s[i:]
	}
	port, ok := parsePort(after)
	if !ok || !validName(host) {
		return authority{}, false
	}
	return authority{strings.ToLower(host), port}, true
}

// parsePort reads ":port" or nothing.
func parsePort(s string) (string, bool) {
	if s == "" {
		return "", true
	}
	digits, ok := strings.CutPrefix(s, ":")
	n, err := strconv.ParseUint(digits, 10, 16)
	if !ok || err != nil || n == 0 || strconv.FormatUint(n, 10) != digits {
		return "", false
	}
	return digits, true
}

func validName(s string) bool {
	for label := range strings.SplitSeq(s, ".") {
		if label == "" || len(label) > 63 {
			return false
		}
		for _, c := range []byte(label) {
			if !alphanumeric(c) && c != '-' && c != '_' {
				return false
			}
		}
	}
	return len(s) <= 253
}

func alphanumeric(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

// loopback reports whether a can only mean this machine.
func (a authority) loopback() bool { return address.Loopback(a.host) }

// withPort returns a with the scheme's port filled in where it has none.
func (a authority) withPort(scheme string) authority {
	if a.port == "" {
		switch scheme {
		case "http":
			a.port = "80"
		case "https":
			a.port = "443"
		}
	}
	return a
}

func (a authority) String() string {
	host := a.host
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if a.port == "" {
		return host
	}
	return host + ":" + a.port
}

// parseHostEntry reads an entry of allow_hosts; unlike a Host header it may be
// an IPv6 address without brackets.
func parseHostEntry(s string) (authority, error) {
	if addr, err := netip.ParseAddr(s); err == nil && addr.Is6() {
		s = "[" + s + "]"
	}
	a, ok := parseAuthority(s)
	if !ok {
		return authority{}, fmt.Errorf("allow_hosts entry %q is not a host name or address with an optional port", s)
	}
	return a, nil
}

// hostList is the set of names the gateway answers to beside loopback; an entry
// without a port is good for every port.
type hostList map[authority]bool

func newHostList(listen string, public publicURL, allow []string) (hostList, error) {
	list := hostList{}
	if public.set() {
		list[public.authority] = true
		list[authority{host: public.host}] = true // a proxy may leave its port out
	}
	if host := listenHost(listen); !unspecified(host) {
		a, err := parseHostEntry(host)
		if err != nil {
			return nil, fmt.Errorf("listen address %q names no host; use host:port", listen)
		}
		list[a] = true
	}
	for _, entry := range allow {
		a, err := parseHostEntry(entry)
		if err != nil {
			return nil, err
		}
		list[a] = true
	}
	return list, nil
}

func (l hostList) allows(a authority) bool {
	return a.loopback() || l[a] || l[authority{host: a.host}]
}

// Loopback reports whether an address to listen on is one that only this machine
// reaches.
func Loopback(listen string) bool {
	a, err := parseHostEntry(listenHost(listen))
	return err == nil && a.loopback()
}
