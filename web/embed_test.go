package web

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
)

func built() fstest.MapFS {
	return fstest.MapFS{
		"licenses.md":            {Data: []byte("# Licenses")},
		"index.html":             {Data: []byte(`<!doctype html><script type="module" src="/assets/index-a1.js"></script>`)},
		"favicon.svg":            {Data: []byte("<svg/>")},
		"assets/index-a1.js":     {Data: []byte("export {}")},
		"assets/index-b2.css":    {Data: []byte("body{}")},
		"assets/font-c3.strange": {Data: []byte{0, 1}},
	}
}

func ask(t *testing.T, h http.Handler, method, path string, headers ...string) *http.Response {
	t.Helper()
	r := httptest.NewRequest(method, path, nil)
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result()
}

func TestBuiltPage(t *testing.T) {
	t.Parallel()
	h := handler(built(), nil)
	const immutable = "public, max-age=31536000, immutable"
	for _, c := range []struct {
		path, kind, cache, holds string
		status                   int
	}{
		{"/", "text/html; charset=utf-8", "no-cache", "/assets/index-a1.js", 200},
		{"/index.html", "text/html; charset=utf-8", "no-cache", "/assets/index-a1.js", 200},
		{"/favicon.svg", "image/svg+xml", "no-cache", "<svg/>", 200},
		{"/assets/index-a1.js", "text/javascript; charset=utf-8", immutable, "export {}", 200},
		{"/assets/index-b2.css", "text/css; charset=utf-8", immutable, "body{}", 200},
		{"/assets/font-c3.strange", "application/octet-stream", immutable, "\x00\x01", 200},
		{"/assets/", "text/plain; charset=utf-8", "", "no such page", 404},
		{"/assets/index-old.js", "text/plain; charset=utf-8", "", "no such page", 404},
		{"/licenses.md", "text/plain; charset=utf-8", "no-cache", "# Licenses", 200},
		{"/api/chat", "text/plain; charset=utf-8", "", "no such page", 404},
		{"/assets/../index.html", "text/plain; charset=utf-8", "", "no such page", 404},
	} {
		t.Run(c.path, func(t *testing.T) {
			res := ask(t, h, "GET", c.path)
			body, _ := io.ReadAll(res.Body)
			if res.StatusCode != c.status || res.Header.Get("Content-Type") != c.kind || res.Header.Get("Cache-Control") != c.cache {
				t.Errorf("got %d %q %q, want %d %q %q", res.StatusCode, res.Header.Get("Content-Type"), res.Header.Get("Cache-Control"), c.status, c.kind, c.cache)
			}
			if !strings.Contains(string(body), c.holds) {
				t.Errorf("the body lacks %q: %q", c.holds, body)
			}
		})
	}
}

func TestPolicy(t *testing.T) {
	t.Parallel()
	res := ask(t, handler(built(), nil), "GET", "/")
	got := res.Header.Get("Content-Security-Policy")
	for _, want := range []string{"default-src 'none'", "script-src 'self'", "connect-src 'self'", "frame-ancestors 'none'", "base-uri 'none'"} {
		if !strings.Contains(got, want) {
			t.Errorf("the policy lacks %q: %q", want, got)
		}
	}
	if strings.Contains(got, "unsafe") || strings.Contains(got, "*") {
		t.Errorf("the policy is not strict: %q", got)
	}
	if res.Header.Get("X-Content-Type-Options") != "nosniff" || res.Header.Get("Referrer-Policy") != "no-referrer" {
		t.Errorf("headers %v", res.Header)
	}
}

func TestUnchangedPageIsNotSentAgain(t *testing.T) {
	t.Parallel()
	h := handler(built(), nil)
	tag := ask(t, h, "GET", "/").Header.Get("ETag")
	if tag == "" {
		t.Fatal("the page has no ETag")
	}
	if res := ask(t, h, "GET", "/", "If-None-Match", tag); res.StatusCode != http.StatusNotModified {
		t.Errorf("got %d, want 304", res.StatusCode)
	}
	changed := built()
	changed["index.html"] = &fstest.MapFile{Data: []byte("<!doctype html>new")}
	if res := ask(t, handler(changed, nil), "GET", "/", "If-None-Match", tag); res.StatusCode != http.StatusOK {
		t.Errorf("a changed page: got %d, want 200", res.StatusCode)
	}
}

