package web

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
)

// Proxy serves the pages of an app's own server, in the place of the page that is compiled in. The
// app and the gateway then have one origin: the app needs no proxy, no CORS and no token. The
// app's server gets no token and no cookie of the gateway's.
func Proxy(app *url.URL, logger *slog.Logger) http.Handler {
	return &httputil.ReverseProxy{
		FlushInterval: -1, // the app may stream
		ErrorLog:      slog.NewLogLogger(logger.Handler(), slog.LevelDebug),
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(app)
			r.SetXForwarded()
			r.Out.Header.Del("Authorization")
			withoutOurs(r.Out)
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			logger.Debug("the app does not answer", "app", app.String(), "error", err)
			http.Error(w, fmt.Sprintf("The app at %s does not answer: start it, and reload this page.", app), http.StatusBadGateway)
		},
	}
}

// withoutOurs removes the gateway's cookies from a request.
func withoutOurs(r *http.Request) {
	cookies := r.Cookies()
	r.Header.Del("Cookie")
	for _, c := range cookies {
		if !strings.HasPrefix(c.Name, "tributary_") && !strings.HasPrefix(c.Name, "__Host-tributary_") {
			r.AddCookie(c)
		}
	}
}
