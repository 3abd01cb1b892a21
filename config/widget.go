package config

import (
	"net/url"
	"strings"

	"github.com/tributary-dev/tributary/access"
)

// Widget is the chat that other pages show.
type Widget struct {
	// AllowOrigins are the origins of the pages that may show the chat in a frame. Nothing else
	// follows from the setting: a page that calls the gateway itself needs Auth.AllowOrigins.
	AllowOrigins []string `yaml:"allow_origins"`
}

// checkWidget checks the origins, and writes them as browsers do.
func (c *Config) checkWidget() error {
	for i, entry := range c.Widget.AllowOrigins {
		u, err := url.Parse(entry)
		if err != nil || access.CheckPublicURL(entry) != nil || strings.HasSuffix(entry, "/") {
			return c.Fault("widget.allow_origins", "holds %q, which is no origin of a page: write https://host or https://host:port, with no path and no wildcard", entry)
		}
		host := strings.ToLower(u.Host)
		if p := u.Port(); u.Scheme == "https" && p == "443" || u.Scheme == "http" && p == "80" {
			host = strings.TrimSuffix(host, ":"+p)
		}
		c.Widget.AllowOrigins[i] = u.Scheme + "://" + host
	}
	return nil
}
