package web

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httputil"
	"net/url"
	"regexp"
	"strings"
)

const (
	// appScriptPath is the address of the script that an app's pages get, and its place in the build.
	appScriptPath = "/tributary-app.js"
	// doctypeWithin is how many bytes of a page are looked at for its doctype.
	doctypeWithin = 4 << 10
)

// Proxy serves the pages of an app's own server, in the place of the page that is compiled in. The
// app and the gateway then have one origin: the app needs no proxy, no CORS and no token. The
// app's server gets no token and no cookie of the gateway's. Each page gets a script before its own
// ones, which adds the secret of the sign-in to the page's requests to the gateway.
func Proxy(app *url.URL, logger *slog.Logger) http.Handler {
	proxy := &httputil.ReverseProxy{
		FlushInterval: -1, // the app may stream
		ErrorLog:      slog.NewLogLogger(logger.Handler(), slog.LevelDebug),
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(app)
			r.SetXForwarded()
			r.Out.Header.Del("Authorization")
			withoutOurs(r.Out)
			if strings.Contains(r.In.Header.Get("Accept"), "text/html") { // the script goes into a whole page that can be read
				for _, name := range []string{"Accept-Encoding", "If-None-Match", "If-Modified-Since", "Range"} {
					r.Out.Header.Del(name)
				}
				r.Out.Header.Set("Accept-Encoding", "identity")
			}
		},
		ModifyResponse: withScript,
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			logger.Debug("the app does not answer", "app", app.String(), "error", err)
			http.Error(w, fmt.Sprintf("The app at %s does not answer: start it, and reload this page.", app), http.StatusBadGateway)
		},
	}
	script := load(compiled())[appScriptPath]
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != appScriptPath {
			proxy.ServeHTTP(w, r)
			return
		}
		serve(w, r, script)
	})
}

// withScript puts the script into a page, behind its doctype: browsers then make its head around the
// script. The page may be a stream.
func withScript(res *http.Response) error {
	if !strings.HasPrefix(res.Header.Get("Content-Type"), "text/html") || res.Header.Get("Content-Encoding") != "" || res.Request.Method != http.MethodGet {
		return nil
	}
	script := []byte(`<script src="` + appScriptPath + `"></script>`)
	body := bufio.NewReaderSize(res.Body, doctypeWithin)
	var begin []byte
	for n := 1; n <= doctypeWithin && bytes.IndexByte(begin, '>') < 0; n = max(n+1, body.Buffered()) {
		if begin, err := body.Peek(n); err != nil && len(begin) == 0 { // there is no page
			return nil //nolint:nilerr // who reads the body gets the error again
		} else if err != nil {
			break
		}
		begin, _ = body.Peek(body.Buffered()) // they are there
	}
	head := bytes.Clone(doctype().Find(begin))
	if _, err := body.Discard(len(head)); err != nil {
		return err
	}
	res.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(head), bytes.NewReader(script), body), res.Body}
	if res.ContentLength >= 0 {
		res.ContentLength += int64(len(script))
		res.Header.Set("Content-Length", fmt.Sprint(res.ContentLength))
	}
	res.Header.Del("ETag")
	return nil
}

// doctype finds what must stand before the first element of a page.
func doctype() *regexp.Regexp {
	return regexp.MustCompile(`(?is)^(\xef\xbb\xbf)?\s*(<!--.*?-->\s*)*<!doctype[^>]*>`)
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
