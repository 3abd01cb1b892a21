package send

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/tributary-dev/tributary/internal/address"
)

// This file checks what a person writes: the address and the headers.

// addressOf is the address to which requests go.
func addressOf(cfg Config) (string, error) {
	public := address.Public(cfg.URL)
	u, err := url.Parse(cfg.URL)
	switch {
	case err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https":
		return "", fmt.Errorf("%q is no address of a receiver: write one such as https://collector.example/v1/traces", public)
	case u.User != nil:
		return "", fmt.Errorf("the address of the receiver %s has a password in it: leave it out, and set a header such as Authorization", public)
	case u.Scheme == "http" && !cfg.AllowHTTP && !address.Loopback(strings.ToLower(u.Hostname())):
		return "", fmt.Errorf("the receiver %s is on another machine, and by http all machines on the way could read the spans and the key: use https, or set allow-http", public)
	}
	u.Fragment = ""
	if !strings.HasSuffix(strings.TrimRight(u.Path, "/"), "/traces") {
		u = u.JoinPath("v1", "traces")
	}
	return u.String(), nil
}

// checkHeader refuses headers that cannot be sent, or that belong to the body.
func checkHeader(h http.Header) error {
	for name, values := range h {
		switch {
		case name == "" || strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r) }):
			return fmt.Errorf("%q is no name of a header: write one such as Authorization", name)
		case slices.Contains([]string{"Content-Type", "Content-Encoding", "Content-Length", "Transfer-Encoding", "Connection", "Host"}, http.CanonicalHeaderKey(name)):
			return fmt.Errorf("the program sets the header %s itself: leave it out", name)
		}
		for _, v := range values {
			if strings.ContainsFunc(v, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
				return fmt.Errorf("the header %s has a line break or another control character in it: write it as one line", name)
			}
		}
	}
	return nil
}
