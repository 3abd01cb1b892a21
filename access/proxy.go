package access

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// arrival is how a request reached the gateway, seen from its client.
type arrival struct {
	host   authority
	scheme string     // http or https
	client netip.Addr // invalid if the server does not know it
	from   source
	site   string // Sec-Fetch-Site
}

// secure reports whether the client reached the gateway by https.
func (a arrival) secure() bool { return a.scheme == "https" }

// proxies are the addresses whose forwarding headers count.
type proxies []netip.Prefix

// newProxies reads trusted_proxies: addresses and networks.
func newProxies(entries []string) (proxies, error) {
	var list proxies
	for _, entry := range entries {
		prefix, err := netip.ParsePrefix(entry)
		if err != nil {
			var addr netip.Addr
			if addr, err = netip.ParseAddr(entry); err == nil && addr.Zone() == "" {
				prefix = netip.PrefixFrom(addr, addr.BitLen())
			}
		}
		switch {
		case err != nil || !prefix.IsValid():
			return nil, fmt.Errorf("holds %q, which is no address and no network; write 10.0.0.7 or 10.0.0.0/8", entry)
		case prefix.Bits() == 0:
			return nil, fmt.Errorf("holds %q, which is every address, so that every client could forge where a request comes from; name the proxies", entry)
		}
		list = append(list, prefix.Masked())
	}
	return list, nil
}

// CheckProxies says what is wrong with trusted_proxies.
func CheckProxies(entries []string) error {
	_, err := newProxies(entries)
	return err
}

func (p proxies) trust(addr netip.Addr) bool {
	for _, prefix := range p {
		if prefix.Contains(addr) {
			return true
		}
	}
	return false
}

// forwarded is what a proxy tells about the request that it passes on.
type forwarded struct {
	clients     []string // the nearest last
	proto, host string
}

// unwrap finds how the client sent a request. Headers count only if a trusted proxy sent
// the request; the host is not parsed yet.
func (p proxies) unwrap(r *http.Request) (host, scheme string, client netip.Addr) {
	host, scheme = r.Host, "http"
	if r.TLS != nil {
		scheme = "https"
	}
	client = peer(r)
	if !client.IsValid() || !p.trust(client) {
		return host, scheme, client
	}
	f := told(r.Header)
	if f.host != "" {
		host = f.host
	}
	if proto := strings.ToLower(f.proto); proto == "http" || proto == "https" {
		scheme = proto
	}
	for i := len(f.clients) - 1; i >= 0 && p.trust(client); i-- {
		addr, ok := forwardedAddress(f.clients[i])
		if !ok {
			break
		}
		client = addr
	}
	return host, scheme, client
}

func peer(r *http.Request) netip.Addr {
	at, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	return at.Addr().Unmap()
}

// told reads X-Forwarded-For, -Proto and -Host. Without all three it reads Forwarded
// (RFC 7239): most proxies pass on a Forwarded header that a client made up.
func told(h http.Header) forwarded {
	f := forwarded{clients: items(h, "X-Forwarded-For"), proto: last(items(h, "X-Forwarded-Proto")), host: last(items(h, "X-Forwarded-Host"))}
	if len(f.clients) > 0 || f.proto != "" || f.host != "" {
		return f
	}
	for _, element := range items(h, "Forwarded") {
		f.proto, f.host = "", "" // those of the last element count
		for pair := range strings.SplitSeq(element, ";") {
			name, value, _ := strings.Cut(pair, "=")
			value = strings.Trim(strings.TrimSpace(value), `"`)
			switch strings.ToLower(strings.TrimSpace(name)) {
			case "for":
				f.clients = append(f.clients, value)
			case "proto":
				f.proto = value
			case "host":
				f.host = value
			}
		}
	}
	return f
}

// items splits a header that is a list, over all its lines.
func items(h http.Header, name string) []string {
	var all []string
	for _, line := range h.Values(name) {
		for item := range strings.SplitSeq(line, ",") {
			all = append(all, strings.TrimSpace(item))
		}
	}
	return all
}

func last(all []string) string {
	if len(all) == 0 {
		return ""
	}
	return all[len(all)-1]
}

// forwardedAddress reads an address with or without a port or brackets.
func forwardedAddress(s string) (netip.Addr, bool) {
	if host, _, err := net.SplitHostPort(s); err == nil {
		s = host
	}
	addr, err := netip.ParseAddr(strings.Trim(s, "[]"))
	return addr.Unmap().WithZone(""), err == nil
}
