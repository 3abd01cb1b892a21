// Package address keeps the secrets of a configured URL out of errors, histories and logs.
// Its user information, its query and its fragment count as secret: some servers take keys there.
// It also knows which hosts are this machine.
package address

import (
	"net/netip"
	"net/url"
	"strings"
)

// Public returns a URL without what is secret in it. The text need not be a valid URL.
func Public(address string) string {
	address, _, _ = strings.Cut(address, "#")
	address, _, _ = strings.Cut(address, "?")
	scheme, rest, ok := strings.Cut(address, "://")
	if !ok {
		return address
	}
	host, path, slash := strings.Cut(rest, "/")
	host = host[strings.LastIndexByte(host, '@')+1:]
	if slash {
		path = "/" + path
	}
	return scheme + "://" + host + path
}

// shortestSecret is the length in bytes from which a value is taken for a secret. Shorter
// values are words of every sentence.
const shortestSecret = 6

// Redact replaces the secrets of an address in a text, such as an error of a library or of a
// server. Secrets are the query as a whole, and each value of at least 6 bytes, as written and
// decoded.
func Redact(text, address string) string {
	_, query, _ := strings.Cut(address, "?")
	query, fragment, _ := strings.Cut(query, "#")
	var secrets []string
	add := func(s string) {
		if len(s) >= shortestSecret {
			secrets = append(secrets, s, "…")
		}
		if decoded, err := url.QueryUnescape(s); err == nil && decoded != s && len(decoded) >= shortestSecret {
			secrets = append(secrets, decoded, "…")
		}
	}
	add(query)
	add(fragment)
	if at, err := url.Parse(address); err == nil && at.User != nil {
		add(at.User.String())
		password, _ := at.User.Password()
		add(password)
	}
	for pair := range strings.FieldsFuncSeq(query, func(r rune) bool { return r == '&' || r == ';' }) {
		_, value, _ := strings.Cut(pair, "=")
		add(value)
	}
	return strings.NewReplacer(secrets...).Replace(text)
}

// Loopback reports whether a host, without its port and in lower case, can only mean this machine.
// Names below .localhost are left out: not every resolver keeps them here.
func Loopback(host string) bool {
	if host == "localhost" {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Unmap().IsLoopback()
}
