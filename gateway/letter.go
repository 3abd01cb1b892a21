package gateway

import (
	"net/http"

	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/uistream"
)

// The words for whose letter a stream follows. A session may have the one; a request
// may also ask for none, whatever its session has.
const (
	letterRFC  = "rfc"
	letterNone = "none"
)

// wish is how a request wants streams to be written.
type wish struct {
	uistream.Options
	letter bool // it says whose letter
}

// of is how they are written of a session: as the request says, else the session,
// else the configuration.
func (w wish) of(info session.Info) uistream.Options {
	o := w.Options
	if !w.letter && info.Letter == letterRFC {
		o.RFC = true
	}
	return o
}

// wish reads for which client a stream is to be written, and by whose letter.
func (g *gateway) wish(r *http.Request) (wish, error) {
	w := wish{Options: g.Stream}
	query := r.URL.Query()
	if client := query.Get("client"); client != "" {
		p, err := uistream.ParseProfile(client)
		if err != nil {
			return w, malformed("%s", sentence(err.Error()))
		}
		w.Profile = p
	}
	switch query.Get("letter") {
	case "":
	case letterRFC, letterNone:
		w.letter, w.RFC = true, query.Get("letter") == letterRFC
	default:
		return w, malformed("`letter` must be %s or %s.", letterRFC, letterNone)
	}
	switch format := query.Get("format"); format {
	case "":
	case "uistream", "legacy":
		w.Legacy = format == "legacy"
	default:
		return w, malformed("`format` must be uistream or legacy.")
	}
	return w, nil
}
