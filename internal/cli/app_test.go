package cli

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/agent/agenttest"
)

// TestAnAppHasTheOriginOfTheGateway: the browser opens the printed URL and is in the app. The
// app calls the gateway without a token, and its server learns no secret.
func TestAnAppHasTheOriginOfTheGateway(t *testing.T) {
	t.Parallel()
	var got http.Header
	app := agenttest.NewShakyServer(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r.Header.Clone()
		if r.URL.Path == "/" {
			w.Header().Set("Content-Type", "text/html")
			_, _ = io.WriteString(w, "<!DOCTYPE html>\n<html><p>")
		}
		_, _ = io.WriteString(w, "the app at "+r.URL.RequestURI())
	}))
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser, page := &http.Client{Jar: jar}, ""
	s := startServer(t, t.TempDir(), "--app", app.URL)
	get := func(path string) (status int, text, fragment string) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.base+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Sec-Fetch-Site", "same-origin")
		req.Header.Add("Cookie", "theirs=1")
		if page != "" {
			req.Header.Set("X-Tributary-Page", page)
		}
		res, err := browser.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close() //nolint:errcheck // it was read
		body, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return res.StatusCode, string(body), res.Request.URL.Fragment
	}
	status, text, fragment := get("/?token=" + s.token)
	if status != http.StatusOK || text != `<!DOCTYPE html><script src="/tributary-app.js"></script>`+"\n<html><p>the app at /" {
		t.Errorf("the printed URL leads to %d %q", status, text)
	}
	if status, text, _ := get("/tributary-app.js"); status != http.StatusOK || !strings.Contains(text, "X-Tributary-Page") {
		t.Errorf("the script of the app's pages: %d %q", status, text)
	}
	// A token in an address of the app is the app's, unless it is one of the gateway.
	for _, path := range []string{"/verify?token=abc", "/?token=eyJ.a.b", "/?token="} {
		if status, text, _ := get(path); status != http.StatusOK || !strings.Contains(text, "the app at "+path) {
			t.Errorf("%s: %d %q", path, status, text)
		}
	}
	if status, text, _ := get("/?token=trb_wrong"); status != http.StatusUnauthorized {
		t.Errorf("a wrong token of the gateway: %d %q", status, text)
	}
	// What a program on another port gets, the cookie, opens nothing.
	if status, text, _ := get("/api/sessions"); status != http.StatusUnauthorized || !strings.Contains(text, "page_secret_missing") {
		t.Errorf("the cookie alone: %d %q", status, text)
	}
	values, err := url.ParseQuery(fragment)
	if page = values.Get("page"); err != nil || page == "" {
		t.Fatalf("the page gets no secret: #%s", fragment)
	}
	if status, text, _ := get("/src/main.tsx"); status != http.StatusOK || text != "the app at /src/main.tsx" {
		t.Errorf("a file of the app: %d %q", status, text)
	}
	if c := got.Get("Cookie"); c != "theirs=1" || got.Get("Authorization") != "" {
		t.Errorf("the app's server got the cookies %q", c)
	}
	if status, text, _ := get("/api/sessions"); status != http.StatusOK || !strings.Contains(text, "sessions") {
		t.Errorf("the app calls the gateway: %d %q", status, text)
	}
	app.Leave()
	if status, text, _ := get("/"); status != http.StatusBadGateway || !strings.Contains(text, "start it, and reload this page") {
		t.Errorf("without the app: %d %q", status, text)
	}
}

func TestAnAppThatCannotBe(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ args, want string }{
		{"--app localhost:5173", "--app is no URL of an app: write http://localhost:5173"},
		{"--app http://me:secret@localhost:5173", "--app is no URL of an app: write http://localhost:5173"},
		{"--app http://localhost:5173/page", "--app is no URL of an app: write http://localhost:5173"},
		{"--app ftp://localhost", "--app is no URL of an app: write http://localhost:5173"},
		{"--app", "--app has no value: write --app URL"},
		{"--app=", "--app is empty: write --app URL, or leave it out"},
		{"--app http://localhost:5173 --listen 0.0.0.0:0", "app is for an app in development: it needs a listen address on loopback, and no public_url"},
	} {
		command(t, "", append([]string{"serve", "--data", t.TempDir()}, strings.Fields(c.args)...)...).want(t, exitUsage, c.want)
	}
}
