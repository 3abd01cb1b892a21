package web

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"
	"time"
)

//go:embed dist
var dist embed.FS

// policy lets the page load its own files and talk to its own origin, and
// nothing else. Pictures an agent made come as data URLs.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// file is one file of the page, ready to send.
type file struct {
	content, kind, tag, cache string
}

// Handler serves the built page at "/" and its files beside it. It knows no
// other path, so the gateway mounts it behind its own routes.
func Handler() http.Handler {
	built, _ := fs.Sub(dist, "dist") //nolint:errcheck // the name is valid
	return handler(built)
}

func handler(built fs.FS) http.Handler {
	files := load(built)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "The page can only be read.", http.StatusMethodNotAllowed)
			return
		}
		f, ok := files[r.URL.Path]
		if !ok {
			http.Error(w, "There is no such page.", http.StatusNotFound)
			return
		}
		serve(w, r, f)
	})
}

func serve(w http.ResponseWriter, r *http.Request, f file) {
	h := w.Header()
	h.Set("Content-Type", f.kind)
	h.Set("Cache-Control", f.cache)
	h.Set("ETag", f.tag)
	h.Set("Content-Security-Policy", policy)
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Referrer-Policy", "no-referrer") // the first address of a page may hold the token
	h.Set("X-Content-Type-Options", "nosniff")
	http.ServeContent(w, r, "", time.Time{}, strings.NewReader(f.content))
}

// load reads the whole page once: it is small, and a request then touches no file.
func load(built fs.FS) map[string]file {
	files := map[string]file{}
	_ = fs.WalkDir(built, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil //nolint:nilerr // what cannot be read is not served
		}
		content, err := fs.ReadFile(built, name)
		if err != nil {
			return nil //nolint:nilerr // the same
		}
		cache := "no-cache"
		if strings.HasPrefix(name, "assets/") { // their names hold a hash of their content
			cache = "public, max-age=31536000, immutable"
		}
		files["/"+name] = newFile(string(content), kindOf(name), cache)
		return nil
	})
	files["/"] = files["/index.html"]
	return files
}

func newFile(content, kind, cache string) file {
	sum := sha256.Sum256([]byte(content))
	return file{content: content, kind: kind, cache: cache, tag: `"` + hex.EncodeToString(sum[:8]) + `"`}
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
