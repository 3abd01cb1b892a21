package cli

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/tributary-dev/tributary/access"
	"github.com/tributary-dev/tributary/config"
	"github.com/tributary-dev/tributary/web"
)

type widgetCommand struct {
	Config string `placeholder:"FILE" help:"The configuration (default ./tributary.yaml, if it is there)."`
	URL    string `name:"url" placeholder:"URL" help:"The address of the gateway (default: public_url, or that of listen)."`
}

// Run prints the tag. The program must be the one that serves the widget, because the hash is
// that of its own file.
func (w *widgetCommand) Run(_ context.Context, p *program) error {
	c, err := config.Load(w.Config)
	if err != nil {
		return err
	}
	if err := access.CheckPublicURL(w.URL); err != nil {
		return usage("--url %w", err)
	}
	tag, err := web.WidgetTag(cmp.Or(w.URL, c.PublicURL, configuredURL(c)))
	if err != nil {
		return err
	}
	if len(c.Widget.AllowOrigins) == 0 {
		fmt.Fprintln(p.stderr, "tributary: no page may show the chat yet: name the origins of the pages in widget.allow_origins")
	} else {
		fmt.Fprintf(p.stderr, "For the pages of %s. An upgrade may change the tag.\n", strings.Join(c.Widget.AllowOrigins, ", "))
	}
	_, err = fmt.Fprintln(p.stdout, tag)
	return err
}
