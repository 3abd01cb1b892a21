package access

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// origin is scheme://host[:port] with the scheme's own port filled in.
type origin struct {
	scheme string
	authority
}

func parseOrigin(s string) (origin, bool) {
	scheme, rest, ok := strings.Cut(s, "://")
	if !ok || !validScheme(scheme) {
		return origin{}, false
	}
	a, ok := parseAuthority(rest)
	if !ok {
		return origin{}, false
	}
	scheme = strings.ToLower(scheme)
	return origin{scheme, a.withPort(scheme)}, true
}

// validScheme takes more than http, since a configured origin may be that of an
// extension or a desktop shell.
func validScheme(s string) bool {
	for i, c := range []byte(s) {
		letter := alphanumeric(c) && (c < '0' || c > '9')
		if !letter && (i == 0 || !alphanumeric(c) && c != '+' && c != '-' && c != '.') {
			return false
		}
	}
	return s != "" && len(s) <= 32
}

func (o origin) loopback() bool {
	return (o.scheme == "http" || o.scheme == "https") && o.authority.loopback()
}

func (o origin) String() string { return o.scheme + "://" + o.authority.String() }

// source says which page a request comes from, as far as its Origin tells.
type source int

const (
	unsaid  source = iota // no Origin: a program, a navigation, or our own GET
	own                   // a page of ours
	allowed               // another page that may talk to us, with a bearer token
	foreign               // any other page
)

// originList is the set of other origins that may talk to the gateway.
type originList struct {
	loopback bool
	null     bool
	exact    map[origin]bool
}

func newOriginList(mode Mode, entries []string) (originList, error) {
	list := originList{exact: map[origin]bool{}}
	if entries == nil {
		list.loopback = mode != ModeNone
		return list, nil
	}
	for _, entry := range entries {
		switch entry {
		case LoopbackOrigins:
			list.loopback = true
			continue
		case NullOrigin:
			list.null = true
			continue
		}
		o, ok := parseOrigin(entry)
		if !ok {
			return list, fmt.Errorf("allow_origins entry %q is not an origin; write scheme://host or scheme://host:port, with no path and no wildcard", entry)
		}
		list.exact[o] = true
	}
	return list, nil
}

// judge compares the Origin of a request with the origins of our own page, and with the
// list.
func (l originList) judge(r *http.Request, ours ...origin) source {
	values := r.Header.Values("Origin")
	if len(values) == 0 {
		return unsaid
	}
	if l.null && len(values) == 1 && values[0] == NullOrigin {
		return allowed
	}
	o, ok := parseOrigin(values[0])
	switch {
	case !ok || len(values) > 1:
		return foreign
	case slices.Contains(ours, o):
		return own
	case l.exact[o] || l.loopback && o.loopback():
		return allowed
	}
	return foreign
}

// fetchSite returns what the browser says about who started the request. Pages
// cannot set this header; programs and old browsers send none.
func fetchSite(r *http.Request) string {
	return strings.Join(r.Header.Values("Sec-Fetch-Site"), ",")
}

// ourSite reports whether the browser vouches that our own page, or the user by
// hand, started the request.
func ourSite(site string) bool { return site == "same-origin" || site == "none" }

// changesState reports whether the method may change something.
func changesState(r *http.Request) bool {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
		return false
	}
	return true
}