func TestMethods(t *testing.T) {
	t.Parallel()
	h := handler(built(), nil)
	if res := ask(t, h, "POST", "/"); res.StatusCode != http.StatusMethodNotAllowed || res.Header.Get("Allow") != "GET, HEAD" {
		t.Errorf("POST: got %d, Allow %q", res.StatusCode, res.Header.Get("Allow"))
	}
	res := ask(t, h, "HEAD", "/")
	body, _ := io.ReadAll(res.Body)
	if res.StatusCode != 200 || len(body) != 0 || res.Header.Get("Content-Length") == "0" {
		t.Errorf("HEAD: got %d, %d bytes, length %q", res.StatusCode, len(body), res.Header.Get("Content-Length"))
	}
}

// The compiled-in page is whole: every file that the page names is there, and no script or style is inline.
func TestEmbedded(t *testing.T) {
	t.Parallel()
	h := Handler(nil)
	res := ask(t, h, "GET", "/")
	page, _ := io.ReadAll(res.Body)
	if res.StatusCode != 200 {
		t.Fatalf("got %d", res.StatusCode)
	}
	if regexp.MustCompile(`<script(?:\s[^>]*)?>[^<]|<style| on\w+=`).Match(page) {
		t.Errorf("the page holds inline code, which its policy forbids:\n%s", page)
	}
	names := regexp.MustCompile(`(?:src|href)="([^"]+)"`).FindAllSubmatch(page, -1)
	if len(names) < 3 {
		t.Errorf("the page names %d files, want its script, its style and its icon:\n%s", len(names), page)
	}
	for _, m := range names {
		if res := ask(t, h, "GET", string(m[1])); res.StatusCode != 200 {
			t.Errorf("%s: got %d", m[1], res.StatusCode)
		}
	}
}

// The files are compressed once, at the build. Each client gets them in a coding that it takes, and no cache gives the
// bytes for one client to another.
func TestCompressedFiles(t *testing.T) {
	t.Parallel()
	plain := strings.Repeat("export const colours = {}\n", 100)
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write([]byte(plain)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	files := built()
	files["assets/index-a1.js.gz"] = &fstest.MapFile{Data: packed.Bytes()}
	delete(files, "assets/index-a1.js")
	h := handler(files, nil)
	tags := map[string]string{}
	for _, c := range []struct {
		method, path, accepts, body, coding string
	}{
		{"GET", "/assets/index-a1.js", "gzip, deflate, br, zstd", packed.String(), "gzip"},
		{"GET", "/assets/index-a1.js", "br;q=1.0, GZIP;q=0.5", packed.String(), "gzip"},
		{"HEAD", "/assets/index-a1.js", "gzip", "", "gzip"},
		{"GET", "/assets/index-a1.js", "", plain, ""},
		{"GET", "/assets/index-a1.js", "br", plain, ""},
		{"GET", "/assets/index-a1.js", "gzip;q=0, identity", plain, ""},
		{"GET", "/assets/index-b2.css", "gzip", "body{}", ""}, // the build did not compress it
	} {
		res := ask(t, h, c.method, c.path, "Accept-Encoding", c.accepts)
		if res.StatusCode != 200 || bodyOf(t, res) != c.body || res.Header.Get("Content-Encoding") != c.coding || res.Header.Get("Vary") != "Accept-Encoding" {
			t.Errorf("%s %s for %q: got %d %v", c.method, c.path, c.accepts, res.StatusCode, res.Header)
		}
		if c.coding == "gzip" && res.Header.Get("Content-Length") != strconv.Itoa(packed.Len()) {
			t.Errorf("%s for %q: the length is %q, want %d", c.method, c.accepts, res.Header.Get("Content-Length"), packed.Len())
		}
		if c.path == "/assets/index-a1.js" {
			tags[c.coding] = res.Header.Get("ETag")
			if again := ask(t, h, "GET", c.path, "Accept-Encoding", c.accepts, "If-None-Match", tags[c.coding]); again.StatusCode != http.StatusNotModified {
				t.Errorf("%q: an unchanged file is sent again: %d", c.accepts, again.StatusCode)
			}
		}
	}
	if tags[""] == "" || tags[""] == tags["gzip"] {
		t.Errorf("one ETag for two codings: %v", tags)
	}
	for _, path := range []string{"/assets/index-a1.js.gz", "/index.html.gz"} {
		if res := ask(t, h, "GET", path); res.StatusCode != 404 {
			t.Errorf("%s: got %d", path, res.StatusCode)
		}
	}
}
