package web

import (
	"bytes"
	"embed"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strconv"
	"strings"
	"time"
)

//go:embed dist
var dist embed.FS

// policy lets the page load its own files and talk to its own origin, and
// nothing else. Pictures an agent made come as data URLs. No page may frame it.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// file is one file of the page, ready to send.
type file struct {
	content

	kind, cache string
	headers     map[string]string // beside those that all files have
}

// Handler serves the built page at "/" and its files beside it. It knows no
// other path, so the gateway mounts it behind its own routes. Pages of the origins
// hosts may show the widget's page, /embed, in a frame.
func Handler(hosts []string) http.Handler { return handler(compiled(), hosts) }

// compiled is the build that is compiled in.
func compiled() fs.FS {
	built, _ := fs.Sub(dist, "dist") //nolint:errcheck // the name is valid
	return built
}

func handler(built fs.FS, hosts []string) http.Handler {
	files := load(built)
	addEmbed(files, hosts)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "The page can only be read.", http.StatusMethodNotAllowed)
			return
		}
		f, ok := files[r.URL.Path]
		switch {
		case ok:
			serve(w, r, f)
		case r.URL.Path == embedPath:
			refuseEmbed(w)
		default:
			http.Error(w, "There is no such page.", http.StatusNotFound)
		}
	})
}

func serve(w http.ResponseWriter, r *http.Request, f file) {
	h := w.Header()
	h.Set("Content-Type", f.kind)
	h.Set("Cache-Control", f.cache)
	h.Set("Vary", "Accept-Encoding")
	h.Set("Referrer-Policy", "no-referrer") // the first address of a page may hold the token
	h.Set("X-Content-Type-Options", "nosniff")
	for name, value := range f.headers {
		h.Set(name, value)
	}
	body, tag := f.plain, f.tag
	if f.packed != nil && takesGzip(r) {
		body, tag = func() []byte { return f.packed }, f.tag+"-gzip"
		h.Set("Content-Encoding", "gzip")
		h.Set("Content-Length", strconv.Itoa(len(f.packed))) // ServeContent leaves it out beside an encoding
	}
	h.Set("ETag", `"`+tag+`"`)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(body()))
}

// load reads the whole page once: it is small, and a request then touches no file.
func load(built fs.FS) map[string]file {
	files := map[string]file{}
	_ = fs.WalkDir(built, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil //nolint:nilerr // what cannot be read is not served
		}
		name = strings.TrimSuffix(name, packedSuffix)
		content, err := read(built, name)
		if err != nil {
			return nil //nolint:nilerr // the same
		}
		cache := "no-cache"
		if strings.HasPrefix(name, "assets/") { // their names hold a hash of their content
			cache = "public, max-age=31536000, immutable"
		}
		files["/"+name] = file{content, kindOf(name), cache, map[string]string{
			"Content-Security-Policy": policy, "Cross-Origin-Opener-Policy": "same-origin",
		}}
		return nil
	})
	files["/"] = files["/index.html"]
	return files
}

// kindOf names the types a page is made of: a machine's own table may lack or bend them.
func kindOf(name string) string {
	switch path.Ext(name) {
	case ".html":
		return "text/html; charset=utf-8"
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".css":
		return "text/css; charset=utf-8"
	case ".md":
		return "text/plain; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	}
	if kind := mime.TypeByExtension(path.Ext(name)); kind != "" {
		return kind
	}
	return "application/octet-stream"
}
