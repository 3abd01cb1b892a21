package web

import (
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"strings"
)

// Paths of the widget.
const (
	embedPath  = "/embed"               // the chat, for a frame in a page of another origin
	loaderPath = "/widget.js"           // the loader of this gateway, whatever its version
	pinnedPath = "/widget/%s/widget.js" // the loader with this hash, and no other
)

// hashDigits is how much of its hash names a loader.
const hashDigits = 16

// addEmbed adds the page of the widget. The page has the policy of the other files, but pages of
// the hosts may frame it. Isolated hosts (Cross-Origin-Embedder-Policy) may show the page, so it
// has no Cross-Origin-Opener-Policy.
func addEmbed(files map[string]file, hosts []string) {
	page, ok := files["/embed.html"]
	delete(files, "/embed.html")
	delete(files, loaderPath) // Loader serves it
	if !ok || len(hosts) == 0 {
		return
	}
	page.headers = map[string]string{
		"Content-Security-Policy":      strings.Replace(policy, "frame-ancestors 'none'", "frame-ancestors "+strings.Join(hosts, " "), 1),
		"Cross-Origin-Embedder-Policy": "require-corp",
		"Cross-Origin-Resource-Policy": "cross-origin",
	}
	files[embedPath] = page
}

// refuseEmbed answers where no page may show the widget.
func refuseEmbed(w http.ResponseWriter) {
	w.Header().Set("Content-Security-Policy", policy)
	http.Error(w, "No page may show the chat of this gateway: name the origins of the pages in widget.allow_origins.", http.StatusNotFound)
}

// Loader serves the script of the widget to pages of every origin: the script is the same for
// all and holds no secret. A pinned address answers for its own version only, and for ever.
func Loader() http.Handler { return loader(compiled()) }

func loader(built fs.FS) http.Handler {
	script, err := read(built, strings.TrimPrefix(loaderPath, "/"))
	headers := map[string]string{"Access-Control-Allow-Origin": "*", "Cross-Origin-Resource-Policy": "cross-origin"}
	files := map[string]file{}
	if err == nil {
		kind := kindOf(loaderPath)
		files[loaderPath] = file{script, kind, "no-cache", headers}
		files[pinned(script.plain())] = file{script, kind, "public, max-age=31536000, immutable", headers}
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f, ok := files[r.URL.Path]
		switch {
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "The widget can only be read.", http.StatusMethodNotAllowed)
		case !ok:
			http.Error(w, "This gateway has another version of the widget: `tributary widget` prints the tag of its own.", http.StatusNotFound)
		default:
			serve(w, r, f)
		}
	})
}

func pinned(loader []byte) string {
	sum := sha256.Sum256(loader)
	return fmt.Sprintf(pinnedPath, hex.EncodeToString(sum[:])[:hashDigits])
}

// WidgetTag returns the script tag of the widget, with its hash, for the gateway at an address.
func WidgetTag(gateway string) (string, error) { return widgetTag(compiled(), gateway) }

func widgetTag(built fs.FS, gateway string) (string, error) {
	script, err := read(built, strings.TrimPrefix(loaderPath, "/"))
	if err != nil {
		return "", errors.New("this program was built without the widget: build it with make build")
	}
	content := script.plain()
	sum := sha512.Sum384(content)
	return fmt.Sprintf(`<script src="%s%s" integrity="sha384-%s" crossorigin="anonymous" defer></script>`,
		strings.TrimSuffix(gateway, "/"), pinned(content), base64.StdEncoding.EncodeToString(sum[:])), nil
}
