package access

import (
	"fmt"
	"net/url"
)

// publicURL is the address that people open, where it differs from the address that the
// gateway listens on. The zero value is none.
type publicURL struct {
	base string // without a slash at its end
	origin
}

// newPublicURL reads public_url.
func newPublicURL(s string) (publicURL, error) {
	if s == "" {
		return publicURL{}, nil
	}
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return publicURL{}, fmt.Errorf("is %q, which is no URL; write https://host or https://host:port", s)
	}
	if u.Path != "" && u.Path != "/" {
		return publicURL{}, fmt.Errorf("is %q, which has a path; the page needs a host of its own, so write https://host", s)
	}
	o, ok := parseOrigin(u.Scheme + "://" + u.Host)
	if !ok {
		return publicURL{}, fmt.Errorf("is %q, which has no host that a browser could open; write https://host or https://host:port", s)
	}
	return publicURL{u.Scheme + "://" + u.Host, o}, nil
}

func (p publicURL) set() bool { return p.base != "" }

// https reports whether people reach the gateway by https.
func (p publicURL) https() bool { return p.scheme == "https" }

// CheckPublicURL says what is wrong with a public_url.
func CheckPublicURL(s string) error {
	_, err := newPublicURL(s)
	return err
}
