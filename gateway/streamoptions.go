package gateway

// This file reads from a request how its streams are to be written: the client profile,
// `compat`, and the format.

import (
	"net/http"

	"github.com/tributary-dev/tributary/gateway/refusal"
	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/uistream"
)

// The values of `compat`. A session may have rfc. A request may also have none, which
// overrules its session and the configuration.
const (
	compatRFC  = "rfc"
	compatNone = "none"
)

// streamOptions are the stream options of one request.
type streamOptions struct {
	uistream.Options
	compat bool // the request has `compat`
}

// of returns the options for streams of a session: those of the request, else those of
// the session, else those of the configuration.
func (w streamOptions) of(info session.Info) uistream.Options {
	o := w.Options
	if !w.compat && info.Compat == compatRFC {
		o.RFC = true
	}
	return o
}

// streamOptions reads the stream options of a request.
func (g *gateway) streamOptions(r *http.Request) (streamOptions, error) {
	w := streamOptions{Options: g.Stream}
	query := r.URL.Query()
	if client := query.Get("client"); client != "" {
		p, err := uistream.ParseProfile(client)
		if err != nil {
			return w, refusal.Malformed("%s", sentence(err.Error()))
		}
		w.Profile = p
	}
	switch query.Get("compat") {
	case "":
	case compatRFC, compatNone:
		w.compat, w.RFC = true, query.Get("compat") == compatRFC
	default:
		return w, refusal.Malformed("`compat` must be %s or %s.", compatRFC, compatNone)
	}
	switch format := query.Get("format"); format {
	case "":
	case "uistream", "legacy":
		w.Legacy = format == "legacy"
	default:
		return w, refusal.Malformed("`format` must be uistream or legacy.")
	}
	return w, nil
}
