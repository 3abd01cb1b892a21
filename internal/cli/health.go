package cli

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
	"time"

	"github.com/tributary-dev/tributary/config"
	"github.com/tributary-dev/tributary/internal/httpjson"
)

type healthCommand struct {
	URL    string `name:"url" placeholder:"URL" help:"The gateway (default that of the configuration, on this machine)."`
	Config string `placeholder:"FILE" help:"The configuration (default ./tributary.yaml, if it is there)."`
}

// healthWithin bounds the answer of a gateway to the question for its health.
const healthWithin = 5 * time.Second

// Run asks a running gateway whether it takes requests.
func (h *healthCommand) Run(ctx context.Context, p *program) error {
	c, err := config.Load(h.Config)
	if err != nil {
		return err
	}
	at := reach{URL: h.URL}.at(c)
	settings := httpjson.Config{URL: at, Timeout: healthWithin}
	if h.URL == "" && c.TLS != nil { // the certificate is for the public name; nothing secret is sent
		settings.Transport = &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}} //nolint:gosec // as above
	}
	client, err := httpjson.New(settings)
	if err != nil {
		return usage("--url: %w", err)
	}
	defer client.Close()
	var ready struct{ Status string }
	if err := client.Do(ctx, httpjson.Call{Method: "GET", Path: "/readyz", Out: &ready}); err != nil {
		return remote{url: at}.plain(err)
	}
	_, err = fmt.Fprintln(p.stdout, cmp.Or(ready.Status, "ready"))
	return err
}
