// Package openidtest starts a real OpenID provider for tests, and signs in there as a
// person with a browser does.
package openidtest

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/internal/testkit/installed"
	"github.com/tributary-dev/tributary/internal/testkit/launch"
)

// The people and the clients that the provider knows.
const (
	Admin    = "test-user@127.0.0.1"
	User     = "test-user2"
	Password = "verysecure" // of both
	Client   = "web"
	Secret   = "secret"
	Native   = "native" // a client without a secret
)

// Start starts a provider that sends people back to an address, and returns its issuer.
// Where the provider cannot be built, the test is skipped; on a CI machine it fails.
func Start(t testing.TB, redirect string) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "openid")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", program, ".")
	build.Dir = filepath.Join(root(t), "tools", "openid")
	said, err := build.CombinedOutput()
	installed.Needed(t, err == nil, "the OpenID provider of tools/openid cannot be built: "+string(said))
	s, err := launch.Start(t.Context(), exec.CommandContext(context.WithoutCancel(t.Context()), program, redirect))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Kill)
	return s.Base()
}

// root is the directory of the module.
func root(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		if filepath.Dir(dir) == dir {
			t.Fatal("the module is not found")
		}
		dir = filepath.Dir(dir)
	}
}

// Redirects stops a browser at each redirect, so that a test can look at it.
func Redirects(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

var hidden = regexp.MustCompile(`name="id" value="([^"]*)"`)

// SignIn takes a browser from the provider's address, over its form, to the address to
// which the provider sends it back.
func SignIn(t testing.TB, browser *http.Client, at, user string) (back string) {
	t.Helper()
	b := *browser
	b.CheckRedirect = Redirects
	form := follow(t, &b, at)
	res := send(t, &b, http.MethodGet, form, nil)
	page, err := io.ReadAll(res.Body)
	_ = res.Body.Close()
	if err != nil {
		t.Fatal(err)
	}
	id := hidden.FindSubmatch(page)
	if id == nil {
		t.Fatalf("%s is no form: %s", form, page)
	}
	action, err := res.Request.URL.Parse("/login/username")
	if err != nil {
		t.Fatal(err)
	}
	res = send(t, &b, http.MethodPost, action.String(), url.Values{"id": {string(id[1])}, "username": {user}, "password": {Password}})
	_ = res.Body.Close()
	next, err := res.Location()
	if err != nil {
		t.Fatalf("the provider refuses %s: %s", user, res.Status)
	}
	return follow(t, &b, next.String())
}

// follow goes one redirect further.
func follow(t testing.TB, b *http.Client, at string) string {
	t.Helper()
	res := send(t, b, http.MethodGet, at, nil)
	body, _ := io.ReadAll(res.Body)
	_ = res.Body.Close()
	to, err := res.Location()
	if err != nil {
		t.Fatalf("%s leads nowhere: %s %s", at, res.Status, strings.TrimSpace(string(body)))
	}
	return to.String()
}

func send(t testing.TB, b *http.Client, method, at string, form url.Values) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, at, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	if form != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	res, err := b.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	return res
}
