package web

import (
	"crypto/sha512"
	"encoding/base64"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
)

func withWidget() fstest.MapFS {
	files := built()
	files["embed.html"] = &fstest.MapFile{Data: []byte(`<!doctype html><script type="module" src="/assets/embed-d4.js"></script>`)}
	files["widget.js"] = &fstest.MapFile{Data: []byte("(()=>{})()")}
	return files
}

func bodyOf(t *testing.T, res *http.Response) string {
	t.Helper()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

//evidence:for promise-widget
func TestOnlyTheHostsMayFrameThePageOfTheWidget(t *testing.T) {
	t.Parallel()
	h := handler(withWidget(), []string{"https://app.example.com", "http://localhost:5173"})
	res := ask(t, h, "GET", "/embed")
	if res.StatusCode != 200 || !strings.Contains(bodyOf(t, res), "embed-d4.js") {
		t.Fatalf("got %d", res.StatusCode)
	}
	own, framed := ask(t, h, "GET", "/").Header, res.Header
	want := strings.Replace(own.Get("Content-Security-Policy"), "frame-ancestors 'none'", "frame-ancestors https://app.example.com http://localhost:5173", 1)
	if got := framed.Get("Content-Security-Policy"); got != want || !strings.Contains(own.Get("Content-Security-Policy"), "frame-ancestors 'none'") {
		t.Errorf("the policy is %q", got)
	}
	if framed.Get("Cross-Origin-Opener-Policy") != "" || own.Get("Cross-Origin-Opener-Policy") != "same-origin" {
		t.Errorf("headers %v", framed)
	}
	if framed.Get("Cross-Origin-Embedder-Policy") != "require-corp" || framed.Get("Cross-Origin-Resource-Policy") != "cross-origin" {
		t.Errorf("an isolated host cannot show it: %v", framed)
	}
	if framed.Get("Cache-Control") != "no-cache" || framed.Get("ETag") == "" || framed.Get("Referrer-Policy") != "no-referrer" || framed.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("headers %v", framed)
	}
}

func TestWithoutHostsNoPageMayFrameTheWidget(t *testing.T) {
	t.Parallel()
	res := ask(t, handler(withWidget(), nil), "GET", "/embed")
	if res.StatusCode != 404 || !strings.Contains(bodyOf(t, res), "widget.allow_origins") {
		t.Errorf("got %d", res.StatusCode)
	}
	if got := res.Header.Get("Content-Security-Policy"); !strings.Contains(got, "frame-ancestors 'none'") {
		t.Errorf("the policy is %q", got)
	}
}

func TestThePageOfTheWidgetHasNoSecondAddress(t *testing.T) {
	t.Parallel()
	h := handler(withWidget(), []string{"https://app.example.com"})
	for _, path := range []string{"/embed.html", "/widget.js", "/embed/"} {
		if res := ask(t, h, "GET", path); res.StatusCode != 404 {
			t.Errorf("%s: got %d", path, res.StatusCode)
		}
	}
}

func TestTheTagPinsTheLoaderByItsHash(t *testing.T) {
	t.Parallel()
	tag, err := widgetTag(withWidget(), "https://agents.example.com/")
	m := regexp.MustCompile(`^<script src="https://agents\.example\.com(/widget/[0-9a-f]{16}/widget\.js)" integrity="sha384-([^"]+)" crossorigin="anonymous" defer></script>$`).FindStringSubmatch(tag)
	if err != nil || m == nil {
		t.Fatalf("the tag is %q, %v", tag, err)
	}
	h := loader(withWidget())
	res := ask(t, h, "GET", m[1])
	sum := sha512.Sum384([]byte(bodyOf(t, res)))
	if got := base64.StdEncoding.EncodeToString(sum[:]); got != m[2] {
		t.Errorf("the file has the hash %s, the tag says %s", got, m[2])
	}
	if res.Header.Get("Cache-Control") != "public, max-age=31536000, immutable" || res.Header.Get("Access-Control-Allow-Origin") != "*" || res.Header.Get("Cross-Origin-Resource-Policy") != "cross-origin" {
		t.Errorf("headers %v", res.Header)
	}
	changed := withWidget()
	changed["widget.js"] = &fstest.MapFile{Data: []byte("(()=>{1})()")}
	res = ask(t, loader(changed), "GET", m[1])
	if res.StatusCode != 404 || !strings.Contains(bodyOf(t, res), "tributary widget") {
		t.Errorf("another version answers %d", res.StatusCode)
	}
}

func TestTheEvergreenLoaderIsAskedForAgain(t *testing.T) {
	t.Parallel()
	res := ask(t, loader(withWidget()), "GET", "/widget.js", "Origin", "https://anywhere.example.com")
	if res.StatusCode != 200 || res.Header.Get("Cache-Control") != "no-cache" || res.Header.Get("Access-Control-Allow-Origin") != "*" {
		t.Fatalf("got %d %v", res.StatusCode, res.Header)
	}
	if res := ask(t, loader(withWidget()), "GET", "/widget.js", "If-None-Match", res.Header.Get("ETag")); res.StatusCode != http.StatusNotModified {
		t.Errorf("an unchanged loader: got %d", res.StatusCode)
	}
	if res := ask(t, loader(withWidget()), "POST", "/widget.js"); res.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("POST: got %d", res.StatusCode)
	}
}

func TestAProgramWithoutTheWidgetSaysSo(t *testing.T) {
	t.Parallel()
	if _, err := widgetTag(built(), "https://agents.example.com"); err == nil || !strings.Contains(err.Error(), "make build") {
		t.Errorf("got %v", err)
	}
	if res := ask(t, loader(built()), "GET", "/widget.js"); res.StatusCode != 404 {
		t.Errorf("got %d", res.StatusCode)
	}
}
